//go:build !purego && !race

package simd

import "golang.org/x/sys/cpu"

// supported returns the tiers that run here, best last. Every 64-bit ARM processor has NEON.
func supported() []tier {
	have := []tier{tierGo, tierNEON}
	if cpu.ARM64.HasASIMDDP {
		have = append(have, tierSDOT)
	}
	return have
}
