//go:build !purego && !race

#include "textflag.h"

// Keys into a sorted pool, AVX-512.
//
//	DI pool    AX keys in it    DX limit    R11 least place so far
//	SI ids     R8 near          CX ids left
//	R9 keys that are good enough, on the stack    BX end of those
//	Z31 MaxInt32 in every 32 bits    Z30 the last key that counts

// func offerAVX512(pool *uint64, n, limit int, ids *uint32, near *int32, count int) (after, first int)
//
// limit is 1 or more, count 1 to 64.
TEXT ·offerAVX512(SB), NOSPLIT, $576-64
	MOVQ pool+0(FP), DI
	MOVQ n+8(FP), AX
	MOVQ limit+16(FP), DX
	MOVQ ids+24(FP), SI
	MOVQ near+32(FP), R8
	MOVQ count+40(FP), CX
	MOVQ DX, R11
	LEAQ keys-576(SP), R9
	MOVQ R9, BX
	MOVL $0x7FFFFFFF, R10
	VPBROADCASTD R10, Z31

	// What is not below the last key of a full pool is not good enough.
	MOVQ $-1, R10
	CMPQ AX, DX
	JLT  bar
	MOVQ -8(DI)(DX*8), R10

bar:
	VPBROADCASTQ R10, Z30

eight:
	// Eight keys, fewer in the end.
	MOVL $0xFF, R12
	CMPQ CX, $8
	JGE  whole
	MOVL $1, R12
	SHLL CX, R12
	DECL R12

whole:
	KMOVW      R12, K1
	VMOVDQU32.Z (SI), K1, Y0
	VMOVDQU32.Z (R8), K1, Y1
	VPSUBD     Y1, Y31, Y1
	VPMOVZXDQ  Y0, Z0
	VPMOVZXDQ  Y1, Z1
	VPSLLQ     $1, Z0, Z0
	VPSLLQ     $32, Z1, Z1
	VPORQ      Z1, Z0, Z0
	VPCMPUQ    $1, Z30, Z0, K1, K2 // less
	VPCOMPRESSQ.Z Z0, K2, Z0 // not to memory, which takes 100 cycles on some processors
	VMOVDQU64  Z0, (BX)
	KMOVW      K2, R12
	POPCNTL    R12, R12
	LEAQ       (BX)(R12*8), BX
	ADDQ       $32, SI
	ADDQ       $32, R8
	SUBQ       $8, CX
	JGT        eight

next:
	CMPQ R9, BX
	JEQ  done
	MOVQ (R9), R10
	ADDQ $8, R9

	// R12 is the place that is free: behind the pool or, where that is full, its last key.
	MOVQ AX, R12
	CMPQ AX, DX
	JLT  grow
	MOVQ DX, R12
	DECQ R12
	CMPQ R10, (DI)(R12*8)
	JCC  next
	JMP  move

grow:
	INCQ AX

move:
	VPBROADCASTQ R10, Z0

	// While all eight keys before the free place are greater, they move up by one.
moves:
	CMPQ R12, $8
	JLT  short
	VMOVDQU64 -64(DI)(R12*8), Z1
	VPCMPUQ   $6, Z0, Z1, K1 // greater
	KMOVW     K1, R13
	VMOVDQU64 Z1, K1, -56(DI)(R12*8)
	CMPL      R13, $0xFF
	JNE       found
	SUBQ      $8, R12
	JMP       moves

short:
	MOVQ  R12, CX
	MOVL  $1, R13
	SHLL  CX, R13
	DECL  R13
	KMOVW R13, K1
	VMOVDQU64.Z (DI), K1, Z1
	VPCMPUQ   $6, Z0, Z1, K1, K1
	KMOVW     K1, R13
	VMOVDQU64 Z1, K1, 8(DI)

found:
	POPCNTL R13, R13
	SUBQ    R13, R12
	MOVQ    R10, (DI)(R12*8)
	CMPQ    R12, R11
	CMOVQLT R12, R11
	JMP     next

done:
	MOVQ AX, after+48(FP)
	MOVQ R11, first+56(FP)
	VZEROUPPER
	RET
