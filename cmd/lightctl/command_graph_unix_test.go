//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// An export goes into a pipe or a device, through a link too, and leaves it
// what it is.
func TestWriteFileKeepsWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "file")
	toPipe, toFile := filepath.Join(dir, "to pipe"), filepath.Join(dir, "to file")
	if err := errors.Join(unix.Mkfifo(pipe, 0o600), os.WriteFile(file, []byte("old"), 0o600), os.Symlink("pipe", toPipe), os.Symlink("file", toFile)); err != nil {
		t.Fatal(err)
	}
	end, err := os.OpenFile(pipe, os.O_RDWR, 0) // so that nobody waits for the other
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	for _, path := range []string{pipe, toPipe, toFile} {
		if err := writeFile(path, func(w io.Writer) error { _, err := fmt.Fprint(w, "new"); return err }); err != nil {
			t.Fatal(err)
		}
		var got [3]byte
		if path == toFile {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			copy(got[:], b)
		} else if info, err := os.Stat(path); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
			t.Fatalf("%s is %v, %v", path, info, err)
		} else if _, err := io.ReadFull(end, got[:]); err != nil {
			t.Fatal(err)
		}
		if string(got[:]) != "new" {
			t.Errorf("%s holds %q", path, got)
		}
	}
	for _, path := range []string{toPipe, toFile} {
		if info, err := os.Lstat(path); err != nil || info.Mode().Type() != fs.ModeSymlink {
			t.Errorf("%s is %v, %v", path, info, err)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 4 {
		t.Errorf("%v, %v", names, err)
	}
}
