// Included by every kernel of rows where two or more are left: it sets R8-R11 to the next four, and R8-R13, R15 and
// BX are free to be used. CX has the number of rows left, SI the row pointers or 0, R12 the next row otherwise.
// Two or three rows are a group of four whose last ones are the same. The kernel defines STRIDE, the register
// with the distance of rows.

#define PREFETCH(r) \
	PREFETCHT0 (r); \
	PREFETCHT0 64(r)

	TESTQ SI, SI
	JZ    range

	MOVQ (SI), R8
	MOVQ 8(SI), R9
	MOVQ -8(SI)(CX*8), R10
	MOVQ R10, R11
	CMPQ CX, $4
	JLT  start
	MOVQ 16(SI), R10
	MOVQ 24(SI), R11
	JEQ  start

	// Touch the first two lines of the rows of the next group, or of the last four rows where that is smaller:
	// they, and their pages, are on the way while this group is summed. More lines gain nothing on rows of six
	// lines and crowd out other misses on longer ones; the hardware follows from the second on.
	MOVQ $4, R15
	LEAQ -4(CX), BX
	CMPQ BX, R15
	CMOVQLT BX, R15
	LEAQ (SI)(R15*8), R15
	MOVQ (R15), BX
	PREFETCH(BX)
	MOVQ 8(R15), BX
	PREFETCH(BX)
	MOVQ 16(R15), BX
	PREFETCH(BX)
	MOVQ 24(R15), BX
	PREFETCH(BX)
	JMP  start

range:
	// The next row of each stream, or two or three rows that follow one another.
	MOVQ R12, R8
	MOVQ apart-8(SP), R15
	CMPQ CX, $4
	CMOVQLT STRIDE, R15
	LEAQ (R8)(R15*1), R9
	LEAQ (R8)(R15*2), R10
	LEAQ (R9)(R15*2), R11
	CMPQ CX, $3
	CMOVQLT R9, R10
	CMPQ CX, $4
	CMOVQLT R10, R11

