package format

import (
	"errors"
	"fmt"
	"strings"
)

// Sentinels for errors.Is. Every error of this package matches at least one.
var (
	// ErrCorrupt says that bytes are not what any writer wrote.
	ErrCorrupt = errors.New("corrupt")
	// ErrTooNew says that a newer version wrote the bytes in a way that this
	// one cannot read. The bytes may be perfectly sound.
	ErrTooNew = errors.New("written by a newer version")
	// ErrInvalid says that a caller passed something that cannot be stored.
	ErrInvalid = errors.New("invalid argument")
	// ErrWrongSegment says that a sound segment file stands in the place of
	// another one (swapped or copied). It always comes with ErrCorrupt.
	ErrWrongSegment = errors.New("another segment's file")
)

// UUID names a segment file.
type UUID [16]byte

// String returns the 32 lower-case hex digits of u.
func (u UUID) String() string { return fmt.Sprintf("%x", u[:]) }

// CorruptionError says which bytes of which file are damaged. It matches
// ErrCorrupt, and whatever Err matches.
type CorruptionError struct {
	Path    string // filled in by whoever opened the file; may be empty
	Part    string // "header", "block", "index", "footer", "file", "seal"
	Segment UUID   // zero when the file is not a segment
	Block   int    // -1 when the damage is not in a block
	Offset  int64  // of the damaged part, in bytes from the start of the file
	Length  int64  // of the damaged part; 0 = unknown
	Want    uint32 // checksum stored in the file, when checksums differ
	Got     uint32 // checksum of the bytes that were read
	Err     error  // what is wrong; may be nil
}

// Error returns the damage in one line.
func (e *CorruptionError) Error() string {
	var b strings.Builder
	b.WriteString("format: ")
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	} else if e.Segment != (UUID{}) {
		b.WriteString("segment " + e.Segment.String() + ": ")
	}
	b.WriteString(e.Part)
	if e.Block >= 0 {
		fmt.Fprintf(&b, " %d", e.Block)
	}
	fmt.Fprintf(&b, " at byte %d", e.Offset)
	if e.Length > 0 {
		fmt.Fprintf(&b, " (%d bytes)", e.Length)
	}
	if e.Want != e.Got {
		fmt.Fprintf(&b, ": checksum %08x, stored %08x", e.Got, e.Want)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String() + ": " + ErrCorrupt.Error()
}

// Is reports whether target is ErrCorrupt.
func (e *CorruptionError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap returns Err.
func (e *CorruptionError) Unwrap() error { return e.Err }

// TooNewError says which version would be needed. It matches ErrTooNew.
type TooNewError struct {
	What string // "record", "segment", "seal", "store"
	Have uint32 // newest version this code reads
	Need uint32 // version the bytes ask for
}

// Error returns both versions.
func (e *TooNewError) Error() string {
	return fmt.Sprintf("format: %s needs version %d, this is %d: %s", e.What, e.Need, e.Have, ErrTooNew)
}

// Is reports whether target is ErrTooNew.
func (e *TooNewError) Is(target error) bool { return target == ErrTooNew }

func corruptf(text string, args ...any) error {
	return fmt.Errorf("format: "+text+": %w", append(args, ErrCorrupt)...)
}

func invalidf(text string, args ...any) error {
	return fmt.Errorf("format: "+text+": %w", append(args, ErrInvalid)...)
}
