//go:build !purego && !race

#include "textflag.h"

// Inner products of float32 vectors, AVX-512F.
//
// Every row has four accumulators of 16 lanes. Step i of 16 elements goes to accumulator i%4, a last masked
// step of fewer to the fourth; then ((s0+s1)+(s2+s3)) is folded to eight lanes and those are summed in pairs.
// One row alone and four rows interleaved do exactly this, so they round alike.
//
//	AX query    BX offset in the row, bytes    CX rows left    DX row length, bytes
//	SI row pointers, or 0    DI out    R8-R11 rows of this group    R12 next row    R13 stride    K1 tail lanes
//
// Where there are pointers R12 and R13 are free to be used.

// STEP4 multiplies 16 elements at an offset with those of four rows.
#define STEP4(off, q, a, b, c, d) \
	VMOVUPS     off(AX)(BX*1), q; \
	VFMADD231PS off(R8)(BX*1), q, a; \
	VFMADD231PS off(R9)(BX*1), q, b; \
	VFMADD231PS off(R10)(BX*1), q, c; \
	VFMADD231PS off(R11)(BX*1), q, d

// STEPS4 multiplies 64 elements with those of four rows.
#define STEPS4 \
	STEP4(0, Z16, Z0, Z4, Z8, Z12); \
	STEP4(64, Z17, Z1, Z5, Z9, Z13); \
	STEP4(128, Z18, Z2, Z6, Z10, Z14); \
	STEP4(192, Z19, Z3, Z7, Z11, Z15)

// ASK asks for 256 bytes of a row whose pointer is at an offset from R12.
#define ASK(off) \
	MOVQ       off(R12), R15; \
	PREFETCHT0 (R15)(BX*1); \
	PREFETCHT0 64(R15)(BX*1); \
	PREFETCHT0 128(R15)(BX*1); \
	PREFETCHT0 192(R15)(BX*1)

#define STEP1(off, q, a) \
	VMOVUPS     off(AX)(BX*1), q; \
	VFMADD231PS off(R8)(BX*1), q, a

// FOLD sums four accumulators into the first and halves its width.
#define FOLD(za, zb, zc, zd, ya, yb) \
	VADDPS        zb, za, za; \
	VADDPS        zd, zc, zc; \
	VADDPS        zc, za, za; \
	VEXTRACTF64X4 $1, za, yb; \
	VADDPS        yb, ya, ya

#define ZERO4(a, b, c, d) \
	VPXORD a, a, a; \
	VPXORD b, b, b; \
	VPXORD c, c, c; \
	VPXORD d, d, d

#define STRIDE R13

// func dotAVX512(a, b *float32, dim int) float32
TEXT ·dotAVX512(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), AX
	MOVQ b+8(FP), R8
	MOVQ dim+16(FP), CX
	MOVQ CX, DX
	SHLQ $2, DX
	ANDQ $15, CX
	MOVL $1, R9
	SHLL CX, R9
	DECL R9
	KMOVW R9, K1
	ZERO4(Z0, Z1, Z2, Z3)
	XORQ BX, BX

main:
	LEAQ 256(BX), R15
	CMPQ R15, DX
	JGT  rest
	STEP1(0, Z16, Z0)
	STEP1(64, Z17, Z1)
	STEP1(128, Z18, Z2)
	STEP1(192, Z19, Z3)
	MOVQ R15, BX
	JMP  main

rest:
	LEAQ 64(BX), R15
	CMPQ R15, DX
	JGT  tail
	STEP1(0, Z16, Z0)
	MOVQ R15, BX
	ADDQ $64, R15
	CMPQ R15, DX
	JGT  tail
	STEP1(0, Z17, Z1)
	MOVQ R15, BX
	ADDQ $64, R15
	CMPQ R15, DX
	JGT  tail
	STEP1(0, Z18, Z2)
	MOVQ R15, BX

tail:
	CMPQ BX, DX
	JGE  sum
	VMOVUPS.Z   (AX)(BX*1), K1, Z16
	VMOVUPS.Z   (R8)(BX*1), K1, Z17
	VFMADD231PS Z17, Z16, Z3

sum:
	FOLD(Z0, Z1, Z2, Z3, Y0, Y1)
	VHADDPS Y0, Y0, Y0
	VHADDPS Y0, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS  X1, X0, X0
	VMOVSS  X0, ret+24(FP)
	VZEROUPPER
	RET

// func dotRowsAVX512(q *float32, rows *unsafe.Pointer, first unsafe.Pointer, stride, n, dim, ahead int, out *float32)
//
// The n rows are those that rows points at or, where it is nil, those at first, first+stride, ... Of those pointed at it
// asks for those so many further on, a multiple of four, or for the last four, while it multiplies, unless ahead is 0.
TEXT ·dotRowsAVX512(SB), NOSPLIT, $16-64
	MOVQ q+0(FP), AX
	MOVQ rows+8(FP), SI
	MOVQ first+16(FP), R12
	MOVQ stride+24(FP), R13
	MOVQ dim+40(FP), CX
	MOVQ out+56(FP), DI
	MOVQ CX, DX
	SHLQ $2, DX
	ANDQ $15, CX
	MOVL $1, R9
	SHLL CX, R9
	DECL R9
	KMOVW R9, K1
	MOVQ n+32(FP), CX
	#include "streams_amd64.h"

group:
	CMPQ  CX, $1
	JLE   single
#include "group_amd64.h"

start:
	ZERO4(Z0, Z1, Z2, Z3)
	ZERO4(Z4, Z5, Z6, Z7)
	ZERO4(Z8, Z9, Z10, Z11)
	ZERO4(Z12, Z13, Z14, Z15)
	XORQ BX, BX
	TESTQ SI, SI
	JZ    main4
	MOVQ  ahead+48(FP), R12
	LEAQ  -4(CX), R13
	CMPQ  R13, R12
	CMOVQLT R13, R12
	TESTQ R12, R12
	JLE   main4
	LEAQ  (SI)(R12*8), R12

ask4:
	LEAQ 256(BX), R15
	CMPQ R15, DX
	JGT  rest4
	ASK(0)
	ASK(8)
	ASK(16)
	ASK(24)
	STEPS4
	ADDQ $256, BX
	JMP  ask4

main4:
	LEAQ 256(BX), R15
	CMPQ R15, DX
	JGT  rest4
	STEPS4
	MOVQ R15, BX
	JMP  main4

rest4:
	LEAQ 64(BX), R15
	CMPQ R15, DX
	JGT  tail4
	STEP4(0, Z16, Z0, Z4, Z8, Z12)
	MOVQ R15, BX
	ADDQ $64, R15
	CMPQ R15, DX
	JGT  tail4
	STEP4(0, Z17, Z1, Z5, Z9, Z13)
	MOVQ R15, BX
	ADDQ $64, R15
	CMPQ R15, DX
	JGT  tail4
	STEP4(0, Z18, Z2, Z6, Z10, Z14)
	MOVQ R15, BX

tail4:
	CMPQ BX, DX
	JGE  sum4
	VMOVUPS.Z   (AX)(BX*1), K1, Z16
	VMOVUPS.Z   (R8)(BX*1), K1, Z17
	VMOVUPS.Z   (R9)(BX*1), K1, Z18
	VMOVUPS.Z   (R10)(BX*1), K1, Z19
	VMOVUPS.Z   (R11)(BX*1), K1, Z20
	VFMADD231PS Z17, Z16, Z3
	VFMADD231PS Z18, Z16, Z7
	VFMADD231PS Z19, Z16, Z11
	VFMADD231PS Z20, Z16, Z15

sum4:
	FOLD(Z0, Z1, Z2, Z3, Y0, Y1)
	FOLD(Z4, Z5, Z6, Z7, Y4, Y5)
	FOLD(Z8, Z9, Z10, Z11, Y8, Y9)
	FOLD(Z12, Z13, Z14, Z15, Y12, Y13)
	VHADDPS Y4, Y0, Y0
	VHADDPS Y12, Y8, Y8
	VHADDPS Y8, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS  X1, X0, X0
	CMPQ    CX, $4
	JLT     few
	SUBQ    $4, CX
	TESTQ   SI, SI
	JZ      streams
	VMOVUPS X0, (DI)
	ADDQ    $16, DI
	ADDQ    $32, SI
	JMP     group

streams:
	#include "scatter_amd64.h"
	JMP     group

few:
	VMOVLPS X0, (DI)
	CMPQ    CX, $3
	JLT     done
	VEXTRACTPS $2, X0, 8(DI)
	JMP     done

single:
	JLT     done
	MOVQ    R12, R8
	TESTQ   SI, SI
	JZ      single1
	MOVQ    (SI), R8

single1:
	ZERO4(Z0, Z1, Z2, Z3)
	XORQ BX, BX

main1:
	LEAQ 256(BX), R15
	CMPQ R15, DX
	JGT  rest1
	STEP1(0, Z16, Z0)
	STEP1(64, Z17, Z1)
	STEP1(128, Z18, Z2)
	STEP1(192, Z19, Z3)
	MOVQ R15, BX
	JMP  main1

rest1:
	LEAQ 64(BX), R15
	CMPQ R15, DX
	JGT  tail1
	STEP1(0, Z16, Z0)
	MOVQ R15, BX
	ADDQ $64, R15
	CMPQ R15, DX
	JGT  tail1
	STEP1(0, Z17, Z1)
	MOVQ R15, BX
	ADDQ $64, R15
	CMPQ R15, DX
	JGT  tail1
	STEP1(0, Z18, Z2)
	MOVQ R15, BX

tail1:
	CMPQ BX, DX
	JGE  sum1
	VMOVUPS.Z   (AX)(BX*1), K1, Z16
	VMOVUPS.Z   (R8)(BX*1), K1, Z17
	VFMADD231PS Z17, Z16, Z3

sum1:
	FOLD(Z0, Z1, Z2, Z3, Y0, Y1)
	VHADDPS Y0, Y0, Y0
	VHADDPS Y0, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS  X1, X0, X0
	VMOVSS  X0, (DI)

done:
	VZEROUPPER
	RET
