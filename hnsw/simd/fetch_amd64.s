//go:build !purego && !race

#include "textflag.h"

// func fetchRows(rows *unsafe.Pointer, n, bytes int)
//
// Asks for the lines from the beginning of each of n rows up to so many bytes further, into the second cache; n is
// above zero.
TEXT ·fetchRows(SB), NOSPLIT, $0-24
	MOVQ rows+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ bytes+16(FP), DX

row:
	MOVQ (SI), AX
	LEAQ (AX)(DX*1), BX
	ANDQ $~63, AX

line:
	PREFETCHT1 (AX)
	ADDQ $64, AX
	CMPQ AX, BX
	JLT  line
	ADDQ $8, SI
	DECQ CX
	JNZ  row
	RET

// func fetchIDs(base unsafe.Pointer, stride, bytes int, ids *uint32, n int)
//
// Does so for the rows of the ids, of which row i is at base+i*stride, whether it is there or not, into the first
// cache.
TEXT ·fetchIDs(SB), NOSPLIT, $0-40
	MOVQ base+0(FP), R12
	MOVQ stride+8(FP), R8
	MOVQ bytes+16(FP), DX
	MOVQ ids+24(FP), SI
	MOVQ n+32(FP), CX

row:
	MOVL (SI), AX
	IMULQ R8, AX
	ADDQ R12, AX
	LEAQ (AX)(DX*1), BX

line:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	CMPQ AX, BX
	JLT  line
	ADDQ $4, SI
	DECQ CX
	JNZ  row
	RET
