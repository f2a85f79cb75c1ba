// Package simd holds the distance kernels of the vector index.
//
// Everything is an inner product: on unit vectors that is the cosine. [Dot] takes one pair of float32 vectors; [DotMany]
// one query and any rows of a [Matrix], which is the shape of a step in a graph walk; [DotRange] one query and rows that
// follow one another, the shape of an exact scan. [Dot8], [DotMany8] and [DotRange8] do the same with a [Query8] and the
// one-byte codes of a [Matrix8], a quarter of the memory to read; [ScanRange8] keeps only large products. Codes are made
// by turning unit vectors with a [Rotator] and rounding them with [Quantise], all with the one factor [UnitScale].
// [Signs] and [HammingRange] keep one bit of each element. [Prefetch] asks for what is to be read soon, [PrefetchWrite]
// for what is to be written.
//
// # Tiers
//
// Kernels are assembly: for amd64 with AVX2 and FMA, with 256-bit VNNI besides, and with AVX-512 (VNNI and
// VPOPCNTDQ included); for arm64 with NEON, and with its dot product instructions. The best tier the processor
// has is chosen when the package is loaded. Elsewhere, with the build tag purego, and in race builds (the
// detector cannot see into assembly) everything is plain Go.
//
//	                             avx2   avxvnni  avx512   neon   sdot
//	Dot DotMany DotRange          x        =       x        x      =
//	Dot8 DotMany8 DotRange8       x        x       x        x      x
//	Rotate                        x        =       =        x      =
//	Quantise Query8.Load          x        =       =        x      =
//	Norm Scale                    x        =       =       (plain Go)
//	ScanRange8's comparison       x        =       x       (plain Go)
//	HammingRange              (plain Go)           x       (plain Go)
//	Offer                     (plain Go)           x       (plain Go)
//
// # Equality
//
// Dot, DotMany and DotRange give bit-identical results for identical rows: ties between equal vectors are exact.
// Between tiers float32 products differ by rounding. All else is the same everywhere, bit by bit: products of
// codes are exact integers; Rotate, Quantise, Norm and Scale round the same operations in the same order.
//
// # vek
//
// github.com/viterin/vek/vek32 has good single AVX2 kernels, and the element-wise product in Rotate is its
// Mul_Inplace. Its Dot is as fast per pair as the AVX2 one here, but four rows at once take half the time (a query
// element is loaded once for four rows, whose cache misses overlap), and to round like those, Dot must be
// their sibling. It has no products of bytes, no AVX-512, and plain Go on arm64. The benchmarks compare.
//
//	go test -run '^$' -bench 'DotMany$' -benchtime 50ms ./hnsw/simd
package simd
