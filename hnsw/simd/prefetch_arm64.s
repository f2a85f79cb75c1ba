//go:build !purego && !race

#include "textflag.h"

// Both ask for the line of p and the one behind it, which need not exist.

// func prefetch32(p *uint32)
TEXT ·prefetch32(SB), NOSPLIT, $0-8
	MOVD p+0(FP), R0
	PRFM (R0), PLDL1KEEP
	PRFM 64(R0), PLDL1KEEP
	RET

// func prefetchWrite(p *uint32)
TEXT ·prefetchWrite(SB), NOSPLIT, $0-8
	MOVD p+0(FP), R0
	PRFM (R0), PSTL1KEEP
	PRFM 64(R0), PSTL1KEEP
	RET
