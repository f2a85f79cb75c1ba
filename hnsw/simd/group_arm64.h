// Included by every kernel of rows where two or more are left: it sets R8-R11 to the next four, using R7, R12 and
// R13. R4 has the number of rows left, R1 the row pointers or 0, R2 the next row otherwise, R3 their distance.
// Two or three rows are a group of four whose last ones are the same.

#define PREFETCH(r) \
	PRFM (r), PLDL1KEEP; \
	PRFM 64(r), PLDL1KEEP

	CBZ  R1, range
	LDP  (R1), (R8, R9)
	ADD  R4<<3, R1, R7
	MOVD -8(R7), R10
	MOVD R10, R11
	CMP  $4, R4
	BLT  start
	LDP  16(R1), (R10, R11)
	BEQ  start

	// Touch the first two lines of the rows of the next group, or of the last four rows where that is smaller:
	// they are on their way while this group is summed.
	SUB  $4, R4, R7
	MOVD $4, R12
	CMP  R12, R7
	CSEL LT, R7, R12, R7
	ADD  R7<<3, R1, R7
	LDP  (R7), (R12, R13)
	PREFETCH(R12)
	PREFETCH(R13)
	LDP  16(R7), (R12, R13)
	PREFETCH(R12)
	PREFETCH(R13)
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
