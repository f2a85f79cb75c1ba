package hnsw

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// processTime is the processor time of all threads.
func processTime(b *testing.B) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ts.Nano())
}

// threadTime is the processor time of the calling thread: unlike wall time it does not count that of others.
// The caller stays on its thread until the benchmark ends.
func threadTime(b *testing.B) time.Duration {
	runtime.LockOSThread()
	b.Cleanup(runtime.UnlockOSThread)
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ts.Nano())
}
