package durable

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maxSealBytes bounds what is read as a SEAL: some 500,000 files.
const maxSealBytes = 32 << 20

// checkSeal reports whether dir has a SEAL, and whether it holds: every file is
// there with its size, those that Pebble cannot check itself with their
// checksums, and kv has no others.
func (d *DB) checkSeal() (sealed bool, err error) {
	path := d.Path(sealName)
	data, err := readFile(d.fs, path, maxSealBytes)
	if isNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, wrap("read", path, err)
	}
	var seal format.Seal
	if err := format.DecodeSeal(data, &seal); err != nil {
		var damage *format.CorruptionError
		if errors.As(err, &damage) {
			damage.Path = path
		}
		return false, wrap("open", d.dir, err)
	}
	files, err := d.listFiles(kvName)
	if err != nil {
		return false, err
	}
	listed := make(map[string]bool, len(seal.Files))
	for _, f := range seal.Files {
		listed[f.Name] = true
		if err := d.checkFile(f); err != nil {
			return false, wrap("open", d.dir, err)
		}
	}
	for _, name := range files {
		if !listed[name] {
			return false, wrap("open", d.dir, corrupt(d.filePath(name), "file", errors.New("not in the seal")))
		}
	}
	return true, nil
}

// checkFile compares one file with its line in the SEAL.
func (d *DB) checkFile(f format.SealedFile) error {
	path := d.filePath(f.Name)
	info, err := d.fs.Stat(path)
	switch {
	case isNotExist(err):
		return corrupt(path, "file", errors.New("missing"))
	case err != nil:
		return err
	case info.Size() != f.Size:
		return corrupt(path, "file", fmt.Errorf("%d bytes, sealed with %d", info.Size(), f.Size))
	case !f.HasCRC:
		return nil
	}
	got, _, err := checksum(d.fs, path)
	if err != nil {
		return err
	}
	if got != f.CRC {
		return &format.CorruptionError{Path: path, Part: "file", Block: -1, Length: f.Size, Want: f.CRC, Got: got}
	}
	return nil
}

// unseal removes the SEAL for good, before the first change.
func (d *DB) unseal() error {
	path := d.Path(sealName)
	err := d.fs.Remove(path)
	if isNotExist(err) {
		return nil
	}
	if err != nil {
		return wrap("remove", path, err)
	}
	return syncDir(d.fs, d.dir)
}

// writeSeal describes the files of the closed database and every published
// segment. Until it is whole there is none.
func (d *DB) writeSeal(c format.Counters) error {
	// Pebble does not sync its removals: without this, a file could come
	// back that the SEAL does not know.
	if err := syncDir(d.fs, d.Path(kvName)); err != nil {
		return err
	}
	files, err := d.listFiles(kvName)
	if err != nil {
		return err
	}
	seal := format.Seal{
		Commit: c.Commit, Documents: c.Documents, Chunks: c.Chunks, Entities: c.Entities,
		Relations: c.Relations, Fragments: c.Fragments, Segments: c.Segments, Sum: c.Sum,
	}
	for _, name := range files {
		f, err := d.describe(name)
		if err != nil {
			return wrap("seal", d.filePath(name), err)
		}
		seal.Files = append(seal.Files, f)
	}
	for _, s := range d.Segments() {
		f := format.SealedFile{Name: segName + "/" + d.fs.PathBase(s.Path), Size: int64(s.Length)}
		if err := d.checkFile(f); err != nil {
			return wrap("seal", d.dir, err)
		}
		seal.Files = append(seal.Files, f)
	}
	data, err := format.AppendSeal(nil, &seal)
	if err != nil {
		return wrap("seal", d.dir, err)
	}
	return writeFile(d.fs, d.dir, sealName, data)
}

// describe makes the line of one file. Tables carry checksums themselves.
func (d *DB) describe(name string) (f format.SealedFile, err error) {
	f.Name = name
	if strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob") {
		info, err := d.fs.Stat(d.filePath(name))
		if err != nil {
			return f, err
		}
		f.Size = info.Size()
		return f, nil
	}
	f.HasCRC = true
	f.CRC, f.Size, err = checksum(d.fs, d.filePath(name))
	return f, err
}

// listFiles returns the files in the directory name, as the SEAL names them.
func (d *DB) listFiles(name string) ([]string, error) {
	names, err := d.fs.List(d.Path(name))
	if err != nil {
		return nil, wrap("list", d.Path(name), err)
	}
	slices.Sort(names)
	for i := range names {
		names[i] = name + "/" + names[i]
	}
	return names, nil
}

// filePath turns a name of the SEAL into a path.
func (d *DB) filePath(name string) string { return d.Path(strings.Split(name, "/")...) }

// checksum returns the CRC32C and the length of a file.
func checksum(fs vfs.FS, path string) (crc uint32, size int64, err error) {
	f, err := fs.Open(path, vfs.SequentialReadsOption)
	if err != nil {
		return 0, 0, err
	}
	h := crc32.New(castagnoli)
	size, err = io.Copy(h, f)
	return h.Sum32(), size, errors.Join(err, f.Close())
}

// readFile returns the content of a file of at most limit bytes.
func readFile(fs vfs.FS, path string, limit int64) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(f, limit+1))
	if n > limit {
		err = corrupt(path, "file", fmt.Errorf("more than %d bytes", limit))
	}
	return b.Bytes(), errors.Join(err, f.Close())
}

// writeFile makes name in dir whole and durable, or leaves it as it was.
func writeFile(fs vfs.FS, dir, name string, data []byte) (err error) {
	path := fs.PathJoin(dir, name)
	tmp := path + tmpSuffix
	defer func() { err = wrap("write", path, err) }()
	f, err := fs.Create(tmp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = fs.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(fs.Remove(tmp)))
	}
	return syncDir(fs, dir)
}

func ignoreMissing(err error) error {
	if isNotExist(err) {
		return nil
	}
	return err
}
