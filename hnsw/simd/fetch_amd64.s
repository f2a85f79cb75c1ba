//go:build !purego && !race

#include "textflag.h"

// FETCH asks for the lines from at up to end, four at a time: up to three lines behind it are asked for in vain.
#define FETCH(at, end, loop) \
	ANDQ $~63, at; \
loop: \
	PREFETCHT1 (at); \
	PREFETCHT1 64(at); \
	PREFETCHT1 128(at); \
	PREFETCHT1 192(at); \
	ADDQ $256, at; \
	CMPQ at, end; \
	JLT  loop

// func fetchRows(rows *unsafe.Pointer, n, bytes int)
//
// Asks for the first bytes of n rows; n is above zero.
TEXT ·fetchRows(SB), NOSPLIT, $0-24
	MOVQ rows+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ bytes+16(FP), DX

row:
	MOVQ (SI), AX
	LEAQ (AX)(DX*1), BX
	FETCH(AX, BX, line)
	ADDQ $8, SI
	DECQ CX
	JNZ  row
	RET

// func fetchIDs(base unsafe.Pointer, stride, bytes int, ids *uint32, n int)
//
// Does so for the rows of the ids, of which row i is at base+i*stride, whether it is there or not.
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
	FETCH(AX, BX, line)
	ADDQ $4, SI
	DECQ CX
	JNZ  row
	RET
