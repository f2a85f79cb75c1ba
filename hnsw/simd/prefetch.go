package simd

// Prefetch asks for the two cache lines, 128 bytes, of words from index at on: a list that is to be read soon. It
// takes a nanosecond or two, waits for nothing, and does nothing where there is no such index.
func Prefetch(words []uint32, at int) {
	if uint(at) < uint(len(words)) {
		prefetch32(&words[at])
	}
}

// PrefetchWrite is [Prefetch] for words that are to be written soon: other processors give up their copies meanwhile, for
// which the first write would wait.
func PrefetchWrite(words []uint32, at int) {
	if uint(at) < uint(len(words)) {
		prefetchWrite(&words[at])
	}
}
