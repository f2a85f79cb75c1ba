//go:build !purego && !race

#include "textflag.h"

// Both ask for the line of p and the one behind it, which need not exist.

// func prefetch32(p *uint32)
TEXT ·prefetch32(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	RET

// func prefetch8(p *uint8)
TEXT ·prefetch8(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	RET
