package graphstore

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestScratchFilesHaveNoName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "idx")
	for _, readOnly := range []bool{false, true} { // in this order: the first makes the folder
		x := IndexFiles{fs: vfs.Default, dir: dir, readOnly: readOnly}
		f, err := x.Scratch()
		if err != nil {
			t.Fatal(err)
		}
		if f == nil {
			if runtime.GOOS == "linux" && !readOnly {
				t.Error("no file")
			}
			t.Logf("read only %v: no file is to be had here", readOnly)
			continue
		}
		other, err := x.Scratch()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("far"), 1<<20); err != nil {
			t.Error(err)
		}
		got := make([]byte, 3)
		if _, err := f.ReadAt(got, 1<<20); err != nil || string(got) != "far" {
			t.Errorf("%q, %v", got, err)
		}
		if info, err := other.Stat(); err != nil || info.Size() != 0 {
			t.Errorf("the second is not another: %v", err)
		}
		if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
			t.Errorf("the folder has %v (%v)", names, err)
		}
		f.Close()
		other.Close()
	}
}

func TestNoScratchFileWithoutAFolderOfTheSystem(t *testing.T) {
	for _, x := range []IndexFiles{
		{fs: vfs.NewMem(), dir: "idx"},
		{fs: vfs.NewMem(), dir: "idx", readOnly: true},
		{fs: vfs.Default, dir: filepath.Join(t.TempDir(), "none"), readOnly: true},
	} {
		if f, err := x.Scratch(); f != nil || err != nil {
			t.Errorf("%+v: %v, %v", x, f, err)
		}
		if names, err := x.fs.List(x.dir); err == nil && len(names) > 0 {
			t.Errorf("%+v: left %v", x, names)
		}
	}
}
