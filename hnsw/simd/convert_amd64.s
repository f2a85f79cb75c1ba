//go:build !purego && !race

#include "textflag.h"

// VPACKSSDW and VPACKSSWB work within 128-bit halves; this puts their dwords back in order.
DATA order<>+0(SB)/4, $0
DATA order<>+4(SB)/4, $4
DATA order<>+8(SB)/4, $1
DATA order<>+12(SB)/4, $5
DATA order<>+16(SB)/4, $2
DATA order<>+20(SB)/4, $6
DATA order<>+24(SB)/4, $3
DATA order<>+28(SB)/4, $7
GLOBL order<>(SB), RODATA|NOPTR, $32

// CODE scales, clamps and rounds eight elements. A NaN becomes the upper limit.
#define CODE(off, y) \
	VMULPS    off(SI), Y15, y; \
	VMINPS    Y14, y, y; \
	VMAXPS    Y13, y, y; \
	VCVTPS2DQ y, y

// func quantiseAVX2(dst *uint8, v *float32, n int, scale float32)
//
// n is a multiple of 32, above zero.
TEXT ·quantiseAVX2(SB), NOSPLIT, $0-28
	MOVQ dst+0(FP), DI
	MOVQ v+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS scale+24(FP), Y15
	MOVL $0x42FE0000, AX // 127
	VMOVD AX, X14
	VBROADCASTSS X14, Y14
	MOVL $0xC2FE0000, AX // -127
	VMOVD AX, X13
	VBROADCASTSS X13, Y13
	MOVL $0x80808080, AX
	VMOVD AX, X12
	VPBROADCASTD X12, Y12
	VMOVDQU order<>(SB), Y11

loop:
	CODE(0, Y0)
	CODE(32, Y1)
	CODE(64, Y2)
	CODE(96, Y3)
	VPACKSSDW Y1, Y0, Y0
	VPACKSSDW Y3, Y2, Y2
	VPACKSSWB Y2, Y0, Y0
	VPERMD    Y0, Y11, Y0
	VPXOR     Y12, Y0, Y0
	VMOVDQU   Y0, (DI)
	ADDQ $128, SI
	ADDQ $32, DI
	SUBQ $32, CX
	JNE  loop
	VZEROUPPER
	RET

// func squaresAVX2(sums *[8]float64, v *float32, n int)
//
// sums[i] = the sum of the squares of elements i, i+8, i+16, ...; n is a multiple of eight. Squares of float32
// values are exact in float64, so that fusing them with the addition changes nothing.
TEXT ·squaresAVX2(SB), NOSPLIT, $0-24
	MOVQ sums+0(FP), DI
	MOVQ v+8(FP), SI
	MOVQ n+16(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	JMP  check

loop:
	VCVTPS2PD (SI), Y2
	VCVTPS2PD 16(SI), Y3
	VFMADD231PD Y2, Y2, Y0
	VFMADD231PD Y3, Y3, Y1
	ADDQ $32, SI
	SUBQ $8, CX

check:
	TESTQ CX, CX
	JNE  loop
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VZEROUPPER
	RET

// func divideAVX2(dst, v *float32, n int, by float64)
//
// n is a multiple of four, above zero. Each element is divided in float64 and rounded once.
TEXT ·divideAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ v+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD by+24(FP), Y1

loop:
	VCVTPS2PD  (SI), Y0
	VDIVPD     Y1, Y0, Y0
	VCVTPD2PSY Y0, X0
	VMOVUPS    X0, (DI)
	ADDQ $16, SI
	ADDQ $16, DI
	SUBQ $4, CX
	JNE  loop
	VZEROUPPER
	RET

// func flipAVX2(dst, src *uint8, n int) uint64
//
// dst = src with the upper bit of each byte flipped; returns the sum of the bytes of src. n is a multiple of 32,
// above zero.
TEXT ·flipAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVL $0x80808080, AX
	VMOVD AX, X3
	VPBROADCASTD X3, Y3
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	ADDQ CX, SI
	ADDQ CX, DI
	NEGQ CX
	TESTQ $32, CX
	JZ   loop
	VMOVDQU (SI)(CX*1), Y4
	VPSADBW Y0, Y4, Y1
	VPXOR   Y3, Y4, Y4
	VMOVDQU Y4, (DI)(CX*1)
	ADDQ $32, CX
	JZ   sum

loop:
	VMOVDQU (SI)(CX*1), Y4
	VMOVDQU 32(SI)(CX*1), Y5
	VPSADBW Y0, Y4, Y6
	VPSADBW Y0, Y5, Y7
	VPADDQ  Y6, Y1, Y1
	VPADDQ  Y7, Y2, Y2
	VPXOR   Y3, Y4, Y4
	VPXOR   Y3, Y5, Y5
	VMOVDQU Y4, (DI)(CX*1)
	VMOVDQU Y5, 32(DI)(CX*1)
	ADDQ $64, CX
	JNZ  loop

sum:
	VPADDQ  Y2, Y1, Y1
	VEXTRACTI128 $1, Y1, X2
	VPADDQ  X2, X1, X1
	VPSHUFD $0x4E, X1, X2
	VPADDQ  X2, X1, X1
	VMOVQ   X1, ret+24(FP)
	VZEROUPPER
	RET
