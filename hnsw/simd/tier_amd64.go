//go:build !purego && !race

package simd

import "golang.org/x/sys/cpu"

// supported returns the tiers that run here, best last.
func supported() []tier {
	have := []tier{tierGo}
	x := &cpu.X86
	if !x.HasAVX2 || !x.HasFMA {
		return have
	}
	have = append(have, tierAVX2)
	if x.HasAVXVNNI {
		have = append(have, tierAVXVNNI)
	}
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI && x.HasAVX512VPOPCNTDQ {
		have = append(have, tierAVX512)
	}
	return have
}
