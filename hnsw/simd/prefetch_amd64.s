//go:build !purego && !race

#include "textflag.h"

// Both ask for the line of p and the one behind it, which need not exist.

// func prefetch32(p *uint32)
TEXT ·prefetch32(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	RET

// func prefetchWrite(p *uint32)
//
// The assembler does not know PREFETCHW. Processors that do not know it either do nothing.
TEXT ·prefetchWrite(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	BYTE $0x0F; BYTE $0x0D; BYTE $0x08             // PREFETCHW (AX)
	BYTE $0x0F; BYTE $0x0D; BYTE $0x48; BYTE $0x40 // PREFETCHW 64(AX)
	RET
