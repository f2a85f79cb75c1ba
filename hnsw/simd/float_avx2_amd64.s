//go:build !purego && !race

#include "textflag.h"

// Inner products of float32 vectors, AVX2 and FMA.
//
// Every row has three accumulators of eight lanes, which is what four rows leave room for in 16 registers.
// Step i of eight elements goes to accumulator i%3, a last masked step of fewer to the third; then
// ((s0+s1)+s2) is summed in pairs. One row alone and four rows interleaved do exactly this, so they round
// alike.
//
//	AX query    BX offset in the row, bytes    CX rows left    DX row length, bytes
//	SI row pointers, or 0    DI out    R8-R11 rows of this group    R12 next row    R13 stride    Y15 tail mask

DATA lanes<>+0(SB)/4, $0
DATA lanes<>+4(SB)/4, $1
DATA lanes<>+8(SB)/4, $2
DATA lanes<>+12(SB)/4, $3
DATA lanes<>+16(SB)/4, $4
DATA lanes<>+20(SB)/4, $5
DATA lanes<>+24(SB)/4, $6
DATA lanes<>+28(SB)/4, $7
GLOBL lanes<>(SB), RODATA|NOPTR, $32

// TAILMASK sets the lanes of Y15 below CX%8.
#define TAILMASK \
	ANDQ         $7, CX; \
	VMOVD        CX, X15; \
	VPBROADCASTD X15, Y15; \
	VPCMPGTD     lanes<>(SB), Y15, Y15

// STEP4 multiplies eight elements at an offset with those of four rows.
#define STEP4(off, q, a, b, c, d) \
	VMOVUPS     off(AX)(BX*1), q; \
	VFMADD231PS off(R8)(BX*1), q, a; \
	VFMADD231PS off(R9)(BX*1), q, b; \
	VFMADD231PS off(R10)(BX*1), q, c; \
	VFMADD231PS off(R11)(BX*1), q, d

#define STEP1(off, q, a) \
	VMOVUPS     off(AX)(BX*1), q; \
	VFMADD231PS off(R8)(BX*1), q, a

// TAIL multiplies the masked elements of one row with those in Y12.
#define TAIL(row, a) \
	VMASKMOVPS  (row)(BX*1), Y15, Y13; \
	VFMADD231PS Y13, Y12, a

#define ZERO3(a, b, c) \
	VXORPS a, a, a; \
	VXORPS b, b, b; \
	VXORPS c, c, c

#define FOLD(a, b, c) \
	VADDPS b, a, a; \
	VADDPS c, a, a

#define STRIDE R13

// func dotAVX2(a, b *float32, dim int) float32
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), AX
	MOVQ b+8(FP), R8
	MOVQ dim+16(FP), CX
	MOVQ CX, DX
	SHLQ $2, DX
	TAILMASK
	ZERO3(Y0, Y1, Y2)
	XORQ BX, BX

main:
	LEAQ 96(BX), R9
	CMPQ R9, DX
	JGT  rest
	STEP1(0, Y12, Y0)
	STEP1(32, Y13, Y1)
	STEP1(64, Y14, Y2)
	MOVQ R9, BX
	JMP  main

rest:
	LEAQ 32(BX), R9
	CMPQ R9, DX
	JGT  tail
	STEP1(0, Y12, Y0)
	MOVQ R9, BX
	ADDQ $32, R9
	CMPQ R9, DX
	JGT  tail
	STEP1(0, Y13, Y1)
	MOVQ R9, BX

tail:
	CMPQ BX, DX
	JGE  sum
	VMASKMOVPS (AX)(BX*1), Y15, Y12
	TAIL(R8, Y2)

sum:
	FOLD(Y0, Y1, Y2)
	VHADDPS Y0, Y0, Y0
	VHADDPS Y0, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS  X1, X0, X0
	VMOVSS  X0, ret+24(FP)
	VZEROUPPER
	RET

// func dotRowsAVX2(q *float32, rows *unsafe.Pointer, first unsafe.Pointer, stride, n, dim int, out *float32)
//
// The n rows are those that rows points at or, where it is nil, those at first, first+stride, ...
TEXT ·dotRowsAVX2(SB), NOSPLIT, $16-56
	MOVQ dim+40(FP), CX
	MOVQ CX, DX
	SHLQ $2, DX
	TAILMASK
	MOVQ q+0(FP), AX
	MOVQ rows+8(FP), SI
	MOVQ first+16(FP), R12
	MOVQ stride+24(FP), R13
	MOVQ out+48(FP), DI
	MOVQ n+32(FP), CX
	#include "streams_amd64.h"

group:
	CMPQ  CX, $1
	JLE   single
#include "group_amd64.h"

start:
	ZERO3(Y0, Y1, Y2)
	ZERO3(Y3, Y4, Y5)
	ZERO3(Y6, Y7, Y8)
	ZERO3(Y9, Y10, Y11)
	XORQ BX, BX

main4:
	LEAQ 96(BX), R15
	CMPQ R15, DX
	JGT  rest4
	STEP4(0, Y12, Y0, Y3, Y6, Y9)
	STEP4(32, Y13, Y1, Y4, Y7, Y10)
	STEP4(64, Y14, Y2, Y5, Y8, Y11)
	MOVQ R15, BX
	JMP  main4

rest4:
	LEAQ 32(BX), R15
	CMPQ R15, DX
	JGT  tail4
	STEP4(0, Y12, Y0, Y3, Y6, Y9)
	MOVQ R15, BX
	ADDQ $32, R15
	CMPQ R15, DX
	JGT  tail4
	STEP4(0, Y13, Y1, Y4, Y7, Y10)
	MOVQ R15, BX

tail4:
	CMPQ BX, DX
	JGE  sum4
	VMASKMOVPS (AX)(BX*1), Y15, Y12
	TAIL(R8, Y2)
	TAIL(R9, Y5)
	TAIL(R10, Y8)
	TAIL(R11, Y11)

sum4:
	FOLD(Y0, Y1, Y2)
	FOLD(Y3, Y4, Y5)
	FOLD(Y6, Y7, Y8)
	FOLD(Y9, Y10, Y11)
	VHADDPS Y3, Y0, Y0
	VHADDPS Y9, Y6, Y6
	VHADDPS Y6, Y0, Y0
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
	ZERO3(Y0, Y1, Y2)
	XORQ BX, BX

main1:
	LEAQ 96(BX), R15
	CMPQ R15, DX
	JGT  rest1
	STEP1(0, Y12, Y0)
	STEP1(32, Y13, Y1)
	STEP1(64, Y14, Y2)
	MOVQ R15, BX
	JMP  main1

rest1:
	LEAQ 32(BX), R15
	CMPQ R15, DX
	JGT  tail1
	STEP1(0, Y12, Y0)
	MOVQ R15, BX
	ADDQ $32, R15
	CMPQ R15, DX
	JGT  tail1
	STEP1(0, Y13, Y1)
	MOVQ R15, BX

tail1:
	CMPQ BX, DX
	JGE  sum1
	VMASKMOVPS (AX)(BX*1), Y15, Y12
	TAIL(R8, Y2)

sum1:
	FOLD(Y0, Y1, Y2)
	VHADDPS Y0, Y0, Y0
	VHADDPS Y0, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS  X1, X0, X0
	VMOVSS  X0, (DI)

done:
	VZEROUPPER
	RET
