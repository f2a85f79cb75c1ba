package llm

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// bpe is a byte-pair tokenizer of OpenAI. Its time is linear in the text up to a
// logarithm, whatever the text.
type bpe struct {
	name  string
	codec func() tokenizer.Codec
	known memo[[]uint32] // where the tokens of words end
	texts memo[int]      // how many tokens texts have: descriptions are counted with each change of their owner
	// pieces cuts printable ASCII into what is merged on its own; nil: the codec does.
	pieces func(s string, yield func(piece string))
}

// pieceBytes is the length from which a text is handed to the codec in pieces.
const pieceBytes = 512

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

func newBPE(name string, enc tokenizer.Encoding, pieces func(string, func(string))) *bpe {
	return &bpe{name: name, pieces: pieces, known: newMemo[[]uint32](1<<16, 96), texts: newMemo[int](1<<13, 1024), codec: sync.OnceValue(func() tokenizer.Codec {
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
		for _, end := range t.word(w) {
			yield(from + int(end))
		}
		from += len(w)
	})
}

// word returns the offset at which each token of a word ends.
func (t *bpe) word(w string) []uint32 {
	if ends, ok := t.known.get(w); ok {
		return ends
	}
	if t.pieces == nil || !printable(w) {
		return t.known.put(w, t.split(w))
	}
	var ends []uint32
	from := 0
	t.pieces(w, func(p string) {
		of, ok := t.known.get(p)
		if !ok {
			of = t.known.put(p, t.split(p))
		}
		for _, end := range of {
			ends = append(ends, uint32(from)+end)
		}
		from += len(p)
	})
	return t.known.put(w, ends)
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
	atLines(s, pieceBytes, func(p string) {
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
	if n, ok := t.texts.get(s); ok {
		return n
	}
	total := 0
	words(validUTF8(s), func(w string) { total += len(t.word(w)) })
	return t.texts.put(s, total)
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
