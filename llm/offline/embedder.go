package offline

import (
	"context"
	"fmt"
	"math"
	"sync"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/lightctl/lightrag/llm"
)

// Dim is the number of components of a vector.
const Dim = 768

// Embedder hashes words and character n-grams into vectors of unit length.
//
// Every word adds its stem, the character 3- to 5-grams of its letters, and the
// pair it makes with the word before; every run of Chinese, Japanese or Korean
// adds its 1- to 3-grams, and Korean words their stem without a particle.
// Function words weigh a tenth, in place of the document frequencies that a
// corpus would give. The n-th occurrence of a feature adds 1/n, so that a count
// c weighs the harmonic number of c, which grows like 1+log c.
// A feature is added with a sign from its own hash (Weinberger et al.,
// "Feature Hashing for Large Scale Multitask Learning", 2009), so that
// collisions cancel on average.
//
// An Embedder is immutable but for a pool of scratch space, and safe for
// concurrent use.
type Embedder struct{ pool sync.Pool }

// NewEmbedder returns the offline embedder.
func NewEmbedder() *Embedder {
	return &Embedder{pool: sync.Pool{New: func() any { return new(hasher) }}}
}

// Info names the vector space. The checksum changes whenever a vector might.
func (*Embedder) Info() llm.EmbedderInfo {
	return llm.EmbedderInfo{Name: "offline-hash-1", Dim: Dim, Checksum: "offline-hash-1.0"}
}

// Embed returns one unit vector of Dim finite components per text, owned by the
// caller. Blank text gives a fixed vector. Queries and documents are embedded
// alike. It fails only when ctx is done.
func (e *Embedder) Embed(ctx context.Context, texts []string, _ llm.Purpose) ([][]float32, error) {
	out := make([][]float32, len(texts))
	h := e.pool.Get().(*hasher)
	defer e.pool.Put(h)
	for i, s := range texts {
		if i%32 == 0 || len(s) > 64<<10 {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("offline: embed: %w", err)
			}
		}
		out[i] = make([]float32, Dim)
		h.embed(out[i], s)
	}
	return out, nil
}

var _ llm.Embedder = (*Embedder)(nil)

// Weights of the kinds of features.
const (
	weightStop   = 0.1
	weightGrams  = 0.7 // all n-grams of one word together, before the root of their number
	weightPair   = 0.25
	weightSymbol = 0.05
)

var weightCJK = [4]float32{0, 0.8, 1, 0.5}

// seenSlots is a power of two. A text of more distinct features than fit loses
// the damping of some, and nothing else.
const seenSlots = 1 << 12

// hasher is the scratch space of one embedding.
type hasher struct {
	v     []float32
	low   []byte // the text in lower case
	epoch uint32
	prev  uint64 // hash of the content word before, or 0
	seen  [seenSlots]struct {
		tag   uint32
		epoch uint32
		n     uint32
	}
	at [maxWord + 4]uint8 // rune starts of a word
}

// embed fills v, which must be zero and of length Dim.
func (h *hasher) embed(v []float32, text string) {
	h.v, h.prev = v, 0
	if h.epoch++; h.epoch == 0 {
		clear(h.seen[:])
		h.epoch = 1
	}
	h.lower(text)
	if len(h.low) > 0 {
		// The buffer is not written again before the string is gone.
		h.words(unsafe.String(&h.low[0], len(h.low)))
	}
	h.normalize()
	h.v = nil
	if cap(h.low) > 1<<20 {
		h.low = nil
	}
}

// lower copies text to h.low in lower case.
func (h *hasher) lower(text string) {
	h.low = h.low[:0]
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			h.low = append(h.low, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		h.low = utf8.AppendRune(h.low, unicode.ToLower(r))
		i += n
	}
}

// words cuts the text into words and runs and adds their features.
func (h *hasher) words(s string) {
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		sc := scriptOf(r)
		switch {
		case sc == scriptSpace:
			i += n
		case sc == scriptOther:
			h.add(hash(s[i:i+n]), weightSymbol)
			i += n
		default:
			j := i + n
			limit := maxWord
			if sc.cjk() {
				limit = 1 << 10
			}
			for j < len(s) && j-i < limit {
				r, n := rune(s[j]), 1
				if r >= utf8.RuneSelf {
					r, n = utf8.DecodeRuneInString(s[j:])
				}
				if next := scriptOf(r); next != sc && !(sc <= scriptDigit && (next == scriptWord || next == scriptDigit)) {
					break
				}
				j += n
			}
			if sc.cjk() {
				h.run(s[i:j], sc)
			} else {
				h.word(s[i:j])
			}
			i = j
		}
	}
}

// word adds the features of one word of an alphabet, at most maxWord+3 bytes.
func (h *hasher) word(w string) {
	c := lexEnglish[w]
	if c&(stop|copula) != 0 || germanHints[w] {
		h.add(hash(w), weightStop*h.damp(hash(w)))
		return
	}
	base := stem(w)
	id := hash(base)
	d := h.damp(id)
	h.add(id, d)
	if h.prev != 0 {
		h.add(h.prev*31+id, weightPair*d)
	}
	h.prev = id
	n := 0
	for i := range w {
		h.at[n] = uint8(i)
		n++
	}
	h.at[n] = uint8(len(w))
	grams := 0
	for k := 3; k <= 5; k++ {
		grams += max(0, n+2-k+1)
	}
	if grams == 0 {
		return
	}
	each := d * weightGrams / float32(math.Sqrt(float64(grams)))
	// Position 0 is the mark before the word, n+1 the one behind it.
	for from := 0; from <= n-1; from++ {
		x := uint64(fnvOffset)
		for k := 1; from+k <= n+2 && k <= 5; k++ {
			switch p := from + k - 1; p {
			case 0:
				x = (x ^ '<') * fnvPrime
			case n + 1:
				x = (x ^ '>') * fnvPrime
			default:
				for b := h.at[p-1]; b < h.at[p]; b++ {
					x = (x ^ uint64(w[b])) * fnvPrime
				}
			}
			if k >= 3 {
				h.add(mix(x), each)
			}
		}
	}
}

// run adds the n-grams of a run of one CJK script.
func (h *hasher) run(w string, sc script) {
	h.prev = 0
	if sc == scriptHangul {
		w, _ = SplitParticle(w)
	}
	faint := float32(1)
	if sc == scriptHiragana || sc == scriptHangul && koreanStop[w] {
		faint = 0.3 // mostly grammar
	}
	for i := 0; i < len(w); {
		x := uint64(fnvOffset)
		j, step := i, 0
		weak := float32(1)
		for k := 1; k <= 3 && j < len(w); k++ {
			_, n := utf8.DecodeRuneInString(w[j:])
			if sc == scriptHan && hanFaint[w[j:j+n]] {
				weak *= 0.4
			}
			for end := j + n; j < end; j++ {
				x = (x ^ uint64(w[j])) * fnvPrime
			}
			if k == 1 {
				step = n
			}
			id := mix(x)
			h.add(id, weightCJK[k]*weak*faint*h.damp(id))
		}
		i += step
	}
}

// damp returns 1/n for the n-th occurrence of a feature in this text.
func (h *hasher) damp(id uint64) float32 {
	tag := uint32(id >> 32)
	at := id & (seenSlots - 1)
	for range 8 {
		s := &h.seen[at]
		if s.epoch != h.epoch {
			s.epoch, s.tag, s.n = h.epoch, tag, 1
			return 1
		}
		if s.tag == tag {
			s.n++
			return 1 / float32(s.n)
		}
		at = (at + 1) & (seenSlots - 1)
	}
	return 1
}

// add puts a feature on one component with a sign. The conversion keeps the
// product behind w from being fused into the sum, so that every platform rounds
// alike.
func (h *hasher) add(id uint64, w float32) {
	at := uint64(uint32(id)) * Dim >> 32
	sign := [2]float32{w, -w}
	h.v[at] += float32(sign[id>>39&1])
}

// normalize scales the vector to unit length; one without direction becomes the
// first axis.
func (h *hasher) normalize() {
	sum := 0.0
	for _, x := range h.v {
		sum += float64(float64(x) * float64(x))
	}
	if !(sum > 1e-12) {
		clear(h.v)
		h.v[0] = 1
		return
	}
	k := 1 / math.Sqrt(sum)
	for i, x := range h.v {
		h.v[i] = float32(float64(x) * k)
	}
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// hash is FNV-1a with a finalizer, since all of its bits are used.
func hash(s string) uint64 {
	x := uint64(fnvOffset)
	for i := 0; i < len(s); i++ {
		x = (x ^ uint64(s[i])) * fnvPrime
	}
	return mix(x)
}

func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0x9e3779b97f4a7c15
	x ^= x >> 29
	x *= 0xbf58476d1ce4e5b9
	return x ^ x>>32
}

// hanFaint holds the characters that mark grammar rather than meaning.
var hanFaint = func() map[string]bool {
	m := make(map[string]bool)
	for _, r := range hanCuts {
		m[string(r)] = true
	}
	return m
}()
