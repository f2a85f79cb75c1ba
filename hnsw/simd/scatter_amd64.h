// Included by every kernel of rows where the results of the next row of each stream are in X0. CX has the number of
// rows left.

	MOVQ outApart-16(SP), R15
	LEAQ (DI)(R15*2), R8
	VMOVSS X0, (DI)
	VEXTRACTPS $1, X0, (DI)(R15*1)
	VEXTRACTPS $2, X0, (R8)
	VEXTRACTPS $3, X0, (R8)(R15*1)
	ADDQ $4, DI
	ADDQ STRIDE, R12
	CMPQ CX, $4
	JGE  group

	// Over the other three streams, to the rows left.
	LEAQ (R15)(R15*2), R15
	ADDQ R15, DI
	MOVQ apart-8(SP), R15
	LEAQ (R15)(R15*2), R15
	ADDQ R15, R12
