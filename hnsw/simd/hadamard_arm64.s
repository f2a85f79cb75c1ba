//go:build !purego && !race

#include "textflag.h"

// The assembler lacks addition and subtraction, d = n - m, of four float32 lanes.
#define FADD4(m, n, d) WORD $(0x4E20D400|m<<16|n<<5|d)
#define FSUB4(m, n, d) WORD $(0x4EA0D400|m<<16|n<<5|d)

// func butterflyNEON(a, b *float32, n int)
//
// a, b = a+b, a-b. n is a multiple of four, above zero.
TEXT ·butterflyNEON(SB), NOSPLIT, $0-24
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD n+16(FP), R2

loop:
	CMP  $16, R2
	BLT  four
	VLD1 (R0), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1 (R1), [V4.S4, V5.S4, V6.S4, V7.S4]
	FADD4(4, 0, 16)
	FADD4(5, 1, 17)
	FADD4(6, 2, 18)
	FADD4(7, 3, 19)
	FSUB4(4, 0, 20)
	FSUB4(5, 1, 21)
	FSUB4(6, 2, 22)
	FSUB4(7, 3, 23)
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R0)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R1)
	SUB  $16, R2
	B    loop

four:
	CBZ  R2, done
	VLD1 (R0), [V0.S4]
	VLD1 (R1), [V4.S4]
	FADD4(4, 0, 16)
	FSUB4(4, 0, 20)
	VST1.P [V16.S4], 16(R0)
	VST1.P [V20.S4], 16(R1)
	SUB  $4, R2
	B    four

done:
	RET
