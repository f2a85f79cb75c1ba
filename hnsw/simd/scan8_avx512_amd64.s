//go:build !purego && !race

#include "textflag.h"

// func aboveAVX512(products *int32, n int, least int32, first uint32, ids *uint32) int
//
// aboveAVX2 for a multiple of sixteen. Without a branch, for nobody can guess where the large ones are: what is moved to
// the front comes with others behind it, which the next ones overwrite. They are not beyond what has been read.
TEXT ·aboveAVX512(SB), NOSPLIT, $0-40
	MOVQ products+0(FP), SI
	MOVQ n+8(FP), CX
	MOVL least+16(FP), AX
	VPBROADCASTD AX, Z0
	MOVL first+20(FP), AX
	VPBROADCASTD AX, Z1
	VPADDD count16<>(SB), Z1, Z1 // the ids of the next sixteen
	MOVL $16, AX
	VPBROADCASTD AX, Z2
	MOVQ ids+24(FP), DI
	MOVQ SI, R11
	XORQ R9, R9

sixteen:
	VMOVDQU32   (SI), Z3
	VPCMPD      $5, Z0, Z3, K1 // not less
	VPCOMPRESSD Z3, K1, Z4
	VPCOMPRESSD Z1, K1, Z5
	VMOVDQU32   Z4, (R11)(R9*4)
	VMOVDQU32   Z5, (DI)(R9*4)
	KMOVW       K1, AX
	POPCNTL     AX, AX
	ADDQ        AX, R9
	VPADDD      Z2, Z1, Z1
	ADDQ        $64, SI
	SUBQ        $16, CX
	JNZ         sixteen
	MOVQ R9, ret+32(FP)
	VZEROUPPER
	RET

DATA count16<>+0(SB)/8, $0x0000000100000000
DATA count16<>+8(SB)/8, $0x0000000300000002
DATA count16<>+16(SB)/8, $0x0000000500000004
DATA count16<>+24(SB)/8, $0x0000000700000006
DATA count16<>+32(SB)/8, $0x0000000900000008
DATA count16<>+40(SB)/8, $0x0000000B0000000A
DATA count16<>+48(SB)/8, $0x0000000D0000000C
DATA count16<>+56(SB)/8, $0x0000000F0000000E
GLOBL count16<>(SB), RODATA|NOPTR, $64
