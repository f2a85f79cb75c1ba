//go:build !purego && !race

#include "textflag.h"

// Inner products of signed bytes, NEON.
//
// Row bytes are made signed by flipping their upper bits. SMULL widens products to 16 bits, SADALP adds pairs of
// them to 32-bit lanes: exact. Sums of integers come out the same in any order.
//
//	R0 query    R1 ids, or 0    R2 base, or next row    R3 stride, a multiple of 64    R4 rows left
//	R5 offset of the last row    R6 out    R7 query, moving    R8-R11 rows of this group, moving    R12 bytes left
//	V31 128 in every byte

// MULTIPLY is SMULL, SADALP, SMULL2, SADALP, which the assembler lacks, of numbered V registers: acc += q*row.
#define MULTIPLY(q, row, acc) \
	WORD $(0x0E20C000|q<<16|row<<5|24); \
	WORD $(0x4E606800|24<<5|acc); \
	WORD $(0x4E20C000|q<<16|row<<5|25); \
	WORD $(0x4E606800|25<<5|acc)

#define ZERO(v) VEOR v.B16, v.B16, v.B16

// LINE multiplies the 64 query bytes in V16-V19 with those of a row.
#define LINE(row, a, b) \
	VLD1.P 64(row), [V20.B16, V21.B16, V22.B16, V23.B16]; \
	VEOR   V31.B16, V20.B16, V20.B16; \
	VEOR   V31.B16, V21.B16, V21.B16; \
	VEOR   V31.B16, V22.B16, V22.B16; \
	VEOR   V31.B16, V23.B16, V23.B16; \
	MULTIPLY(16, 20, a); \
	MULTIPLY(17, 21, b); \
	MULTIPLY(18, 22, a); \
	MULTIPLY(19, 23, b)

// func dot8RowsNEON(q *uint8, ids *uint32, base unsafe.Pointer, last, stride, n int, bias int32, out *int32) bool
//
// The n rows are those of the ids, of which row 0 is at base and the last one last bytes further or, where ids is
// nil, those at base, base+stride, ... There is no use for bias. It returns false, having written some of out, when an
// id is beyond the last row.
TEXT ·dot8RowsNEON(SB), NOSPLIT, $0-65
	MOVD q+0(FP), R0
	MOVD ids+8(FP), R1
	MOVD base+16(FP), R2
	MOVD last+24(FP), R5
	MOVD stride+32(FP), R3
	MOVD n+40(FP), R4
	MOVD out+56(FP), R6
	VMOVI $128, V31.B16
	#include "streams_arm64.h"

group:
	CMP $1, R4
	BLE single
	#include "group8_arm64.h"

start:
	ZERO(V0)
	ZERO(V1)
	ZERO(V2)
	ZERO(V3)
	ZERO(V4)
	ZERO(V5)
	ZERO(V6)
	ZERO(V7)
	MOVD R0, R7
	MOVD R3, R12

main4:
	VLD1.P 64(R7), [V16.B16, V17.B16, V18.B16, V19.B16]
	LINE(R8, 0, 1)
	LINE(R9, 2, 3)
	LINE(R10, 4, 5)
	LINE(R11, 6, 7)
	SUBS $64, R12
	BGT  main4

	VADD  V1.S4, V0.S4, V0.S4
	VADD  V3.S4, V2.S4, V2.S4
	VADD  V5.S4, V4.S4, V4.S4
	VADD  V7.S4, V6.S4, V6.S4
	VADDP V2.S4, V0.S4, V0.S4
	VADDP V6.S4, V4.S4, V4.S4
	VADDP V4.S4, V0.S4, V0.S4
	CMP    $4, R4
	BLT    few
	SUB    $4, R4
	CBZ    R1, streams
	VST1.P [V0.S4], 16(R6)
	ADD    $16, R1
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
	B     done

single:
	BLT  done
	MOVD R2, R8
	CBZ  R1, single1
	MOVWU (R1), R8
	ROW(R8)

single1:
	ZERO(V0)
	ZERO(V1)
	MOVD R3, R12

main1:
	VLD1.P 64(R0), [V16.B16, V17.B16, V18.B16, V19.B16]
	LINE(R8, 0, 1)
	SUBS $64, R12
	BGT  main1

	VADD  V1.S4, V0.S4, V0.S4
	VADDV V0.S4, V0
	FMOVS F0, (R6)

done:
	MOVD $1, R0
	MOVB R0, ret+64(FP)
	RET

bad:
	MOVB ZR, ret+64(FP)
	RET
