package arena

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"
)

// numbered returns a file of words that count from 0, and zeros behind them up to a multiple of 64 KiB.
func numbered(t testing.TB, words int) (*os.File, []byte) {
	t.Helper()
	p := make([]byte, (4*words+1<<16-1)&^(1<<16-1))
	for i, w := 0, unsafe.Slice((*uint32)(unsafe.Pointer(&p[0])), words); i < words; i++ {
		w[i] = uint32(i)
	}
	path := filepath.Join(t.TempDir(), "words")
	if err := os.WriteFile(path, p, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, p
}

func TestMappedElementsAreThoseOfTheFile(t *testing.T) {
	each(t, func(t *testing.T, moves bool) {
		for _, off := range []int{0, 1 << 16, 4} { // the last can only be read
			const words = 900_001
			f, p := numbered(t, words)
			a := arenaOf[uint32](3_000_000, moves)
			n := words - off/4
			s, err := a.Map(f, int64(off), n)
			if err != nil {
				t.Fatal(err)
			}
			first := &s[0]
			if at := uintptr(unsafe.Pointer(first)) % (2 << 20); !moves && off%(16<<10) == 0 && at != uintptr(off) {
				t.Errorf("mapped %d bytes beyond a huge page, where the file is %d", at, off)
			}
			for i := range n {
				if s[i] != uint32(i+off/4) {
					t.Fatalf("element %d is %d", i, s[i])
				}
			}
			for i, x := range s[n:] {
				if x != 0 {
					t.Fatalf("element %d behind is %d", i, x)
				}
			}
			// It may be written to, and grows in place; the file stays as it was.
			s[5], s[n-1] = 77, 78
			s = mustGrow(t, a, 3_000_000)
			if !moves && &s[0] != first {
				t.Error("moved")
			}
			if s[5] != 77 || s[n-1] != 78 || s[4] != uint32(4+off/4) || s[n] != 0 || s[2_999_999] != 0 {
				t.Errorf("after growing: %d %d %d %d %d", s[4], s[5], s[n-1], s[n], s[2_999_999])
			}
			s[2_999_999] = 1
			if now, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(now, p) {
				t.Errorf("the file has changed, %v", err)
			}
			if _, err := a.Map(f, 0, 1); err == nil {
				t.Error("mapped twice")
			}
			runtime.KeepAlive(a)
		}
	})
}

func TestWhatAFileDoesNotHaveIsAnError(t *testing.T) {
	each(t, func(t *testing.T, moves bool) {
		f, _ := numbered(t, 100_000)
		a := arenaOf[uint32](1_000_000, moves)
		if s, err := a.Map(f, 1<<16, 100_000); s != nil || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d elements, %v", len(s), err)
		}
		if s, err := a.Map(f, 0, 1_000_001); s != nil || !errors.Is(err, ErrLimit) {
			t.Errorf("%d elements, %v", len(s), err)
		}
		for i, x := range mustGrow(t, a, 100_000) {
			if x != 0 {
				t.Fatalf("element %d is %d after a refusal", i, x)
			}
		}
		if s, err := arenaOf[uint8](10, moves).Map(f, 0, 0); len(s) != 0 || err != nil {
			t.Errorf("%d elements, %v", len(s), err)
		}
	})
}

func TestAReleasedArenaIsEmpty(t *testing.T) {
	each(t, func(t *testing.T, moves bool) {
		a := arenaOf[uint64](1<<20, moves)
		mustGrow(t, a, 1<<18)[5] = 1
		a.Release()
		a.Release()
		if s, err := a.Grow(1); len(a.Slice()) != 0 || len(s) != 0 || !errors.Is(err, ErrLimit) {
			t.Errorf("%d elements, %v", len(s), err)
		}
	})
}
