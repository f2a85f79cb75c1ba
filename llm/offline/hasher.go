package offline

import (
	"maps"
	"math"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/lightctl/lightrag/llm/offline/internal/wordvec"
)

// seenSlots is a power of two. A text of more distinct features than fit loses
// the damping of some, and nothing else.
const seenSlots = 1 << 12

// hasher is the scratch space of one embedding.
type hasher struct {
	table  *wordvec.Table
	static []float32 // the static half
	hashed []float32 // the hashed half, and in the end the vector
	known  float32   // weight of the words that the table knows
	all    float32   // and of all words

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
	h.hashed, h.known, h.all, h.prev = v, 0, 0, 0
	clear(h.static)
	if h.epoch++; h.epoch == 0 {
		clear(h.seen[:])
		h.epoch = 1
	}
	h.lower(text)
	if len(h.low) > 0 {
		// The buffer is not written again before the string is gone.
		h.words(unsafe.String(&h.low[0], len(h.low)))
	}
	h.join()
	h.hashed = nil
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
			h.add(hash(s[i:i+n]), 0, weightSymbol)
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

// word adds one word of an alphabet, at most maxWord+3 bytes, to both halves.
func (h *hasher) word(w string) {
	behind := len(h.static)
	if faint[w] {
		id := hash(w)
		h.add(id, behind, weightStop*h.damp(id))
		return
	}
	base := stem(w)
	id := hash(base)
	d := h.damp(id)
	if row, ok := rowOf(h.table, w); ok {
		share := h.table.Share(row)
		weight := float32(d * float32(commonStatic/(commonStatic+share)))
		h.table.Add(h.static, row, weight)
		h.known += weight
		h.all += weight
		d *= float32(commonHashed / (commonHashed + share))
	} else {
		h.all += d
	}
	for k := range uint64(wordCopies) {
		h.add(mix(id+k), behind, d*weightWord)
	}
	if h.prev != 0 {
		h.add(h.prev*31+id, behind, d*weightPair)
	}
	h.prev = id
	h.grams(base, d)
}

// faint words are mostly grammar.
var faint = func() map[string]bool {
	words := maps.Clone(germanHints)
	for w, c := range lexEnglish {
		if c&(stop|copula) != 0 {
			words[w] = true
		}
	}
	maps.DeleteFunc(words, func(w string, _ bool) bool { return weighty[w] })
	return words
}()

// weighty words stand in questions and as determiners, so that the extractor
// passes over them, but a text may be about them: how common they are says the
// table.
var weighty = set(`list new first second third last next near like give tell say explain describe let
	one two three four five six seven eight nine ten hundred thousand million billion`)

// grams adds the n-grams of the characters of a word.
func (h *hasher) grams(w string, weight float32) {
	n := 0
	for i := range w {
		h.at[n] = uint8(i)
		n++
	}
	h.at[n] = uint8(len(w))
	grams := 0
	for k := shortGram; k <= longGram; k++ {
		grams += max(0, n+2-k+1)
	}
	if grams == 0 {
		return
	}
	each := weight * weightGrams / float32(math.Sqrt(float64(grams)))
	// Position 0 is the mark before the word, n+1 the one behind it.
	for from := 0; from <= n-1; from++ {
		x := uint64(fnvOffset)
		for k := 1; from+k <= n+2 && k <= longGram; k++ {
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
			if k >= shortGram {
				h.add(mix(x), len(h.static), each)
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
	grammar := float32(1)
	if sc == scriptHiragana || sc == scriptHangul && koreanStop[w] {
		grammar = 0.3
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
			h.add(id, 0, weightCJK[k]*weak*grammar*h.damp(id))
			if k == 1 {
				h.all += float32(0.5 * weak)
			}
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
func (h *hasher) add(id uint64, from int, w float32) {
	at := from + int(uint64(uint32(id))*uint64(Dim-from)>>32)
	sign := [2]float32{w, -w}
	h.hashed[at] += float32(sign[id>>39&1])
}

// join gives each half its part of a vector of unit length. A text of no words
// becomes the first axis.
func (h *hasher) join() {
	v, part := h.hashed, 0.0
	if h.known > 0 {
		part = weightStatic * float64(h.known) / float64(h.all)
	}
	if !scale(h.static, math.Sqrt(part)) {
		part = 0
	}
	scale(v, math.Sqrt(1-part))
	for i, x := range h.static {
		v[i] += x
	}
	if !scale(v, 1) {
		v[0] = 1
	}
}

// scale gives v a length, or zeroes it and returns false if it has no direction.
func scale(v []float32, to float64) bool {
	sum := 0.0
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	if !(sum > 1e-12) {
		clear(v)
		return false
	}
	k := to / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * k)
	}
	return true
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
