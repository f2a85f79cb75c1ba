// Included by every kernel of rows of codes where two or more are left: it sets R8-R11 to the next four, and BX and
// R15 are free to be used. CX has the number of rows left, DX the length of one; SI has the ids, R12 the base they
// count from and R13 the offset of the last row, or SI is 0 and R12 the next row. Two or three rows are a group of
// four whose last ones are the same. An id beyond the last row leads to the kernel's label bad.

// ROW makes an id the address of its row.
#define ROW(r) \
	IMULQ DX, r; \
	CMPQ  r, R13; \
	JHI   bad; \
	ADDQ  R12, r

#define PREFETCH(off) \
	MOVL  off(R15), BX; \
	IMULQ DX, BX; \
	PREFETCHT0 (R12)(BX*1); \
	PREFETCHT0 64(R12)(BX*1)

	TESTQ SI, SI
	JZ    range

	MOVL (SI), R8
	MOVL 4(SI), R9
	MOVL -4(SI)(CX*4), R10
	ROW(R8)
	ROW(R9)
	CMPQ CX, $4
	JGE  four
	ROW(R10)
	MOVQ R10, R11
	JMP  start

four:
	MOVL 8(SI), R10
	MOVL 12(SI), R11
	ROW(R10)
	ROW(R11)
	CMPQ CX, $4
	JEQ  start

	// Touch the first two lines of the rows of the next group, or of the last four rows where that is smaller:
	// they, and their pages, are on the way while this group is summed. More lines gain nothing on rows of six
	// lines and crowd out other misses on longer ones; the hardware follows from the second on.
	MOVQ $4, R15
	LEAQ -4(CX), BX
	CMPQ BX, R15
	CMOVQLT BX, R15
	LEAQ (SI)(R15*4), R15
	PREFETCH(0)
	PREFETCH(4)
	PREFETCH(8)
	PREFETCH(12)
	JMP  start

range:
	// The next row of each stream, or two or three rows that follow one another.
	MOVQ R12, R8
	MOVQ apart-8(SP), R15
	CMPQ CX, $4
	CMOVQLT DX, R15
	LEAQ (R8)(R15*1), R9
	LEAQ (R8)(R15*2), R10
	LEAQ (R9)(R15*2), R11
	CMPQ CX, $3
	CMOVQLT R9, R10
	CMPQ CX, $4
	CMOVQLT R10, R11

