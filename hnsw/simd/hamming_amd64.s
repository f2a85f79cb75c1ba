//go:build !purego && !race

#include "textflag.h"

// func hammingRowsAVX512(q, rows *uint64, words, n int, out *int32)
//
// The n rows of words uint64 each follow one another; out gets the number of bits in which each differs from q.
// The last step of a row loads only the words that are left of it.
TEXT ·hammingRowsAVX512(SB), NOSPLIT, $0-40
	MOVQ q+0(FP), AX
	MOVQ rows+8(FP), SI
	MOVQ words+16(FP), DX
	MOVQ n+24(FP), R9
	MOVQ out+32(FP), DI
	MOVQ DX, CX
	DECQ CX
	ANDQ $7, CX
	MOVL $2, R8
	SHLL CX, R8
	DECL R8
	KMOVW R8, K1 // 1 to 8 words of the last step
	LEAQ 8(CX*8), R10 // their bytes
	DECQ DX
	SHRQ $3, DX // full steps before it

row:
	TESTQ R9, R9
	JZ    done
	VPXORD Z0, Z0, Z0
	MOVQ  AX, BX
	MOVQ  DX, CX

step:
	TESTQ CX, CX
	JZ    tail
	VMOVDQU64 (SI), Z1
	VPXORQ    (BX), Z1, Z1
	VPOPCNTQ  Z1, Z1
	VPADDQ    Z1, Z0, Z0
	ADDQ $64, SI
	ADDQ $64, BX
	DECQ CX
	JMP  step

tail:
	VMOVDQU64.Z (SI), K1, Z1
	VMOVDQU64.Z (BX), K1, Z2
	VPXORQ      Z2, Z1, Z1
	VPOPCNTQ    Z1, Z1
	VPADDQ      Z1, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPADDQ  Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDQ  X1, X0, X0
	VPSHUFD $0x4E, X0, X1
	VPADDQ  X1, X0, X0
	VMOVD   X0, (DI)
	ADDQ $4, DI
	ADDQ R10, SI
	DECQ R9
	JMP  row

done:
	VZEROUPPER
	RET
