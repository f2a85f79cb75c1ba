//go:build !purego && !race

#include "textflag.h"

// COUNT counts the bits in which a row differs from the query words in Z16. K1 has the words that count.
#define COUNT(row, z) \
	VPXORQ.Z row, Z16, K1, z; \
	VPOPCNTQ z, z

#define ADDCOUNT(row, z) \
	VPXORQ   row, Z16, Z17; \
	VPOPCNTQ Z17, Z17; \
	VPADDQ   Z17, z, z

// PAIR adds the even and the odd words of a and b: a's sums in even words, b's in odd ones.
#define PAIR(a, b) \
	VPUNPCKLQDQ b, a, Z17; \
	VPUNPCKHQDQ b, a, a; \
	VPADDQ      Z17, a, a

// HALVES adds parts 0 and 1, and 2 and 3, of a and b, which have four: a's sums in the lower half, b's in the upper.
#define HALVES(a, b) \
	VSHUFI64X2 $0x88, b, a, Z17; \
	VSHUFI64X2 $0xDD, b, a, a; \
	VPADDQ     Z17, a, a

// func hammingRowsAVX512(q, rows *uint64, words, n int, out *int32)
//
// The n rows of words uint64 each follow one another; out gets the number of bits in which each differs from q. Eight
// rows at a time: each has its count in eight parts, which are added up for all eight at once. The first step of a
// row loads what its length leaves over whole steps of eight words, or eight.
//
//	AX query    SI row 0 of eight    R12 row 4    DX bytes of a row    R13 three times as many    DI out
//	CX rows left    R8 bytes of the first step    BX query, moving    R9 steps left    R10, R11 rows 0 and 4, moving
TEXT ·hammingRowsAVX512(SB), NOSPLIT, $0-40
	MOVQ q+0(FP), AX
	MOVQ rows+8(FP), SI
	MOVQ words+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ out+32(FP), DI
	LEAQ -1(DX), R15 // whole steps behind the first, times eight
	LEAQ -1(DX), R8
	ANDQ $7, R8
	INCQ R8
	MOVQ CX, R10
	MOVL $1, R9
	MOVQ R8, CX
	SHLL CX, R9
	DECL R9
	KMOVW R9, K1
	MOVQ R10, CX
	SHLQ $3, R8
	SHRQ $3, R15
	SHLQ $3, DX
	LEAQ (DX)(DX*2), R13
	VMOVDQU64.Z (AX), K1, Z18 // the query's first step

eight:
	CMPQ CX, $8
	JLT  one
	LEAQ (SI)(DX*4), R12
	VMOVDQA64 Z18, Z16
	COUNT((SI), Z0)
	COUNT((SI)(DX*1), Z1)
	COUNT((SI)(DX*2), Z2)
	COUNT((SI)(R13*1), Z3)
	COUNT((R12), Z4)
	COUNT((R12)(DX*1), Z5)
	COUNT((R12)(DX*2), Z6)
	COUNT((R12)(R13*1), Z7)
	MOVQ  R15, R9
	TESTQ R9, R9
	JZ    sum
	LEAQ  (AX)(R8*1), BX
	LEAQ  (SI)(R8*1), R10
	LEAQ  (R12)(R8*1), R11

step:
	VMOVDQU64 (BX), Z16
	ADDCOUNT((R10), Z0)
	ADDCOUNT((R10)(DX*1), Z1)
	ADDCOUNT((R10)(DX*2), Z2)
	ADDCOUNT((R10)(R13*1), Z3)
	ADDCOUNT((R11), Z4)
	ADDCOUNT((R11)(DX*1), Z5)
	ADDCOUNT((R11)(DX*2), Z6)
	ADDCOUNT((R11)(R13*1), Z7)
	ADDQ $64, BX
	ADDQ $64, R10
	ADDQ $64, R11
	DECQ R9
	JNZ  step

sum:
	PAIR(Z0, Z1)
	PAIR(Z2, Z3)
	PAIR(Z4, Z5)
	PAIR(Z6, Z7)
	HALVES(Z0, Z2)
	HALVES(Z4, Z6)
	HALVES(Z0, Z4)
	VPMOVQD Z0, Y0
	VMOVDQU Y0, (DI)
	ADDQ $32, DI
	LEAQ (R12)(DX*4), SI
	SUBQ $8, CX
	JMP  eight

one:
	TESTQ CX, CX
	JZ    done
	VMOVDQA64 Z18, Z16
	COUNT((SI), Z0)
	MOVQ  R15, R9
	TESTQ R9, R9
	JZ    sum1
	LEAQ  (AX)(R8*1), BX
	LEAQ  (SI)(R8*1), R10

step1:
	VMOVDQU64 (BX), Z16
	ADDCOUNT((R10), Z0)
	ADDQ $64, BX
	ADDQ $64, R10
	DECQ R9
	JNZ  step1

sum1:
	VEXTRACTI64X4 $1, Z0, Y1
	VPADDQ  Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDQ  X1, X0, X0
	VPSHUFD $0x4E, X0, X1
	VPADDQ  X1, X0, X0
	VMOVD   X0, (DI)
	ADDQ $4, DI
	ADDQ DX, SI
	DECQ CX
	JMP  one

done:
	VZEROUPPER
	RET
