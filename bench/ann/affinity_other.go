//go:build !linux

package main

import "runtime"

// pin keeps the calling goroutine on one thread until the returned function is called; cores cannot be chosen
// here.
func pin(int) (release func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

func lastCore() int { return runtime.NumCPU() - 1 }
