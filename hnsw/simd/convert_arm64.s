//go:build !purego && !race

#include "textflag.h"

// Instructions that the assembler lacks, of numbered V registers.
#define FMUL(m, n, d) WORD $(0x6E20DC00|m<<16|n<<5|d)
#define FMIN(m, n, d) WORD $(0x4EA0F400|m<<16|n<<5|d)
#define FMAX(m, n, d) WORD $(0x4E20F400|m<<16|n<<5|d)
#define FCVTNS(n, d) WORD $(0x4E21A800|n<<5|d) // to the nearest integer, half to even
#define SQXTN4(n, d) WORD $(0x0E614800|n<<5|d) // four lanes to the lower half of eight
#define SQXTN4UP(n, d) WORD $(0x4E614800|n<<5|d)
#define SQXTN8(n, d) WORD $(0x0E214800|n<<5|d) // eight lanes to the lower half of sixteen
#define SQXTN8UP(n, d) WORD $(0x4E214800|n<<5|d)
#define UADDLP(n, d) WORD $(0x6E202800|n<<5|d) // sums of pairs of bytes
#define UADALP(n, d) WORD $(0x6E606800|n<<5|d) // adds pairs of those

// CODE scales, clamps and rounds four elements.
#define CODE(v) \
	FMUL(16, v, v); \
	FMIN(17, v, v); \
	FMAX(18, v, v); \
	FCVTNS(v, v)

// func quantiseNEON(dst *uint8, v *float32, n int, scale float32)
//
// n is a multiple of 16, above zero.
TEXT ·quantiseNEON(SB), NOSPLIT, $0-28
	MOVD  dst+0(FP), R0
	MOVD  v+8(FP), R1
	MOVD  n+16(FP), R2
	MOVWU scale+24(FP), R3
	VDUP  R3, V16.S4
	MOVD  $0x42FE0000, R3 // 127
	VDUP  R3, V17.S4
	MOVD  $0xC2FE0000, R3 // -127
	VDUP  R3, V18.S4
	VMOVI $128, V19.B16

loop:
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	CODE(0)
	CODE(1)
	CODE(2)
	CODE(3)
	SQXTN4(0, 0)
	SQXTN4UP(1, 0)
	SQXTN4(2, 2)
	SQXTN4UP(3, 2)
	SQXTN8(0, 0)
	SQXTN8UP(2, 0)
	VEOR   V19.B16, V0.B16, V0.B16
	VST1.P [V0.B16], 16(R0)
	SUBS   $16, R2
	BGT    loop
	RET

// func flipNEON(dst, src *uint8, n int) uint64
//
// dst = src with the upper bit of each byte flipped; returns the sum of the bytes of src. n is a multiple of 16, above
// zero and below 2^24.
TEXT ·flipNEON(SB), NOSPLIT, $0-32
	MOVD  dst+0(FP), R0
	MOVD  src+8(FP), R1
	MOVD  n+16(FP), R2
	VMOVI $128, V19.B16
	VEOR  V1.B16, V1.B16, V1.B16

loop:
	VLD1.P 16(R1), [V0.B16]
	UADDLP(0, 2)
	UADALP(2, 1)
	VEOR   V19.B16, V0.B16, V0.B16
	VST1.P [V0.B16], 16(R0)
	SUBS   $16, R2
	BGT    loop

	VADDV V1.S4, V1
	FMOVS F1, R0
	MOVWU R0, R0
	MOVD  R0, ret+24(FP)
	RET
