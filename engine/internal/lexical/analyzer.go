package lexical

import (
	"sync"
	"unicode/utf8"
)

// MaxTerm is the length in bytes of the longest term. Longer words are cut.
const MaxTerm = 64

// Analyzer cuts texts into terms, the same way for documents and questions:
//
//   - Words of alphabets, in Unicode NFKC, lower case, without diacritics; an
//     English plural or possessive ending is taken off.
//   - Identifiers and other compounds ("graph-RAG", snake_case, CamelCase, host
//     names, paths, 1.5, AT&T, C++) whole, without what joins their parts but
//     between digits, and their parts: however one is written, the terms are nearly
//     the same.
//   - Chinese and Japanese as pairs of neighbouring characters, one that stands
//     alone as itself; so too other scripts that do not divide words.
//   - Korean words without their particle, and the pairs of their syllables.
//
// No word is left out, however common it is. A term has at most MaxTerm bytes,
// is valid UTF-8, and never holds a NUL or a space. The zero value is ready to use, safe for
// concurrent use, and allocates nothing in proportion to the text.
type Analyzer struct{}

// Name returns the name of these rules. It changes whenever any text gives other
// terms.
func (Analyzer) Name() string { return "lexical-1" }

// Terms calls yield for every occurrence of a term, in the order of the text.
// The term is lent until yield returns.
func (Analyzer) Terms(text string, yield func(term []byte)) {
	c := cutters.Get().(*cutter)
	c.yield = yield
	for i, n := 0, len(text); i < n; {
		if asciiKind[text[i]] == kindOther {
			i++
			continue
		}
		start, plain := i, true
		for i < n {
			k := asciiKind[text[i]]
			if k == kindLower {
				i++
				continue
			}
			if k == kindUpper && i == start {
				i++
				continue
			}
			plain = false
			break
		}
		if plain || asciiKind[text[i]] == kindOther && !joined(text, i) {
			c.word(text[start:i])
			continue
		}
		end, form := runEnd(text, i)
		if end == start { // it begins with a rune that is no part of a word
			_, size := utf8.DecodeRuneInString(text[start:])
			i = start + size
			continue
		}
		i = end
		c.run = c.run[:0]
		if form == runASCII {
			c.run = append(c.run, text[start:end]...)
		} else {
			c.run = c.fold.append(c.run, text[start:end], form == runStable)
		}
		c.cut(text[start:end])
	}
	c.yield = nil
	c.shrink()
	cutters.Put(c)
}

// eachRun calls yield with the bounds of the runs of text: what stands between
// spaces and marks that join nothing, until yield returns false. Terms never span two
// of them.
func eachRun(text string, yield func(start, end int) bool) {
	for i := 0; i < len(text); {
		if asciiKind[text[i]] == kindOther {
			i++
			continue
		}
		end, _ := runEnd(text, i)
		if end == i {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		if !yield(i, end) {
			return
		}
		i = end
	}
}

// runForm says how a run is brought into its normal form.
type runForm uint8

const (
	runASCII  runForm = iota
	runStable         // it is in NFKC
	runOther
)

// runEnd returns where the run that begins at or before i ends.
func runEnd(text string, i int) (end int, form runForm) {
	for i < len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			switch letterOf(r) {
			case letterStable:
				form = max(form, runStable)
			case letterOther:
				form = runOther
			default:
				if !isApostrophe(r) || !joined(text, i) {
					return i, form
				}
				form = runOther
			}
			i += size
			continue
		}
		if asciiKind[c] == kindOther && !joined(text, i) {
			break
		}
		i++
	}
	return i, form
}

// joined reports whether the mark at i joins the characters around it into one
// run, or belongs to the name of a language: C++, F#.
func joined(text string, i int) bool {
	if i == 0 {
		return false
	}
	size := 1
	switch c := text[i]; c {
	case '_', '-', '.', '/', '\\', ':', '@', '&', '\'':
	case ',':
		return groupOfThousand(text, i)
	case '+', '#':
		return ofLanguage(text, i)
	default:
		r, n := utf8.DecodeRuneInString(text[i:])
		if !isApostrophe(r) {
			return false
		}
		size = n
	}
	if i+size >= len(text) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+size:])
	return inWord(before) && inWord(after)
}

// groupOfThousand reports whether the comma at i stands before exactly three
// digits: 12,000.
func groupOfThousand(text string, i int) bool {
	if !digitAt(text, i-1) {
		return false
	}
	for k := 1; k <= 3; k++ {
		if !digitAt(text, i+k) {
			return false
		}
	}
	return !digitAt(text, i+4)
}

func digitAt(text string, i int) bool {
	return i >= 0 && i < len(text) && text[i] >= '0' && text[i] <= '9'
}

// ofLanguage reports whether the mark at i is that of C++, C#, F# and the like:
// behind one letter that stands alone.
func ofLanguage(text string, i int) bool {
	end := i + 1
	switch {
	case text[i] == '#':
	case i+1 < len(text) && text[i+1] == '+':
		end++
	case text[i-1] == '+':
		i--
	default:
		return false
	}
	if k := asciiKind[text[i-1]]; k != kindUpper && k != kindLower || i > 1 && wordAt(text[i-2]) {
		return false
	}
	return end >= len(text) || !wordAt(text[end]) && text[end] != '+' && text[end] != '#'
}

func wordAt(c byte) bool { return c >= utf8.RuneSelf || asciiKind[c] != kindOther }

// What a byte of a text is.
const (
	kindOther byte = iota
	kindLower
	kindUpper
	kindDigit
	kindWide // part of a rune beyond ASCII
)

var asciiKind = func() (t [256]byte) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = kindLower
		case c >= 'A' && c <= 'Z':
			t[c] = kindUpper
		case c >= '0' && c <= '9':
			t[c] = kindDigit
		case c >= utf8.RuneSelf:
			t[c] = kindWide
		}
	}
	return t
}()

// cutter is the scratch of one call.
type cutter struct {
	yield func([]byte)
	fold  folder
	run   []byte // the run, folded
	term  [2*MaxTerm + utf8.UTFMax]byte
	whole []byte
	parts []part
}

var cutters = sync.Pool{New: func() any { return new(cutter) }}

// keepScratch bounds what a cutter keeps between calls.
const keepScratch = 64 << 10

func (c *cutter) shrink() {
	if cap(c.run) > keepScratch || cap(c.fold.normal) > keepScratch || cap(c.parts) > keepScratch/16 {
		c.run, c.whole, c.parts, c.fold = nil, nil, nil, folder{}
	}
}

// word emits a word of ASCII letters of which only the first may be a capital.
func (c *cutter) word(w string) {
	n := copy(c.term[:MaxTerm], w)
	if c.term[0] <= 'Z' {
		c.term[0] |= 0x20
	}
	c.yield(stem(c.term[:n]))
}
