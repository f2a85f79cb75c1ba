package format

import "math"

func (f *fields) stringMap() map[string]string {
	c, n := f.list(2)
	m := make(map[string]string, n)
	last := ""
	for i := range n {
		k := c.text("")
		if i > 0 && k <= last {
			c.fail("map keys out of order")
		}
		last = k
		m[k] = c.text("")
	}
	f.endList(&c)
	return m
}

func (f *fields) hashes(dst [][32]byte) [][32]byte {
	b := f.bytes()
	if len(b)%32 != 0 {
		f.fail("not a whole number of hashes")
		return dst[:0]
	}
	dst = resize(dst, len(b)/32)
	for i := range dst {
		copy(dst[i][:], b[32*i:])
	}
	return dst
}

func (f *fields) counts(dst []Count) []Count {
	c, n := f.list(2)
	dst = resize(dst, n)
	for i := range dst {
		dst[i] = Count{Value: c.text(dst[i].Value), N: uint32(c.upto(1<<32 - 1))}
	}
	f.endList(&c)
	return dst
}

func (f *fields) floats(dst []float32) []float32 {
	b := f.bytes()
	if len(b)%4 != 0 {
		f.fail("not a whole number of floats")
		return dst[:0]
	}
	dst = resize(dst, len(b)/4)
	for i := range dst {
		dst[i] = math.Float32frombits(le.Uint32(b[4*i:]))
	}
	return dst
}

func (f *fields) fragmentKey() FragmentKey {
	b := f.bytes()
	if len(b) != fragmentSize {
		f.fail("not a fragment key")
		return FragmentKey{}
	}
	k := decodeFragmentKey(b)
	if k == (FragmentKey{}) {
		f.fail("zero field")
	}
	return k
}
