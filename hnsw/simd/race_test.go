package simd

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lightctl/lightrag/hnsw/internal/arena"
)

// The race detector sees neither memory that was mapped nor what assembly reads; in its builds arenas are on the heap
// and kernels are Go. That it then does see a row being written while it is multiplied is tested by doing just that,
// in a process of its own.
func TestTheRaceDetectorSeesRowsAndKernels(t *testing.T) {
	if !raceEnabled {
		t.Skip("there is something to see only under go test -race")
	}
	const plan = "LIGHTRAG_TEST_RACE"
	if how := os.Getenv(plan); how != "" {
		writeAndMultiply(t, how == "synchronised")
		return
	}
	for _, how := range []string{"synchronised", "not synchronised"} {
		child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
		child.Env = append(os.Environ(), plan+"="+how, "GORACE=halt_on_error=1 exitcode=66")
		out, err := child.CombinedOutput()
		code := child.ProcessState.ExitCode()
		if how == "synchronised" {
			if err != nil || code != 0 {
				t.Errorf("%s: exit code %d, %v\n%s", how, code, err, out)
			}
		} else if code != 66 || !strings.Contains(string(out), "DATA RACE") || !strings.Contains(string(out), "dot8Go") {
			t.Errorf("%s: exit code %d without a report of the race\n%s", how, code, out)
		}
	}
}

// writeAndMultiply has one goroutine write a row of codes and another one multiply it.
func writeAndMultiply(t *testing.T, synchronised bool) {
	const dim, rows = 64, 50
	memory := arena.New[uint8](dim * rows)
	data, err := memory.Grow(dim * rows)
	if err != nil || !memory.Moves() {
		t.Fatalf("moves: %v, %v", memory.Moves(), err)
	}
	m := Matrix8{Dim: dim, Stride: dim, Data: data[:dim*rows]}
	var lock sync.Mutex
	guard := func(f func()) {
		if synchronised {
			lock.Lock()
			defer lock.Unlock()
		}
		f()
	}
	// The detector remembers the last few uses of a word, and is sure to see two that meet if the second is the first
	// thing its goroutine does there. Time makes it the second, for that orders nothing in the eyes of the detector.
	var both sync.WaitGroup
	both.Go(func() {
		for row := range uint32(rows) {
			guard(func() { m.Row(row)[0] = 1 })
			time.Sleep(10 * time.Millisecond)
		}
	})
	both.Go(func() {
		q, out := NewQuery8(dim), make([]int32, 1)
		for row := range uint32(rows) {
			time.Sleep(12 * time.Millisecond)
			guard(func() { DotMany8(&q, &m, []uint32{row}, out) })
		}
	})
	both.Wait()
}
