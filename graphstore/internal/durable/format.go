package durable

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/lightctl/lightrag/format"
)

// The value of the meta row "format": format.Magic, then the version that
// wrote the store and the oldest one that can read it, as big-endian uint32.

func appendFormat(dst []byte) []byte {
	dst = append(dst, format.Magic...)
	dst = binary.BigEndian.AppendUint32(dst, format.FormatVersion)
	return binary.BigEndian.AppendUint32(dst, format.MinRead)
}

func decodeFormat(b []byte) error {
	rest, ok := strings.CutPrefix(string(b), format.Magic)
	if !ok || len(rest) < 8 {
		return corrupt("", "database", errors.New("format row is not one"))
	}
	return format.CheckVersion(binary.BigEndian.Uint32([]byte(rest)), binary.BigEndian.Uint32([]byte(rest[4:])))
}
