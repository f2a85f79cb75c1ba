//go:build !purego && !race

#include "textflag.h"

// Inner products of float32 vectors, NEON.
//
// Every row has four accumulators of four lanes. Step i of four elements goes to accumulator i%4, each of the one
// to three elements left over to the first lane of the fourth; then ((s0+s1)+(s2+s3)) is summed in pairs.
// One row alone and four rows interleaved do exactly this, so they round alike.
//
//	R0 query    R1 row pointers, or 0    R2 next row    R3 stride    R4 rows left    R5 elements    R6 out
//	R7 query, moving    R8-R11 rows of this group, moving    R12 elements left

// The assembler lacks these: d = n + m, and d = the sums of neighbours in n, then in m, of four float32 lanes.
#define FADD4(m, n, d) WORD $(0x4E20D400|m<<16|n<<5|d)
#define FADDP4(m, n, d) WORD $(0x6E20D400|m<<16|n<<5|d)

#define ZERO(v) VEOR v.B16, v.B16, v.B16

#define STEP16(row, a, b, c, d) \
	VLD1.P 64(row), [V20.S4, V21.S4, V22.S4, V23.S4]; \
	VFMLA  V16.S4, V20.S4, a.S4; \
	VFMLA  V17.S4, V21.S4, b.S4; \
	VFMLA  V18.S4, V22.S4, c.S4; \
	VFMLA  V19.S4, V23.S4, d.S4

#define STEP4(row, a) \
	VLD1.P 16(row), [V20.S4]; \
	VFMLA  V16.S4, V20.S4, a.S4

// STEP loads one element; the other lanes become zero.
#define STEP(row, a) \
	FMOVS.P 4(row), F20; \
	VFMLA   V16.S4, V20.S4, a.S4

#define FOLD(a, b, c, d) \
	FADD4(b, a, a); \
	FADD4(d, c, c); \
	FADD4(c, a, a)

// func dotNEON(a, b *float32, dim int) float32
TEXT ·dotNEON(SB), NOSPLIT, $0-28
	MOVD a+0(FP), R7
	MOVD b+8(FP), R8
	MOVD dim+16(FP), R12
	ZERO(V0)
	ZERO(V1)
	ZERO(V2)
	ZERO(V3)

main:
	CMP    $16, R12
	BLT    rest
	VLD1.P 64(R7), [V16.S4, V17.S4, V18.S4, V19.S4]
	STEP16(R8, V0, V1, V2, V3)
	SUB    $16, R12
	B      main

rest:
	CMP    $4, R12
	BLT    tail
	VLD1.P 16(R7), [V16.S4]
	STEP4(R8, V0)
	SUB    $4, R12
	CMP    $4, R12
	BLT    tail
	VLD1.P 16(R7), [V16.S4]
	STEP4(R8, V1)
	SUB    $4, R12
	CMP    $4, R12
	BLT    tail
	VLD1.P 16(R7), [V16.S4]
	STEP4(R8, V2)
	SUB    $4, R12

tail:
	CBZ     R12, sum
	FMOVS.P 4(R7), F16
	STEP(R8, V3)
	SUB     $1, R12
	B       tail

sum:
	FOLD(0, 1, 2, 3)
	FADDP4(0, 0, 0)
	FADDP4(0, 0, 0)
	FMOVS F0, ret+24(FP)
	RET

// func dotRowsNEON(q *float32, rows *unsafe.Pointer, first unsafe.Pointer, stride, n, dim int, out *float32)
//
// The n rows are those that rows points at or, where it is nil, those at first, first+stride, ...
TEXT ·dotRowsNEON(SB), NOSPLIT, $0-56
	MOVD q+0(FP), R0
	MOVD rows+8(FP), R1
	MOVD first+16(FP), R2
	MOVD stride+24(FP), R3
	MOVD n+32(FP), R4
	MOVD dim+40(FP), R5
	MOVD out+48(FP), R6
	#include "streams_arm64.h"

group:
	CMP $1, R4
	BLE single
	#include "group_arm64.h"

start:
	ZERO(V0)
	ZERO(V1)
	ZERO(V2)
	ZERO(V3)
	ZERO(V4)
	ZERO(V5)
	ZERO(V6)
	ZERO(V7)
	ZERO(V8)
	ZERO(V9)
	ZERO(V10)
	ZERO(V11)
	ZERO(V12)
	ZERO(V13)
	ZERO(V14)
	ZERO(V15)
	MOVD R0, R7
	MOVD R5, R12

main4:
	CMP    $16, R12
	BLT    rest4
	VLD1.P 64(R7), [V16.S4, V17.S4, V18.S4, V19.S4]
	STEP16(R8, V0, V1, V2, V3)
	STEP16(R9, V4, V5, V6, V7)
	STEP16(R10, V8, V9, V10, V11)
	STEP16(R11, V12, V13, V14, V15)
	SUB    $16, R12
	B      main4

rest4:
	CMP    $4, R12
	BLT    tail4
	VLD1.P 16(R7), [V16.S4]
	STEP4(R8, V0)
	STEP4(R9, V4)
	STEP4(R10, V8)
	STEP4(R11, V12)
	SUB    $4, R12
	CMP    $4, R12
	BLT    tail4
	VLD1.P 16(R7), [V16.S4]
	STEP4(R8, V1)
	STEP4(R9, V5)
	STEP4(R10, V9)
	STEP4(R11, V13)
	SUB    $4, R12
	CMP    $4, R12
	BLT    tail4
	VLD1.P 16(R7), [V16.S4]
	STEP4(R8, V2)
	STEP4(R9, V6)
	STEP4(R10, V10)
	STEP4(R11, V14)
	SUB    $4, R12

tail4:
	CBZ     R12, sum4
	FMOVS.P 4(R7), F16
	STEP(R8, V3)
	STEP(R9, V7)
	STEP(R10, V11)
	STEP(R11, V15)
	SUB     $1, R12
	B       tail4

sum4:
	FOLD(0, 1, 2, 3)
	FOLD(4, 5, 6, 7)
	FOLD(8, 9, 10, 11)
	FOLD(12, 13, 14, 15)
	FADDP4(4, 0, 0)
	FADDP4(12, 8, 8)
	FADDP4(8, 0, 0)
	CMP    $4, R4
	BLT    few
	SUB    $4, R4
	CBZ    R1, streams
	VST1.P [V0.S4], 16(R6)
	ADD    $32, R1
	B      group

streams:
	#include "scatter_arm64.h"
	B      group

few:
	FMOVD F0, (R6)
	CMP   $3, R4
	BLT   done
	VMOV  V0.S[2], R12
	MOVW  R12, 8(R6)
	RET

single:
	BLT  done
	MOVD R2, R8
	CBZ  R1, single1
	MOVD (R1), R8

single1:
	ZERO(V0)
	ZERO(V1)
	ZERO(V2)
	ZERO(V3)
	MOVD R0, R7
	MOVD R5, R12

main1:
	CMP    $16, R12
	BLT    rest1
	VLD1.P 64(R7), [V16.S4, V17.S4, V18.S4, V19.S4]
	STEP16(R8, V0, V1, V2, V3)
	SUB    $16, R12
	B      main1

rest1:
	CMP    $4, R12
	BLT    tail1
	VLD1.P 16(R7), [V16.S4]
	STEP4(R8, V0)
	SUB    $4, R12
	CMP    $4, R12
	BLT    tail1
	VLD1.P 16(R7), [V16.S4]
	STEP4(R8, V1)
	SUB    $4, R12
	CMP    $4, R12
	BLT    tail1
	VLD1.P 16(R7), [V16.S4]
	STEP4(R8, V2)
	SUB    $4, R12

tail1:
	CBZ     R12, sum1
	FMOVS.P 4(R7), F16
	STEP(R8, V3)
	SUB     $1, R12
	B       tail1

sum1:
	FOLD(0, 1, 2, 3)
	FADDP4(0, 0, 0)
	FADDP4(0, 0, 0)
	FMOVS F0, (R6)

done:
	RET
