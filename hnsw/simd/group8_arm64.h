// Included by every kernel of rows of codes where two or more are left: it sets R8-R11 to the next four, using R7, R12
// and R13. R4 has the number of rows left, R3 the length of one; R1 has the ids, R2 the base they count from and R5 the
// offset of the last row, or R1 is 0 and R2 the next row. Two or three rows are a group of four whose last ones are
// the same. An id beyond the last row leads to the kernel's label bad.

// ROW makes an id the address of its row.
#define ROW(r) \
	MUL R3, r, r; \
	CMP R5, r; \
	BHI bad; \
	ADD R2, r, r

#define PREFETCH(off) \
	MOVWU off(R7), R12; \
	MADD  R3, R2, R12, R12; \
	PRFM  (R12), PLDL1KEEP; \
	PRFM  64(R12), PLDL1KEEP

	CBZ   R1, range
	MOVWU (R1), R8
	MOVWU 4(R1), R9
	ROW(R8)
	ROW(R9)
	CMP   $4, R4
	BGE   four
	ADD   R4<<2, R1, R7
	MOVWU -4(R7), R10
	ROW(R10)
	MOVD  R10, R11
	B     start

four:
	MOVWU 8(R1), R10
	MOVWU 12(R1), R11
	ROW(R10)
	ROW(R11)
	CMP   $4, R4
	BEQ   start

	// Touch the first two lines of the rows of the next group, or of the last four rows where that is smaller:
	// they are on their way while this group is summed.
	SUB  $4, R4, R7
	MOVD $4, R12
	CMP  R12, R7
	CSEL LT, R7, R12, R7
	ADD  R7<<2, R1, R7
	PREFETCH(0)
	PREFETCH(4)
	PREFETCH(8)
	PREFETCH(12)
	B    start

range:
	// The next row of each stream, or two or three rows that follow one another.
	CMP  $4, R4
	CSEL LT, R3, R14, R7
	MOVD R2, R8
	ADD  R7, R2, R9
	ADD  R7<<1, R8, R10
	ADD  R7<<1, R9, R11
	CSEL LT, R10, R11, R11
	CMP  $3, R4
	CSEL LT, R9, R10, R10
	CSEL LT, R9, R11, R11
