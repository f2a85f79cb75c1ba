// Package simd holds the distance kernels of the vector index.
//
// Everything is an inner product of float32 vectors of equal length: on unit vectors that is the cosine.
// [Dot] takes one pair; [DotMany] takes one query and many rows of a [Matrix], which is the shape both a
// graph walk (the neighbours of one node) and an exact scan (a block of rows) ask for.
//
// On amd64 a dot product is github.com/viterin/vek/vek32, which uses AVX2 and FMA when the processor has
// them. Elsewhere, with the build tag purego, and in race builds (the detector cannot see into assembly) it is
// plain Go with four accumulators. Inside one build Dot and DotMany give bit-identical results for
// identical rows, which is what makes ties between equal vectors exact.
package simd
