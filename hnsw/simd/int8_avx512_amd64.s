//go:build !purego && !race

#include "textflag.h"

// Inner products of signed query bytes with unsigned row bytes, AVX-512 VNNI.
//
// VPDPBUSD adds four products u8*s8 to each 32-bit lane, exactly (modulo 2^32). Sums of integers come out the
// same in any order, so only speed decides how they are taken: four rows interleaved, two lines of 64 bytes a
// step.
//
//	AX query    BX offset in the row    CX rows left    DX row length, a multiple of 64
//	SI ids, or 0    DI out    R8-R11 rows of this group    R12 base, or next row    R13 offset of the last row

// LINE4 multiplies 64 bytes at an offset with those of four rows.
#define LINE4(off, q, t, a, b, c, d) \
	VMOVDQU64 off(AX)(BX*1), q; \
	VMOVDQU64 off(R8)(BX*1), t; \
	VPDPBUSD  q, t, a; \
	VMOVDQU64 off(R9)(BX*1), t; \
	VPDPBUSD  q, t, b; \
	VMOVDQU64 off(R10)(BX*1), t; \
	VPDPBUSD  q, t, c; \
	VMOVDQU64 off(R11)(BX*1), t; \
	VPDPBUSD  q, t, d

#define LINE1(off, t, a) \
	VMOVDQU64 off(R8)(BX*1), t; \
	VPDPBUSD  off(AX)(BX*1), t, a

// FOLD sums two accumulators into the low half of the first.
#define FOLD(za, zb, ya, yb) \
	VPADDD        zb, za, za; \
	VEXTRACTI64X4 $1, za, yb; \
	VPADDD        yb, ya, ya

#define ZERO4(a, b, c, d) \
	VPXORD a, a, a; \
	VPXORD b, b, b; \
	VPXORD c, c, c; \
	VPXORD d, d, d

#define STRIDE DX

// func dot8RowsAVX512(q *uint8, ids *uint32, base unsafe.Pointer, last, stride, n, ahead, touch int, bias int32, out *int32) bool
//
// The n rows are those of the ids, of which row 0 is at base and the last one last bytes further or, where ids is
// nil, those at base, base+stride, ... bias is taken from each sum. It returns false, having written some of out, when
// an id is beyond the last row.
TEXT ·dot8RowsAVX512(SB), NOSPLIT, $16-81
	MOVQ q+0(FP), AX
	MOVQ ids+8(FP), SI
	MOVQ base+16(FP), R12
	MOVQ last+24(FP), R13
	MOVQ stride+32(FP), DX
	MOVQ n+40(FP), CX
	MOVL bias+64(FP), R8
	MOVQ out+72(FP), DI
	VMOVD R8, X15
	VPBROADCASTD X15, X15
	#include "streams_amd64.h"

group:
	CMPQ  CX, $1
	JLE   single
#include "group8_amd64.h"

start:
	ZERO4(Z0, Z1, Z2, Z3)
	ZERO4(Z4, Z5, Z6, Z7)
	XORQ BX, BX

main4:
	LEAQ 128(BX), R15
	CMPQ R15, DX
	JGT  tail4
	LINE4(0, Z16, Z18, Z0, Z2, Z4, Z6)
	LINE4(64, Z17, Z19, Z1, Z3, Z5, Z7)
	MOVQ R15, BX
	JMP  main4

tail4:
	CMPQ BX, DX
	JGE  sum4
	LINE4(0, Z16, Z18, Z0, Z2, Z4, Z6)

sum4:
	FOLD(Z0, Z1, Y0, Y1)
	FOLD(Z2, Z3, Y2, Y3)
	FOLD(Z4, Z5, Y4, Y5)
	FOLD(Z6, Z7, Y6, Y7)
	VPHADDD Y2, Y0, Y0
	VPHADDD Y6, Y4, Y4
	VPHADDD Y4, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD  X1, X0, X0
	VPSUBD  X15, X0, X0
	CMPQ    CX, $4
	JLT     few
	SUBQ    $4, CX
	TESTQ   SI, SI
	JZ      streams
	VMOVDQU X0, (DI)
	ADDQ    $16, DI
	ADDQ    $16, SI
	JMP     group

streams:
	#include "scatter_amd64.h"
	JMP     group

few:
	VMOVQ   X0, (DI)
	CMPQ    CX, $3
	JLT     done
	VPEXTRD $2, X0, 8(DI)
	JMP     done

single:
	JLT     done
	MOVQ    R12, R8
	TESTQ   SI, SI
	JZ      single1
	MOVL    (SI), R8
	ROW(R8)

single1:
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	XORQ   BX, BX

main1:
	LEAQ 128(BX), R15
	CMPQ R15, DX
	JGT  tail1
	LINE1(0, Z18, Z0)
	LINE1(64, Z19, Z1)
	MOVQ R15, BX
	JMP  main1

tail1:
	CMPQ BX, DX
	JGE  sum1
	LINE1(0, Z18, Z0)

sum1:
	FOLD(Z0, Z1, Y0, Y1)
	VPHADDD Y0, Y0, Y0
	VPHADDD Y0, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD  X1, X0, X0
	VPSUBD  X15, X0, X0
	VMOVD   X0, (DI)

done:
	MOVB $1, ret+80(FP)
	VZEROUPPER
	RET

bad:
	MOVB $0, ret+80(FP)
	VZEROUPPER
	RET
