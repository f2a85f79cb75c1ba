package main

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// pin keeps the calling goroutine on one core until the returned function is called.
func pin(cpu int) (release func()) {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	if unix.SchedGetaffinity(0, &before) != nil {
		return runtime.UnlockOSThread
	}
	one.Set(cpu)
	if unix.SchedSetaffinity(0, &one) != nil {
		return runtime.UnlockOSThread
	}
	return func() {
		_ = unix.SchedSetaffinity(0, &before)
		runtime.UnlockOSThread()
	}
}

// lastCore returns the number of the last core that this process may use.
func lastCore() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return runtime.NumCPU() - 1
	}
	for cpu := len(set)*64 - 1; cpu >= 0; cpu-- {
		if set.IsSet(cpu) {
			return cpu
		}
	}
	return 0
}
