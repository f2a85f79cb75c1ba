package reader

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"strings"
)

// archive is a zip file in memory. All that is unpacked from it counts against
// one limit, whatever the sizes that it claims.
type archive struct {
	files map[string]*zip.File // by clean name
	lower map[string]*zip.File // by clean name in lower case
	left  int64
	limit int64
}

// oleMark begins the older binary Office files, and encrypted new ones.
var oleMark = []byte{0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1}

func openArchive(b []byte, kind string, limit int64) (*archive, error) {
	if bytes.HasPrefix(b, oleMark) {
		return nil, refuse(ErrEncrypted, "the file is protected by a password, or an Office file older than %s", kind)
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, refuse(ErrType, "no %s file: %w", kind, err)
	}
	a := &archive{files: make(map[string]*zip.File), lower: make(map[string]*zip.File), left: limit, limit: limit}
	for _, f := range z.File {
		name := cleanName(f.Name)
		if a.files[name] == nil {
			a.files[name] = f
		}
		if low := strings.ToLower(name); a.lower[low] == nil {
			a.lower[low] = f
		}
	}
	return a, nil
}

// cleanName is the name of an entry without the ways in which broken tools
// spell it.
func cleanName(name string) string {
	return strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/")
}

// find returns the entry of that name; failing that, of the name without its
// percent-encoding, or in another case.
func (a *archive) find(name string) *zip.File {
	plain := name
	if u, err := url.PathUnescape(name); err == nil {
		plain = u
	}
	for _, n := range []string{cleanName(name), cleanName(plain)} {
		if f := a.files[n]; f != nil {
			return f
		}
	}
	return a.lower[strings.ToLower(cleanName(plain))]
}

// read unpacks one entry. An entry that is not there is fs.ErrNotExist.
func (a *archive) read(name string) ([]byte, error) {
	f := a.find(name)
	if f == nil {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	if f.Flags&1 != 0 {
		return nil, refuse(ErrEncrypted, "%s is protected by a password", name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, a.left+1))
	if int64(len(b)) > a.left {
		return nil, tooLarge("unpacked it is ", a.limit)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", name, err)
	}
	a.left -= int64(len(b))
	return b, nil
}
