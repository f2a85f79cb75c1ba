//go:build !purego && !race

#include "textflag.h"

// Inner products of signed query bytes with unsigned row bytes, AVX2.
//
// Both are widened to 16 bits, where VPMADDWD is exact: two products below 2^15 each fit a 32-bit lane. (The
// shorter VPMADDUBSW would saturate.) Four rows are interleaved and share the widened query.
//
//	AX query    BX offset in the row    CX rows left    DX row length, a multiple of 64
//	SI ids, or 0    DI out    R8-R11 rows of this group    R12 base, or next row    R13 offset of the last row

// HALF4 multiplies 16 bytes at an offset with those of four rows.
#define HALF4(off, q, a, b, c, d) \
	VPMOVSXBW off(AX)(BX*1), q; \
	VPMOVZXBW off(R8)(BX*1), Y10; \
	VPMADDWD  q, Y10, Y10; \
	VPADDD    Y10, a, a; \
	VPMOVZXBW off(R9)(BX*1), Y11; \
	VPMADDWD  q, Y11, Y11; \
	VPADDD    Y11, b, b; \
	VPMOVZXBW off(R10)(BX*1), Y12; \
	VPMADDWD  q, Y12, Y12; \
	VPADDD    Y12, c, c; \
	VPMOVZXBW off(R11)(BX*1), Y13; \
	VPMADDWD  q, Y13, Y13; \
	VPADDD    Y13, d, d

#define HALF1(off, q, t, a) \
	VPMOVSXBW off(AX)(BX*1), q; \
	VPMOVZXBW off(R8)(BX*1), t; \
	VPMADDWD  q, t, t; \
	VPADDD    t, a, a

#define ZERO4(a, b, c, d) \
	VPXOR a, a, a; \
	VPXOR b, b, b; \
	VPXOR c, c, c; \
	VPXOR d, d, d

#define STRIDE DX

// func dot8RowsAVX2(q *uint8, ids *uint32, base unsafe.Pointer, last, stride, n int, bias int32, out *int32) bool
//
// The n rows are those of the ids, of which row 0 is at base and the last one last bytes further or, where ids is
// nil, those at base, base+stride, ... bias is taken from each sum. It returns false, having written some of out, when
// an id is beyond the last row.
TEXT ·dot8RowsAVX2(SB), NOSPLIT, $16-65
	MOVQ q+0(FP), AX
	MOVQ ids+8(FP), SI
	MOVQ base+16(FP), R12
	MOVQ last+24(FP), R13
	MOVQ stride+32(FP), DX
	MOVQ n+40(FP), CX
	MOVL bias+48(FP), R8
	MOVQ out+56(FP), DI
	VMOVD R8, X15
	VPBROADCASTD X15, X15
	#include "streams_amd64.h"

group:
	CMPQ  CX, $1
	JLE   single
#include "group8_amd64.h"

start:
	ZERO4(Y0, Y1, Y2, Y3)
	ZERO4(Y4, Y5, Y6, Y7)
	XORQ BX, BX

main4:
	HALF4(0, Y8, Y0, Y2, Y4, Y6)
	HALF4(16, Y9, Y1, Y3, Y5, Y7)
	ADDQ $32, BX
	CMPQ BX, DX
	JLT  main4

sum4:
	VPADDD Y1, Y0, Y0
	VPADDD Y3, Y2, Y2
	VPADDD Y5, Y4, Y4
	VPADDD Y7, Y6, Y6
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
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	XORQ  BX, BX

main1:
	HALF1(0, Y8, Y10, Y0)
	HALF1(16, Y9, Y11, Y1)
	HALF1(32, Y8, Y12, Y0)
	HALF1(48, Y9, Y13, Y1)
	ADDQ $64, BX
	CMPQ BX, DX
	JLT  main1

sum1:
	VPADDD Y1, Y0, Y0
	VPHADDD Y0, Y0, Y0
	VPHADDD Y0, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD  X1, X0, X0
	VPSUBD  X15, X0, X0
	VMOVD   X0, (DI)

done:
	MOVB $1, ret+64(FP)
	VZEROUPPER
	RET

bad:
	MOVB $0, ret+64(FP)
	VZEROUPPER
	RET
