package simd

// A tier is one implementation of every kernel. The best one the processor and the operating system have is
// chosen when the package is loaded.
type tier uint8

const (
	tierGo      tier = iota
	tierAVX2         // AVX2 and FMA
	tierAVXVNNI      // and the 256-bit VPDPBUSD
	tierAVX512       // F, BW, DQ, VL, VNNI and VPOPCNTDQ
	tierNEON
	tierSDOT // NEON and the dot product extension
)

func (t tier) String() string {
	return [...]string{"go", "avx2", "avxvnni", "avx512", "neon", "sdot"}[t]
}

// active is the tier in use: the last of supported. Only tests change it. A variable that the dispatchers switch
// on, rather than function variables, because arguments of an indirect call escape to the heap.
var active = func() tier {
	have := supported()
	return have[len(have)-1]
}()
