//go:build !purego && !race

#include "textflag.h"

// Inner products of signed query bytes with unsigned row bytes, AVX-VNNI: what AVX-512 VNNI does, in 256 bits,
// on processors without AVX-512.
//
//	AX query    BX offset in the row    CX rows left    DX row length, a multiple of 64
//	SI ids, or 0    DI out    R8-R11 rows of this group    R12 base, or next row    R13 offset of the last row

// DPBUSD is VPDPBUSD in its VEX form, which the assembler lacks: acc += u*s, all of them numbers of Y
// registers, acc below 8 and s from 8 up.
#define DPBUSD(s, u, acc) \
	BYTE $0xC4; \
	BYTE $0xC2; \
	BYTE $(0x05|(15-u)<<3); \
	BYTE $0x50; \
	BYTE $(0xC0|acc<<3|(s-8))

// HALF4 multiplies 32 bytes at an offset, query bytes in Y8, with those of four rows.
#define HALF4(off, a, b, c, d) \
	VMOVDQU off(AX)(BX*1), Y8; \
	VMOVDQU off(R8)(BX*1), Y9; \
	VMOVDQU off(R9)(BX*1), Y10; \
	VMOVDQU off(R10)(BX*1), Y11; \
	VMOVDQU off(R11)(BX*1), Y12; \
	DPBUSD(8, 9, a); \
	DPBUSD(8, 10, b); \
	DPBUSD(8, 11, c); \
	DPBUSD(8, 12, d)

#define HALF1(off, a) \
	VMOVDQU off(AX)(BX*1), Y8; \
	VMOVDQU off(R8)(BX*1), Y9; \
	DPBUSD(8, 9, a)

#define ZERO4(a, b, c, d) \
	VPXOR a, a, a; \
	VPXOR b, b, b; \
	VPXOR c, c, c; \
	VPXOR d, d, d

#define STRIDE DX

// func dot8RowsAVXVNNI(q *uint8, ids *uint32, base unsafe.Pointer, last, stride, n, ahead, touch int, bias int32, out *int32) bool
//
// The n rows are those of the ids, of which row 0 is at base and the last one last bytes further or, where ids is
// nil, those at base, base+stride, ... bias is taken from each sum. It returns false, having written some of out, when
// an id is beyond the last row.
TEXT ·dot8RowsAVXVNNI(SB), NOSPLIT, $16-81
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
	ZERO4(Y0, Y1, Y2, Y3)
	ZERO4(Y4, Y5, Y6, Y7)
	XORQ BX, BX

main4:
	HALF4(0, 0, 2, 4, 6)
	HALF4(32, 1, 3, 5, 7)
	ADDQ $64, BX
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
	HALF1(0, 0)
	HALF1(32, 1)
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
	MOVB $1, ret+80(FP)
	VZEROUPPER
	RET

bad:
	MOVB $0, ret+80(FP)
	VZEROUPPER
	RET
