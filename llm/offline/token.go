package offline

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lightctl/lightrag/llm/offline/internal/poslex"
)

// A token is one word, number, run of one CJK script, or punctuation mark.
type token struct {
	text   string     // substring of the sentence, without a possessive 's
	low    string     // lower-case of text
	start  int32      // byte offsets in the sentence; end includes a possessive
	end    int32      //
	id     int32      // of low, in the vocabulary of the text; 0 without one
	class  class      // of low, in the language of the text
	tag    poslex.Tag // of low, in English
	script script     // scriptOther for punctuation
	space  bool       // white space before it, or first of its sentence
	upper  bool       // begins with an upper-case letter
	caps   bool       // an acronym: at least two capitals, no small letter but a plural s
	ident  bool       // camelCase, snake_case, a.b, /a/b, or letters and digits mixed
}

// maxWord bounds a word in bytes; longer ones are noise and are cut.
const maxWord = 64

// tokenize appends the tokens of a sentence to dst.
func tokenize(dst []token, s string, lang language) []token {
	return (*vocabulary)(nil).tokenize(dst, s, lang)
}

// tokenize appends the tokens of a sentence to dst. What is known of a word is
// looked up once per text; a nil vocabulary remembers nothing, and knows no paths.
func (v *vocabulary) tokenize(dst []token, s string, lang language) []token {
	space := true
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		sc := scriptOf(r)
		if sc == scriptSpace {
			space = true
			i += n
			continue
		}
		end := i + n
		switch {
		case sc == scriptWord || sc == scriptDigit:
			end = wordEnd(s, i)
		case sc.cjk():
			end = runEnd(s, end, sc)
		case v != nil && (r == '/' || r == '~'):
			if e := pathEnd(s, i); e > 0 {
				end, sc = e, scriptWord
			}
		}
		var t token
		if sc == scriptWord || sc == scriptDigit {
			t = v.word(s[i:end], sc, lang)
		} else {
			t = token{text: s[i:end], low: s[i:end], script: sc}
		}
		t.start, t.end, t.space = int32(i), int32(end), space
		dst = append(dst, t)
		space = false
		i = end
	}
	return dst
}

// wordEnd returns the end of the word that begins at i. Apostrophes, hyphens
// and the like belong to a word when a letter or digit follows them.
func wordEnd(s string, i int) int {
	j, dots := i, 0
	for j < len(s) && j-i < maxWord && s[j] < utf8.RuneSelf && asciiScript[s[j]]-1 < scriptDigit {
		j++
	}
	if j < len(s) && asciiSpace(s[j]) {
		return j
	}
	for j < len(s) && j-i < maxWord {
		r, n := utf8.DecodeRuneInString(s[j:])
		if sc := scriptOf(r); sc == scriptWord || sc == scriptDigit {
			j += n
			continue
		}
		if (r == '+' || r == '#') && j-i <= 2 { // C++, C#, F#
			j += n
			continue
		}
		if !strings.ContainsRune("'’-_.&@,", r) || j+n >= len(s) {
			break
		}
		next, _ := utf8.DecodeRuneInString(s[j+n:])
		sc := scriptOf(next)
		if sc != scriptWord && sc != scriptDigit {
			// The point after an initial or inside U.S. belongs to it.
			if r == '.' && (j-i <= 2 && unicode.IsUpper(firstRune(s[i:])) && utf8.RuneCountInString(s[i:j]) == 1 || dots > 0 && j-i < 8) {
				return j + 1
			}
			break
		}
		switch r {
		case ',': // 12,000
			if sc != scriptDigit || s[j-1] < '0' || s[j-1] > '9' {
				return j
			}
		case '.':
			single := j-i == 1 || dots > 0
			if unicode.IsUpper(next) && !single {
				return j // a missing space after a full stop
			}
			dots++
		}
		j += n
	}
	return j
}

func asciiSpace(c byte) bool { return c < utf8.RuneSelf && asciiScript[c] == scriptSpace }

// pathEnd returns the end of the absolute path that begins with the slash or
// tilde at i, or 0: "/etc/fstab" and "~/.profile" are paths, the slashes of
// "and/or" and "https://" are not.
func pathEnd(s string, i int) int {
	if i > 0 && !asciiSpace(s[i-1]) && strings.IndexByte("(\"'`[=,", s[i-1]) < 0 {
		return 0
	}
	j, letters := i+1, 0
	if s[i] == '~' {
		if j == len(s) || s[j] != '/' {
			return 0
		}
		j++
	}
	for ; j < len(s) && j-i < 2*maxWord; j++ {
		c := s[j]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		case c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == '+' || c == '@':
		case c == '/' && s[j-1] != '/':
		default:
			goto done
		}
	}
done:
	for j > i && strings.IndexByte(".-+@/", s[j-1]) >= 0 {
		j--
	}
	if letters < 2 {
		return 0
	}
	return j
}

// runEnd extends a CJK run from j. A middle dot between two Han or katakana
// runs joins the parts of a foreign name.
func runEnd(s string, j int, sc script) int {
	begin := j
	for j < len(s) && j-begin < maxSentence {
		r, n := utf8.DecodeRuneInString(s[j:])
		if r == '·' || r == '・' || r == '‧' {
			if next, _ := utf8.DecodeRuneInString(s[j+n:]); sc != scriptHangul && scriptOf(next) == sc {
				j += n
				continue
			}
			break
		}
		if scriptOf(r) != sc {
			break
		}
		j += n
	}
	return j
}

func (t *token) finishWord(lang language) {
	apostrophe := strings.IndexByte(t.text, '\'') >= 0 || strings.Contains(t.text, "’")
	if apostrophe && lang != german {
		for _, p := range [...]string{"'s", "’s"} {
			if len(t.text) > len(p)+1 {
				t.text = strings.TrimSuffix(t.text, p)
			}
		}
	}
	t.low = strings.ToLower(t.text)
	t.class = classOf(t.low, lang)
	if lang != german {
		t.tag = tagOf(t.low)
		if t.tag.Proper() == poslex.GivenName && !t.tag.Common() {
			t.class |= given
		}
	}
	if apostrophe && contracted(t.low) {
		t.class |= stop
	}
	if t.script == scriptDigit {
		return
	}
	if t.text[0] == '/' || t.text[0] == '~' {
		t.ident = true
		return
	}
	var up, low, digit, other int
	inner := false // a capital after a small letter
	mark := false
	prevLow := false
	for i, r := range t.text {
		switch {
		case unicode.IsUpper(r):
			if i == 0 {
				t.upper = true
			}
			inner = inner || prevLow
			up++
		case unicode.IsLetter(r):
			low++
		case r >= '0' && r <= '9':
			digit++
		default:
			other++
			mark = mark || r == '_' || r == '.' && i < len(t.text)-1 || r == '@'
		}
		prevLow = unicode.IsLower(r)
	}
	t.caps = up >= 2 && (low == 0 || low == 1 && strings.HasSuffix(t.text, "s")) && up+digit+low >= other
	t.ident = !t.caps && (inner && !strings.HasPrefix(t.text, "Mc") && !strings.HasPrefix(t.text, "Mac") && other == 0 || mark && up+low > 2 || digit > 0 && up+low > 0 && other == 0)
	if apostrophe && strings.ContainsAny(t.text, "'’") {
		t.ident = false
	}
}

// contracted reports whether a word is two that have grown together: "I'll".
func contracted(low string) bool {
	k := strings.LastIndexAny(low, "'’")
	if k <= 0 {
		return false
	}
	switch strings.TrimLeft(low[k:], "'’") {
	case "ll", "d", "ve", "re", "m", "t":
		return true
	}
	return false
}

// word reports whether the token is a word of an alphabet.
func (t *token) word() bool { return t.script == scriptWord }

// content reports whether the token is a word that carries meaning.
func (t *token) content() bool {
	return t.script == scriptWord && t.class&(stop|copula) == 0 && len(t.low) > 1
}

// plain reports whether a word is one of the language rather than a name: the
// lexicon has it, and not as a name alone.
func (t *token) plain() bool { return t.tag.Common() || t.class&(stop|copula|common) != 0 }

// whole reports that the word has no possessive.
func (t *token) whole() bool { return int(t.end-t.start) == len(t.text) }

// stem takes the commonest endings off an English or German word, so that
// forms of one word compare equal. It may leave a piece that is no word.
func stem(w string) string {
	if base, ok := irregular[w]; ok {
		return base
	}
	n := len(w)
	switch {
	case n > 5 && (strings.HasSuffix(w, "ies") || strings.HasSuffix(w, "ied")):
		return w[:n-3]
	case n > 6 && strings.HasSuffix(w, "ing"):
		return undouble(strings.TrimSuffix(w[:n-3], "y"))
	case n > 5 && strings.HasSuffix(w, "ed"):
		return undouble(w[:n-2])
	case n > 5 && (strings.HasSuffix(w, "es") || strings.HasSuffix(w, "en")):
		return w[:n-2]
	case n > 4 && (w[n-1] == 'y' || w[n-1] == 'e'):
		return w[:n-1]
	case n > 3 && w[n-1] == 's' && w[n-2] != 's' && w[n-2] != 'u' && w[n-2] != 'i':
		return w[:n-1]
	}
	return w
}

// undouble undoes the doubled consonant of planned and running.
func undouble(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && strings.IndexByte("bdgmnprt", w[n-1]) >= 0 {
		return w[:n-1]
	}
	return w
}
