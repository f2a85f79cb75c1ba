//go:build !linux && !darwin

package measure

import "time"

// ProcessCPU returns the CPU time that all threads of the process have used,
// false where the system has no such clock.
func ProcessCPU() (time.Duration, bool) { return 0, false }

// ThreadCPU returns the CPU time of the calling thread. The goroutine must be
// locked to it for differences to mean anything.
func ThreadCPU() (time.Duration, bool) { return 0, false }
