// Included by every kernel of rows before its first group. Rows that follow one another are read as four streams, a
// quarter of them each, so that every stream runs through memory as the hardware expects; what is left of them
// comes last. R14 is the distance of the streams, R15 that of their results, in bytes.

	LSR $2, R4, R15
	MUL R3, R15, R14
	LSL $2, R15
