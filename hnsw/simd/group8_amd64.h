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

// AHEAD makes the id at an offset from R15 the address of its row, whether there is one or not.
#define AHEAD(off, r) \
	MOVL  off(R15), r; \
	IMULQ DX, r; \
	ADDQ  R12, r

	TESTQ SI, SI
	JZ    range

	// Ask for the first bytes, in the kernel's argument touch, of the four rows that are ahead of the next one by as
	// many as the argument of that name says, or of the last four rows: they, and their pages, are on the way while those
	// before them are multiplied. A kernel that waits for what it reads has few requests under way at a time.
	MOVQ ahead+48(FP), R15
	CMPQ R15, CX
	JGE  rows
	LEAQ -4(CX), BX
	CMPQ BX, R15
	CMOVQLT BX, R15
	LEAQ (SI)(R15*4), R15
	AHEAD(0, R8)
	AHEAD(4, R9)
	AHEAD(8, R10)
	AHEAD(12, R11)
	XORQ BX, BX
	MOVQ touch+56(FP), R15

line:
	PREFETCHT0 (R8)(BX*1)
	PREFETCHT0 (R9)(BX*1)
	PREFETCHT0 (R10)(BX*1)
	PREFETCHT0 (R11)(BX*1)
	ADDQ $64, BX
	CMPQ BX, R15
	JLT  line

rows:
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
