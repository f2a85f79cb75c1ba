//go:build !purego && !race

#include "textflag.h"

// func aboveAVX2(products *int32, n int, least int32, first uint32, ids *uint32) int
//
// Moves those of n products, a multiple of eight above zero, that are at least least to the front and returns how many
// they are. Their places, counted from first, go to ids. A product is read before anything is written behind it.
TEXT ·aboveAVX2(SB), NOSPLIT, $0-40
	MOVQ products+0(FP), SI
	MOVQ n+8(FP), CX
	MOVL least+16(FP), AX
	VMOVD AX, X0
	VPBROADCASTD X0, Y0
	MOVL first+20(FP), R8
	MOVQ ids+24(FP), DI
	MOVQ SI, R11
	XORQ R9, R9

eight:
	VMOVDQU  (SI), Y1
	VPCMPGTD Y1, Y0, Y1 // too small
	VMOVMSKPS Y1, AX
	XORL $0xFF, AX
	JZ   next

hit:
	BSFL AX, BX
	LEAL (R8)(BX*1), R10
	MOVL R10, (DI)(R9*4)
	MOVL (SI)(BX*4), R10
	MOVL R10, (R11)(R9*4)
	INCQ R9
	LEAL -1(AX), R10
	ANDL R10, AX
	JNZ  hit

next:
	ADDQ $32, SI
	ADDL $8, R8
	SUBQ $8, CX
	JNZ  eight
	MOVQ R9, ret+32(FP)
	VZEROUPPER
	RET
