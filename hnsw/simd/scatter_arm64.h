// Included by every kernel of rows where the results of the next row of each stream are in V0. R4 has the number of
// rows left.

	ADD    R15, R6, R7
	ADD    R15<<1, R6, R8
	ADD    R15<<1, R7, R9
	VST1   V0.S[1], (R7)
	VST1   V0.S[2], (R8)
	VST1   V0.S[3], (R9)
	VST1.P V0.S[0], 4(R6)
	ADD    R3, R2
	CMP    $4, R4
	BGE    group

	// Over the other three streams, to the rows left.
	ADD R15<<1, R15, R15
	ADD R15, R6
	ADD R14<<1, R14, R14
	ADD R14, R2
