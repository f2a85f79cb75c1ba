package llm

import (
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// bpe is a byte-pair tokenizer of OpenAI. Its time is linear in the text up to a
// logarithm, whatever the text.
//
// Two ways lead to the same tokens. The codec's is slow, most of all where it
// meets other than English; fast splits by tables of classes and merges by a table of
// the vocabulary. To make that table takes as long as the codec takes for
// warmBytes of text, so it is made when so much has been read: a process that
// asks one question does without, and none loses more than it gains.
type bpe struct {
	name  string
	split splitter
	codec func() tokenizer.Codec
	ranks func() *ranks
	read  atomic.Int64 // bytes of text so far, no more than needed to know that it pays
	texts memo[int]    // how many tokens texts have: descriptions are counted with each change of their owner
	known memo[uint64] // where the tokens of pieces end that are none: bit n is set if byte n is the last of one
}

const (
	// pieceBytes is the length from which a text is handed to the codec in pieces.
	pieceBytes = 512
	// warmBytes is how much text is left to the codec.
	warmBytes = 1 << 18
	// knownBytes is the length to which a piece is remembered.
	knownBytes = 64
)

func newBPE(name string, enc tokenizer.Encoding, split splitter) *bpe {
	t := &bpe{name: name, split: split, texts: newMemo[int](1<<13, 1024), known: newMemo[uint64](1<<15, knownBytes)}
	t.codec = sync.OnceValue(func() tokenizer.Codec {
		c, err := tokenizer.Get(enc)
		if err != nil {
			return nil // not for the encodings of NewTokenizer; see encode
		}
		return c
	})
	t.ranks = sync.OnceValue(func() *ranks {
		if c := t.codec(); c != nil {
			return newRanks(c)
		}
		return nil
	})
	return t
}

func (t *bpe) Name() string { return t.name }

// table returns the vocabulary once it pays to have it, else nil; n bytes are
// going to be read.
func (t *bpe) table(n int) *ranks {
	if t.read.Load() < warmBytes && t.read.Add(int64(n)) < warmBytes {
		return nil
	}
	return t.ranks()
}

// walk yields the byte offset at which each token of s, valid UTF-8, ends. The
// tokens cover s: the codec's splitting leaves out a character here and there,
// and such a one is one token.
func (t *bpe) walk(s string, yield func(end int)) {
	if r := t.table(len(s)); r != nil {
		t.fast(r, s, yield)
	} else {
		t.slow(s, yield)
	}
}

// fast is walk by our own tables.
func (t *bpe) fast(r *ranks, s string, yield func(end int)) {
	c := classes{runeClasses()}
	for i := 0; i < len(s); {
		end := t.split(c, s, i)
		t.piece(r, s[i:end], i, yield)
		i = end
	}
}

// piece yields from + the offset at which each token of a piece ends.
func (t *bpe) piece(r *ranks, p string, from int, yield func(end int)) {
	if r.rank(p, 0, len(p)) != noRank {
		yield(from + len(p))
		return
	}
	if len(p) <= knownBytes {
		for ends := t.pieceEnds(r, p); ends != 0; ends &= ends - 1 {
			yield(from + bits.TrailingZeros64(ends) + 1)
		}
		return
	}
	m := mergers.Get().(*merger)
	for _, end := range m.merge(r, p) {
		yield(from + int(end))
	}
	mergers.Put(m)
}

// pieceEnds returns where the tokens of a piece of at most knownBytes end, as
// they are remembered.
func (t *bpe) pieceEnds(r *ranks, p string) uint64 {
	if ends, ok := t.known.get(p); ok {
		return ends
	}
	m := mergers.Get().(*merger)
	set := uint64(0)
	for _, end := range m.merge(r, p) {
		set |= 1 << (end - 1)
	}
	mergers.Put(m)
	return t.known.put(p, set)
}

// countFast returns how many ends fast yields.
func (t *bpe) countFast(r *ranks, s string) (n int) {
	c := classes{runeClasses()}
	for i := 0; i < len(s); {
		end := t.split(c, s, i)
		switch {
		case r.rank(s, i, end) != noRank:
			n++
		case end-i <= knownBytes:
			n += bits.OnesCount64(t.pieceEnds(r, s[i:end]))
		default:
			m := mergers.Get().(*merger)
			n += len(m.merge(r, s[i:end]))
			mergers.Put(m)
		}
		i = end
	}
	return n
}

// slow is walk by the codec.
func (t *bpe) slow(s string, yield func(end int)) {
	from := 0
	atLines(s, pieceBytes, func(p string) {
		at := 0
		skip := func() {
			_, n := utf8.DecodeRuneInString(p[at:])
			at += n
			yield(from + at)
		}
		for _, tok := range t.encode(p) {
			for at < len(p) && !strings.HasPrefix(p[at:], tok) {
				skip()
			}
			if at < len(p) {
				at += len(tok)
				yield(from + at)
			}
		}
		for at < len(p) {
			skip()
		}
		from += len(p)
	})
}

// atLines cuts s where no token can cross, at least size bytes apart: after a
// line break that other white space follows. The codec takes one token at a time
// off a run of lines of blanks and looks through the whole rest of the run for
// each, so that its time would be quadratic; elsewhere it is linear.
func atLines(s string, size int, yield func(string)) {
	from := 0
	for i := size; i < len(s); i++ {
		if c := s[i-1]; c != '\n' && c != '\r' {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(s[i:]); r != '\n' && r != '\r' && unicode.IsSpace(r) {
			yield(s[from:i])
			from = i
			i += size - 1
		}
	}
	yield(s[from:])
}

// encode returns the tokens of s, none if the codec fails.
func (t *bpe) encode(s string) []string {
	if c := t.codec(); c != nil {
		if _, tokens, err := c.Encode(s); err == nil {
			return tokens
		}
	}
	return nil
}

// ends returns the byte offset at which each token of s, valid UTF-8, ends.
func (t *bpe) ends(s string) []int {
	out := make([]int, 0, len(s)/3+1)
	t.walk(s, func(end int) { out = append(out, end) })
	return out
}

func (t *bpe) Count(s string) int {
	if n, ok := t.texts.get(s); ok {
		return n
	}
	n := 0
	if r := t.table(len(s)); r != nil {
		n = t.countFast(r, validUTF8(s))
	} else {
		t.slow(validUTF8(s), func(int) { n++ })
	}
	return t.texts.put(s, n)
}

func (t *bpe) Cut(s string, max int) string {
	if len(s) <= max && utf8.ValidString(s) { // no token is shorter than a byte
		return s
	}
	if max <= 0 {
		return ""
	}
	valid := validUTF8(s)
	ends := t.ends(valid)
	if len(ends) <= max {
		return s
	}
	// A prefix may tokenise otherwise than it did inside the text. Nearly always
	// that makes it shorter; if not, cut again.
	head := valid[:runeStart(valid, ends[max-1])]
	for n := max - 1; n > 0 && t.Count(head) > max; n-- {
		head = valid[:runeStart(valid, ends[n-1])]
	}
	if t.Count(head) > max {
		return ""
	}
	if len(valid) == len(s) {
		return head
	}
	return runePrefix(s, utf8.RuneCountInString(head))
}

func (t *bpe) Windows(s string, size, overlap int) []Window {
	s = validUTF8(s)
	ends := t.ends(s)
	edge := func(token int) int { // byte offset of a token's beginning
		if token == 0 {
			return 0
		}
		return runeStart(s, ends[token-1])
	}
	out := make([]Window, 0, 8)
	for _, w := range spans(len(ends), size, overlap) {
		// Windows of fewer tokens than a character has bytes may hold none.
		if from, to := edge(w.from), edge(w.to); from < to {
			out = append(out, Window{Text: s[from:to], Tokens: w.to - w.from})
		}
	}
	return out
}

// runeStart moves i, an offset into s, back to the beginning of its rune.
func runeStart(s string, i int) int {
	for i < len(s) && i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}
