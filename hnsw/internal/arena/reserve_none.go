//go:build !(linux || darwin) || race

package arena

import (
	"os"
	"unsafe"
)

type reservation struct{ file *os.File }

func reserve(uint64) *reservation { return nil }

func (r *reservation) release() {}

func (r *reservation) grow(uint64) (unsafe.Pointer, uint64, error) { return nil, 0, ErrNoMemory }

func (r *reservation) mapFile(*os.File, int64, uint64) (unsafe.Pointer, uint64, bool) {
	return nil, 0, false
}
