package lexical

import "unicode"

// script is the way in which a folded rune becomes part of a term.
type script uint8

const (
	scriptOther    script = iota
	scriptAlphabet        // words with something between them; digits too
	scriptPairs           // characters without a mark between words
	scriptHangul
	scriptMark // joins what is around it
)

// scriptOf tells what a folded rune is.
func scriptOf(r rune) script {
	switch {
	case r < 0x80:
		return asciiScript[r]
	case r < 0x0e00:
	case r >= 0xac00 && r <= 0xd7a3:
		return scriptHangul
	case r >= 0x3400 && r <= 0x9fff, r >= 0x20000 && r <= 0x3ffff, r >= 0xf900 && r <= 0xfaff, // Han
		r >= 0x3041 && r <= 0x30ff && r != '・' && r != 0x30a0, r >= 0x31f0 && r <= 0x31ff, r == '々', r == '〇', // kana
		r >= 0x3099 && r <= 0x309a: // their marks
		if r >= 0x4dc0 && r <= 0x4dff { // hexagrams
			return scriptOther
		}
		return scriptPairs
	case r < 0x0f00, r >= 0x1000 && r <= 0x109f, r >= 0x1780 && r <= 0x17ff: // Thai, Lao, Burmese, Khmer
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			return scriptPairs
		}
	}
	if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) {
		return scriptAlphabet
	}
	return scriptOther
}

var asciiScript = func() (t [128]script) {
	for c := range t {
		switch c {
		case '+', '#': // they got into a run behind the letter that they belong to
			t[c] = scriptAlphabet
		case '_', '-', '.', '/', '\\', ':', '@', '&', '\'', ',':
			t[c] = scriptMark
		default:
			if asciiKind[c] != kindOther {
				t[c] = scriptAlphabet
			}
		}
	}
	return t
}()

// letter is what a rune of a text is to words.
type letter uint8

const (
	letterNone   letter = iota
	letterStable        // NFKC leaves it, and what stands beside it of this kind, as it is
	letterOther         // a part of words, or it becomes one when it is folded
)

func letterOf(r rune) letter {
	switch {
	case r < 0x80:
		if asciiKind[r] == kindOther {
			return letterNone
		}
		return letterStable
	case r >= 0x4e00 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3, r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa,
		r >= 0xc0 && r <= 0xff && r != '×' && r != '÷':
		return letterStable
	case r >= 0x2100 && r <= 0x214f, r >= 0x2460 && r <= 0x24ff, r >= 0x3200 && r <= 0x33ff, // ℃, №, ①, ㎏
		r == softHyphen, r == joiner, r == nonJoiner,
		unicode.IsLetter(r), unicode.IsMark(r), unicode.IsNumber(r):
		return letterOther
	}
	return letterNone
}

func inWord(r rune) bool { return letterOf(r) != letterNone }

const (
	softHyphen = 0x00ad
	nonJoiner  = 0x200c
	joiner     = 0x200d
)

func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' || r == '＇' }
