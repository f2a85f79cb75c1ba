//go:build !race

package arena

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// What is mapped has blocks before it is written to, so that it can be read wherever the file is.
func TestAFileArenaHasTheBlocksOfItsFile(t *testing.T) {
	a, f := fileArena(t, 4<<20)
	for _, n := range []int{1, 3 << 20} {
		have := len(mustGrow(t, a, n))
		var st unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &st); err != nil {
			t.Fatal(err)
		}
		if st.Size != 4*int64(have) || st.Blocks*512 < st.Size {
			t.Errorf("%d elements: %d bytes, %d blocks", have, st.Size, st.Blocks)
		}
	}
	runtime.KeepAlive(a)
}
