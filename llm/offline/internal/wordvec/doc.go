// Package wordvec is the table of word vectors that the offline embedder sums:
// 8-bit vectors of English words and the index from word forms to them. The table is
// made by ../../train and embedded as words.bin; it is read in place, without a
// copy, and costs next to nothing until a word is looked up.
//
// # Format
//
// All numbers are little endian. Sections follow each other without padding.
//
//	magic    8 bytes      "lrwords1"
//	digest  32 bytes      SHA-256 of all that follows
//	rows     uint32       R, at most 65,536
//	dims     uint32       D, at most 4,096
//	forms    uint32       F, at most 65,535
//	slots    uint32       S, a power of two and more than F
//	letters  uint32       L
//	total    uint32       sum of the counts
//	slot     S * uint16   hash table: 0, or 1 + the number of a form
//	end      F * uint32   where the letters of a form end, ascending; the last is L
//	letter   L bytes      the forms in UTF-8, one after another
//	row      F * uint16   the row of a form
//	count    R * uint32   occurrences of the word in the training text, not 0
//	scale    R * float32  what a component of 1 stands for, finite and positive
//	vector   R * D int8   the vectors
//
// A form begins its search at slot h XOR h>>15 mod S, where h is FNV-1a of 32 bits,
// and goes on to the next slot,
// around the end, until it finds itself or a 0.
package wordvec
