package lexical

import (
	"unicode"
	"unicode/utf8"

	"github.com/lightctl/lightrag/llm/offline"
)

// part is a piece of a run: runes of one script.
type part struct {
	start, end int
	script     script
	mark       byte // what joins it to the part before; 0 = nothing
}

// cut emits the terms of c.run.
func (c *cutter) cut(source string) {
	c.split()
	for i := 0; i < len(c.parts); {
		p := c.parts[i]
		switch p.script {
		case scriptHangul:
			c.hangul(p, source)
			i++
		case scriptPairs:
			c.pairs(c.run[p.start:p.end])
			i++
		default:
			end := i + 1
			for end < len(c.parts) && c.parts[end].script == scriptAlphabet && c.parts[end].mark != 0 {
				end++
			}
			c.compound(c.parts[i:end])
			i = end
		}
	}
}

// split finds the parts of c.run. Commas, which stand inside numbers only, go.
func (c *cutter) split() {
	c.parts = c.parts[:0]
	run := c.run
	var mark byte
	now := scriptOther // of the part that is open
	to := 0
	for i := 0; i < len(run); {
		r, size := utf8.DecodeRune(run[i:])
		s := scriptOf(r)
		switch {
		case r == ',' && now == scriptAlphabet:
		case s == scriptMark && now != scriptOther && r != ',':
			now, mark = scriptOther, byte(r)
		case s == scriptMark, s == scriptOther: // a mark joins one part to one other
			now, mark = scriptOther, 0
		default:
			if s != now {
				c.parts = append(c.parts, part{start: to, script: s, mark: mark})
				now, mark = s, 0
			}
			to += copy(run[to:], run[i:i+size])
			c.parts[len(c.parts)-1].end = to
		}
		i += size
	}
}

// compound emits parts of alphabets that marks join: the whole, what stands
// between stronger marks, and each part.
func (c *cutter) compound(parts []part) {
	if n := len(parts); n > 1 && parts[n-1].mark == '\'' && parts[n-1].end-parts[n-1].start == 1 && c.run[parts[n-1].start]|0x20 == 's' {
		parts = parts[:n-1] // a possessive
	}
	if len(parts) == 1 {
		c.atom(c.run[parts[0].start:parts[0].end])
		return
	}
	c.joined(parts)
	for i := 0; i < len(parts); {
		end := i + 1
		for end < len(parts) && !divides(parts[end].mark) {
			end++
		}
		if end-i > 1 && end-i < len(parts) {
			c.joined(parts[i:end])
		}
		for ; i < end; i++ {
			p := parts[i]
			elided := p.end-p.start == 1 && (p.mark == '\'' || i+1 < len(parts) && parts[i+1].mark == '\'')
			if !elided {
				c.atom(c.run[p.start:p.end])
			}
		}
	}
}

func divides(mark byte) bool { return mark == '/' || mark == '\\' || mark == ':' || mark == '@' }

// joined emits parts as one term, if it is no longer than a term may be. Marks
// stay between digits, where 1.5 is not 15.
func (c *cutter) joined(parts []part) {
	w := c.whole[:0]
	for i, p := range parts {
		if i > 0 && (p.mark == '&' || digitOf(c.run[p.start]) && digitOf(c.run[parts[i-1].end-1])) {
			w = append(w, p.mark)
		}
		w = appendLower(w, clipped(c.run[p.start:p.end]))
		if len(w) > MaxTerm {
			c.whole = w
			return
		}
	}
	c.whole = w
	c.yield(stem(w))
}

func digitOf(c byte) bool { return c >= '0' && c <= '9' }

// atom emits a word, and the words that its capitals divide it into.
func (c *cutter) atom(word []byte) {
	c.lower(word)
	if len(word) > MaxTerm {
		return
	}
	start := 0
	for i := 1; i < len(word); i++ {
		if hump(word, i) {
			c.hump(word[start:i])
			start = i
		}
	}
	if start > 0 {
		c.hump(word[start:])
	}
}

func (c *cutter) hump(w []byte) {
	if len(w) > 1 {
		c.lower(w)
	}
}

// hump reports whether a word inside a word begins at i: the capital behind a
// small letter or digit, and the last one of several that small letters follow,
// unless these are the s of a plural.
func hump(w []byte, i int) bool {
	if asciiKind[w[i]] != kindUpper {
		return false
	}
	switch asciiKind[w[i-1]] {
	case kindLower, kindDigit:
		return true
	case kindUpper:
		rest := w[i+1:]
		return len(rest) > 0 && asciiKind[rest[0]] == kindLower && !(rest[0] == 's' && (len(rest) == 1 || asciiKind[rest[1]] != kindLower))
	}
	return false
}

// lower emits a word of an alphabet.
func (c *cutter) lower(w []byte) {
	c.yield(stem(bounded(appendLower(c.term[:0], clipped(w)))))
}

// clipped spares lowering much more than a term.
func clipped(w []byte) []byte { return w[:min(len(w), 2*MaxTerm)] }

// bounded cuts a term to MaxTerm bytes of whole runes.
func bounded(t []byte) []byte {
	if len(t) <= MaxTerm {
		return t
	}
	n := MaxTerm
	for n > 0 && !utf8.RuneStart(t[n]) {
		n--
	}
	return t[:n]
}

func appendLower(dst, w []byte) []byte {
	for i := 0; i < len(w); {
		switch b := w[i]; {
		case b >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(w[i:])
			if r != utf8.RuneError { // a rune that clipped has cut
				dst = utf8.AppendRune(dst, unicode.ToLower(r))
			}
			i += size
			continue
		case asciiKind[b] == kindUpper:
			dst = append(dst, b|0x20)
		default:
			dst = append(dst, b)
		}
		i++
	}
	return dst
}

// hangul emits a Korean word without its particle, and the pairs of its
// syllables where there are more than two.
func (c *cutter) hangul(p part, source string) {
	w := c.run[p.start:p.end]
	var bare string
	if p.end <= len(source) && source[p.start:p.end] == string(w) { // as in the text, which spares a copy
		bare, _ = offline.SplitParticle(source[p.start:p.end])
	} else {
		bare, _ = offline.SplitParticle(string(w))
	}
	w = w[:len(bare)]
	if len(w) > 2*syllable {
		if len(w) <= MaxTerm {
			c.yield(w)
		}
		c.pairs(w)
		return
	}
	c.yield(w)
}

const syllable = 3 // bytes

// pairs emits neighbouring characters two by two, one that stands alone as it
// is.
func (c *cutter) pairs(w []byte) {
	_, before := utf8.DecodeRune(w)
	if before == len(w) {
		c.yield(w)
		return
	}
	for i := 0; i+before < len(w); {
		_, size := utf8.DecodeRune(w[i+before:])
		c.yield(w[i : i+before+size])
		i += before
		before = size
	}
}
