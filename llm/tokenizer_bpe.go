package llm

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// bpe is a byte-pair tokenizer of OpenAI. Its time is linear in the text up to a
// logarithm, whatever the text.
type bpe struct {
	name  string
	codec func() tokenizer.Codec
	known *wordMemo
}

// pieceBytes is the length from which a text is handed to the codec in pieces.
const pieceBytes = 512

// pieces cuts s where no token can cross, at least size bytes apart: after a
// line break that other white space follows. The codec takes one token at a time
// off a run of lines of blanks and looks through the whole rest of the run for
// each, so that its time would be quadratic; elsewhere it is linear.
func pieces(s string, size int, yield func(string)) {
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

func newBPE(name string, enc tokenizer.Encoding) *bpe {
	return &bpe{name: name, known: &wordMemo{seed: maphash.MakeSeed()}, codec: sync.OnceValue(func() tokenizer.Codec {
		c, err := tokenizer.Get(enc)
		if err != nil {
			return nil // not for the encodings of NewTokenizer; see ends
		}
		return c
	})}
}

func (t *bpe) Name() string { return t.name }

// walk yields the byte offset at which each token of s, valid UTF-8, ends. The
// tokens cover s: the codec's splitting leaves out a character here and there
// (a control character before a letter, say), and such a one is one token.
func (t *bpe) walk(s string, yield func(end int)) {
	from := 0
	words(s, func(w string) {
		known := t.known.get(w)
		if known == nil {
			known = t.known.put(w, t.split(w))
		}
		for _, end := range known.ends {
			yield(from + int(end))
		}
		from += len(w)
	})
}

// words cuts s before each blank that stands behind a letter, digit or mark. No
// token crosses such a place: the expressions that split a text for a codec have
// a blank at the beginning of a match or among other white space only, and none
// looks back.
func words(s string, yield func(string)) {
	from := 0
	for i := 1; i < len(s); i++ {
		if s[i] != ' ' {
			continue
		}
		switch c := s[i-1]; {
		case c <= ' ' || c == 0x7f:
			continue
		case c >= utf8.RuneSelf:
			if r, _ := utf8.DecodeLastRuneInString(s[:i]); !unicode.IsLetter(r) {
				continue
			}
		}
		yield(s[from:i])
		from = i
	}
	if from < len(s) {
		yield(s[from:])
	}
}

// split returns the offset at which each token of s ends.
func (t *bpe) split(s string) []uint32 {
	var ends []uint32
	from := 0
	pieces(s, pieceBytes, func(p string) {
		at := 0
		skip := func() {
			_, n := utf8.DecodeRuneInString(p[at:])
			at += n
			ends = append(ends, uint32(from+at))
		}
		for _, tok := range t.encode(p) {
			for at < len(p) && !strings.HasPrefix(p[at:], tok) {
				skip()
			}
			if at < len(p) {
				at += len(tok)
				ends = append(ends, uint32(from+at))
			}
		}
		for at < len(p) {
			skip()
		}
		from += len(p)
	})
	return ends
}

// wordMemo remembers how words were split. It is a table without buckets: a
// word has one place, and the last one there is remembered. Reading takes no lock.
// A text is counted many times over its life, and most of its words were
// counted before.
type wordMemo struct {
	seed  maphash.Seed
	slots [1 << 15]atomic.Pointer[splitWord]
}

type splitWord struct {
	text string
	ends []uint32
}

const maxMemoWord = 96 // bytes; bounds what is remembered to a few MB

func (m *wordMemo) slot(w string) *atomic.Pointer[splitWord] {
	return &m.slots[maphash.String(m.seed, w)%uint64(len(m.slots))]
}

func (m *wordMemo) get(w string) *splitWord {
	if len(w) > maxMemoWord {
		return nil
	}
	if k := m.slot(w).Load(); k != nil && k.text == w {
		return k
	}
	return nil
}

func (m *wordMemo) put(w string, ends []uint32) *splitWord {
	if len(w) > maxMemoWord {
		return &splitWord{ends: ends}
	}
	k := &splitWord{strings.Clone(w), ends}
	m.slot(w).Store(k)
	return k
}

// ends returns the byte offset at which each token of s, valid UTF-8, ends.
func (t *bpe) ends(s string) []int {
	out := make([]int, 0, len(s)/3+1)
	t.walk(s, func(end int) { out = append(out, end) })
	return out
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

func (t *bpe) Count(s string) int {
	total := 0
	t.walk(validUTF8(s), func(int) { total++ })
	return total
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
