//go:build linux || darwin

package measure

import (
	"time"

	"golang.org/x/sys/unix"
)

// ProcessCPU returns the CPU time that all threads of the process have used,
// false where the system has no such clock.
func ProcessCPU() (time.Duration, bool) { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

// ThreadCPU returns the CPU time of the calling thread. The goroutine must be
// locked to it for differences to mean anything.
func ThreadCPU() (time.Duration, bool) { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

func clock(id int32) (time.Duration, bool) {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
