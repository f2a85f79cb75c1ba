//go:build !purego && !race

#include "textflag.h"

// Signs of the three levels that stay within eight lanes.
DATA signs<>+0(SB)/4, $1.0
DATA signs<>+4(SB)/4, $-1.0
DATA signs<>+8(SB)/4, $1.0
DATA signs<>+12(SB)/4, $-1.0
DATA signs<>+16(SB)/4, $1.0
DATA signs<>+20(SB)/4, $-1.0
DATA signs<>+24(SB)/4, $1.0
DATA signs<>+28(SB)/4, $-1.0
DATA signs<>+32(SB)/4, $1.0
DATA signs<>+36(SB)/4, $1.0
DATA signs<>+40(SB)/4, $-1.0
DATA signs<>+44(SB)/4, $-1.0
DATA signs<>+48(SB)/4, $1.0
DATA signs<>+52(SB)/4, $1.0
DATA signs<>+56(SB)/4, $-1.0
DATA signs<>+60(SB)/4, $-1.0
DATA signs<>+64(SB)/4, $1.0
DATA signs<>+68(SB)/4, $1.0
DATA signs<>+72(SB)/4, $1.0
DATA signs<>+76(SB)/4, $1.0
DATA signs<>+80(SB)/4, $-1.0
DATA signs<>+84(SB)/4, $-1.0
DATA signs<>+88(SB)/4, $-1.0
DATA signs<>+92(SB)/4, $-1.0
GLOBL signs<>(SB), RODATA|NOPTR, $96

// WITHIN does levels 1, 2 and 4 of eight elements: each is x*sign + partner(x), where the product is exact.
#define WITHIN(x) \
	VPERMILPS   $0xB1, x, Y8; \
	VFMADD132PS Y13, Y8, x; \
	VPERMILPS   $0x4E, x, Y8; \
	VFMADD132PS Y14, Y8, x; \
	VPERM2F128  $0x01, x, x, Y8; \
	VFMADD132PS Y15, Y8, x

// BUTTERFLY replaces a and b by a+b and a-b.
#define BUTTERFLY(a, b) \
	VSUBPS  b, a, Y8; \
	VADDPS  b, a, a; \
	VMOVAPS Y8, b

// func hadamardAVX2(x *float32, n int)
//
// n is a power of two from 64 up. The first pass does levels 1 to 32 of 64 elements at a time in registers, each
// further one two levels, or one where that is what remains.
TEXT ·hadamardAVX2(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	SHLQ $2, CX
	LEAQ (DI)(CX*1), SI // end
	VMOVUPS signs<>+0(SB), Y13
	VMOVUPS signs<>+32(SB), Y14
	VMOVUPS signs<>+64(SB), Y15
	MOVQ DI, AX

block:
	VMOVUPS (AX), Y0
	VMOVUPS 32(AX), Y1
	VMOVUPS 64(AX), Y2
	VMOVUPS 96(AX), Y3
	VMOVUPS 128(AX), Y4
	VMOVUPS 160(AX), Y5
	VMOVUPS 192(AX), Y6
	VMOVUPS 224(AX), Y7
	WITHIN(Y0)
	WITHIN(Y1)
	WITHIN(Y2)
	WITHIN(Y3)
	WITHIN(Y4)
	WITHIN(Y5)
	WITHIN(Y6)
	WITHIN(Y7)
	BUTTERFLY(Y0, Y1)
	BUTTERFLY(Y2, Y3)
	BUTTERFLY(Y4, Y5)
	BUTTERFLY(Y6, Y7)
	BUTTERFLY(Y0, Y2)
	BUTTERFLY(Y1, Y3)
	BUTTERFLY(Y4, Y6)
	BUTTERFLY(Y5, Y7)
	BUTTERFLY(Y0, Y4)
	BUTTERFLY(Y1, Y5)
	BUTTERFLY(Y2, Y6)
	BUTTERFLY(Y3, Y7)
	VMOVUPS Y0, (AX)
	VMOVUPS Y1, 32(AX)
	VMOVUPS Y2, 64(AX)
	VMOVUPS Y3, 96(AX)
	VMOVUPS Y4, 128(AX)
	VMOVUPS Y5, 160(AX)
	VMOVUPS Y6, 192(AX)
	VMOVUPS Y7, 224(AX)
	ADDQ $256, AX
	CMPQ AX, SI
	JLT  block

	MOVQ $256, DX // bytes between the partners of the next level

levels:
	CMPQ DX, CX
	JGE  done
	LEAQ (DX)(DX*1), R8
	MOVQ DI, AX
	CMPQ R8, CX
	JGE  last

	// Levels DX and 2*DX: four quarters of 4*DX bytes.
	LEAQ (DX)(R8*1), R9

quads:
	LEAQ (AX)(DX*1), R10 // end of the first quarter

quad:
	VMOVUPS (AX), Y0
	VMOVUPS (AX)(DX*1), Y1
	VMOVUPS (AX)(R8*1), Y2
	VMOVUPS (AX)(R9*1), Y3
	BUTTERFLY(Y0, Y1)
	BUTTERFLY(Y2, Y3)
	BUTTERFLY(Y0, Y2)
	BUTTERFLY(Y1, Y3)
	VMOVUPS Y0, (AX)
	VMOVUPS Y1, (AX)(DX*1)
	VMOVUPS Y2, (AX)(R8*1)
	VMOVUPS Y3, (AX)(R9*1)
	ADDQ $32, AX
	CMPQ AX, R10
	JLT  quad
	ADDQ R9, AX
	CMPQ AX, SI
	JLT  quads
	SHLQ $2, DX
	JMP  levels

last:
	LEAQ (DI)(DX*1), R10

pair:
	VMOVUPS (AX), Y0
	VMOVUPS (AX)(DX*1), Y1
	BUTTERFLY(Y0, Y1)
	VMOVUPS Y0, (AX)
	VMOVUPS Y1, (AX)(DX*1)
	ADDQ $32, AX
	CMPQ AX, R10
	JLT  pair

done:
	VZEROUPPER
	RET

// func butterflyAVX2(a, b *float32, n int)
//
// n is a multiple of eight, above zero.
TEXT ·butterflyAVX2(SB), NOSPLIT, $0-24
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX

loop:
	VMOVUPS (SI), Y0
	VMOVUPS (DI), Y1
	BUTTERFLY(Y0, Y1)
	VMOVUPS Y0, (SI)
	VMOVUPS Y1, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JNE  loop
	VZEROUPPER
	RET
