//go:build !purego && !race

#include "textflag.h"

// Inner products of signed query bytes with unsigned row bytes, AVX2.
//
// VPMADDUBSW multiplies unsigned bytes with signed ones and adds pairs of products in 16 bits, where they saturate: so
// the unsigned ones have to be small. Let x be a row byte less 128 and q a query byte. VPXOR with 0x80 makes the row
// byte x, and with 0x7F -1-x. Where q is not negative, |q| times the first is qx; where it is, |q| times the other is
// qx-|q|. Two such products are within -2*128*128 and 2*128*127: they never saturate. VPMADDWD with ones widens
// the sum. The sum of |q| where q is negative is the same for every row. foldAVX2 makes the bytes |q|, and then those to
// be combined with the row.
//
//	AX |q|    R15 what makes row bytes signed    BX offset in both and in the row    CX rows left
//	DX row length, a multiple of 64    SI ids, or 0    DI out    R8-R11 rows of this group
//	R12 base, or next row    R13 offset of the last row

// MUL adds the products of 32 bytes of a row to a; the query's are in Y8 and Y9.
#define MUL(off, r, t, a) \
	VPXOR      off(r)(BX*1), Y9, t; \
	VPMADDUBSW t, Y8, t; \
	VPMADDWD   Y14, t, t; \
	VPADDD     t, a, a

#define HALF4(off, a, b, c, d) \
	VMOVDQU off(AX)(BX*1), Y8; \
	VMOVDQU off(R15)(BX*1), Y9; \
	MUL(off, R8, Y10, a); \
	MUL(off, R9, Y11, b); \
	MUL(off, R10, Y12, c); \
	MUL(off, R11, Y13, d)

#define HALF1(off, a) \
	VMOVDQU off(AX)(BX*1), Y8; \
	VMOVDQU off(R15)(BX*1), Y9; \
	MUL(off, R8, Y10, a)

#define ZERO4(a, b, c, d) \
	VPXOR a, a, a; \
	VPXOR b, b, b; \
	VPXOR c, c, c; \
	VPXOR d, d, d

#define STRIDE DX

// func dot8RowsAVX2(q *uint8, ids *uint32, base unsafe.Pointer, last, stride, n, ahead, touch int, bias int32, out *int32) bool
//
// q is folded. The n rows are those of the ids, of which row 0 is at base and the last one last bytes further or, where
// ids is nil, those at base, base+stride, ... bias is taken from each sum. It returns false, having written some of out,
// when an id is beyond the last row.
TEXT ·dot8RowsAVX2(SB), NOSPLIT, $16-81
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
	VPCMPEQW Y14, Y14, Y14
	VPSRLW   $15, Y14, Y14
	#include "streams_amd64.h"

group:
	CMPQ  CX, $1
	JLE   single
#include "group8_amd64.h"

start:
	ZERO4(Y0, Y2, Y4, Y6)
	LEAQ (AX)(DX*1), R15
	XORQ BX, BX

main4:
	HALF4(0, Y0, Y2, Y4, Y6)
	HALF4(32, Y0, Y2, Y4, Y6)
	ADDQ $64, BX
	CMPQ BX, DX
	JLT  main4

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
	LEAQ  (AX)(DX*1), R15
	XORQ  BX, BX

main1:
	HALF1(0, Y0)
	HALF1(32, Y1)
	ADDQ $64, BX
	CMPQ BX, DX
	JLT  main1

	VPADDD Y1, Y0, Y0
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

// func foldAVX2(dst, q *uint8, n int) int64
//
// dst has the n absolute values of the signed bytes of q and behind them, for each, 0x80 or, where it is negative, 0x7F.
// It returns the sum of the negative ones. n is a multiple of 64, above zero.
TEXT ·foldAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ q+8(FP), SI
	MOVQ n+16(FP), CX
	MOVL $0x80808080, AX
	VMOVD AX, X3
	VPBROADCASTD X3, Y3
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	LEAQ (DI)(CX*1), DX

loop:
	VMOVDQU  (SI), Y4
	VPCMPGTB Y4, Y0, Y5 // negative
	VPABSB   Y4, Y6
	VPAND    Y6, Y5, Y7
	VPSADBW  Y0, Y7, Y7
	VPADDQ   Y7, Y1, Y1
	VPXOR    Y3, Y5, Y5
	VMOVDQU  Y6, (DI)
	VMOVDQU  Y5, (DX)
	ADDQ $32, SI
	ADDQ $32, DI
	ADDQ $32, DX
	SUBQ $32, CX
	JNZ  loop

	VEXTRACTI128 $1, Y1, X2
	VPADDQ  X2, X1, X1
	VPSHUFD $0x4E, X1, X2
	VPADDQ  X2, X1, X1
	VPSUBQ  X1, X0, X1
	VMOVQ   X1, ret+24(FP)
	VZEROUPPER
	RET
