package arena

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func fileArena(t *testing.T, limit int) (*Arena[uint32], *os.File) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "words"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	a := NewFile[uint32](limit, f)
	if a == nil {
		if !alwaysMoves {
			t.Fatal("no arena, where files can be mapped")
		}
		t.Skip("files are not mapped here")
	}
	return a, f
}

func TestElementsOfAFileArenaAreInTheFile(t *testing.T) {
	a, f := fileArena(t, 4<<20)
	if a.Moves() || !a.InFile() || New[uint32](1).InFile() {
		t.Fatalf("moves: %v, in a file: %v", a.Moves(), a.InFile())
	}
	small := mustGrow(t, a, 10)
	if err := a.Write(3, []uint32{7, 8}); err != nil {
		t.Fatal(err)
	}
	if small[2] != 0 || small[3] != 7 || small[4] != 8 {
		t.Errorf("%d", small[:6])
	}
	large := mustGrow(t, a, 3<<20)
	if &small[0] != &large[0] || large[3] != 7 || large[3<<20-1] != 0 {
		t.Errorf("moved, or %d and %d", large[3], large[3<<20-1])
	}
	if err := a.Write(3<<20-1, []uint32{9}); err != nil || large[3<<20-1] != 9 {
		t.Errorf("%v, %d", err, large[3<<20-1])
	}
	got := make([]byte, 4)
	if _, err := f.ReadAt(got, 4*(3<<20-1)); err != nil || got[0]+got[3] != 9 { // of either byte order
		t.Errorf("the file holds %d: %v", got, err)
	}
	for _, at := range []int{-1, len(large), len(large) + 1} {
		if err := a.Write(at, []uint32{1}); err == nil {
			t.Errorf("element %d of %d was written", at, len(large))
		}
	}
	runtime.KeepAlive(a)
}

// A file that cannot be written or grow is an error, and what there is stays as it was.
func TestAFileThatRefusesIsAnError(t *testing.T) {
	a, f := fileArena(t, 4<<20)
	s := mustGrow(t, a, 10)
	if err := a.Write(0, []uint32{5}); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := a.Write(0, []uint32{6}); err == nil {
		t.Error("written to a closed file")
	}
	if got, err := a.Grow(1 << 20); err == nil {
		t.Errorf("grown to %d in a closed file", len(got))
	}
	if len(a.Slice()) != len(s) || s[0] != 5 {
		t.Errorf("%d elements, the first %d", len(a.Slice()), s[0])
	}
	runtime.KeepAlive(a)
}

func TestAnUnreachableFileArenaClosesItsFile(t *testing.T) {
	f := func() *os.File {
		a, f := fileArena(t, 1<<20)
		mustGrow(t, a, 1)
		return f
	}()
	for range 100 {
		runtime.GC()
		if _, err := f.Stat(); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("still open")
}
