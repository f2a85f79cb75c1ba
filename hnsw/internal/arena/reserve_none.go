//go:build !(linux || darwin) || race

package arena

import "unsafe"

type reservation struct{}

func reserve(uint64) *reservation { return nil }

func (r *reservation) release() {}

func (r *reservation) grow(uint64) (unsafe.Pointer, uint64, error) { return nil, 0, ErrNoMemory }
