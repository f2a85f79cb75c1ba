// Included by every kernel of rows before its first group. Rows that follow one another are read as four streams, a
// quarter of them each, so that every stream runs through memory as the hardware expects; what is left of them
// comes last. apart is the distance of the streams, and of their results, in bytes.

	MOVQ CX, R15
	SHRQ $2, R15
	LEAQ (R15*4), R8
	MOVQ R8, outApart-16(SP)
	IMULQ STRIDE, R15
	MOVQ R15, apart-8(SP)
