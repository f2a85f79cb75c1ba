package offline

import "unicode"

// script is the writing system of a rune, as far as segmentation cares.
type script uint8

const (
	scriptOther script = iota
	scriptWord         // letters of alphabets with spaces between words
	scriptDigit
	scriptHan
	scriptKatakana
	scriptHiragana
	scriptHangul
	scriptSpace
)

func scriptOf(r rune) script {
	switch {
	case r < 0x80:
		return asciiScript[r]
	case r == 0xa0 || r == 0x3000 || r == 0x2028 || r == 0x2029:
		return scriptSpace
	case r >= 0x4e00 && r <= 0x9fff, r >= 0x3400 && r <= 0x4dbf, r >= 0x20000 && r <= 0x3ffff, r >= 0xf900 && r <= 0xfaff, r == '々':
		return scriptHan
	case r >= 0x30a1 && r <= 0x30fa || r == 'ー':
		return scriptKatakana
	case r >= 0x3041 && r <= 0x3096:
		return scriptHiragana
	case r >= 0xac00 && r <= 0xd7a3:
		return scriptHangul
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return scriptWord
	case unicode.IsDigit(r):
		return scriptDigit
	case unicode.IsSpace(r):
		return scriptSpace
	}
	return scriptOther
}

// asciiScript spares the common case the range checks.
var asciiScript = func() (t [128]script) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			t[c] = scriptWord
		case c >= '0' && c <= '9':
			t[c] = scriptDigit
		case c == ' ' || c >= '\t' && c <= '\r':
			t[c] = scriptSpace
		}
	}
	return t
}()

func (s script) cjk() bool { return s >= scriptHan && s <= scriptHangul }

// language is the set of rules a text is read by.
type language uint8

const (
	english language = iota // and every other language in an alphabet
	german
	chinese
	japanese
	korean
)

// languageOf guesses from the scripts of the first 64 KiB, and between English
// and German from their function words.
func languageOf(text string) language {
	const look = 64 << 10
	var han, kana, hangul, word, en, de, both int
	start := -1
	for i, r := range text {
		if i > look {
			break
		}
		s := scriptOf(r)
		switch s {
		case scriptHan:
			han++
		case scriptKatakana, scriptHiragana:
			kana++
		case scriptHangul:
			hangul++
		case scriptWord:
			word++
		}
		if s == scriptWord {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && i-start <= 6 {
			switch w := text[start:i]; {
			case w == "die" && !nounFollows(text[i:]), w == "was":
				both++ // words of either language
			case germanHints[w]:
				de++
			case englishHints[w]:
				en++
			}
		}
		start = -1
	}
	// One character of these scripts says about as much as three letters.
	switch cjk := han + kana + hangul; {
	case 3*cjk < word || cjk == 0:
		if de > 0 && de+both > en {
			return german
		}
		return english
	case 2*hangul > cjk:
		return korean
	case 12*kana > cjk:
		return japanese
	}
	return chinese
}

// nounFollows reports whether rest begins with a blank and a capital.
func nounFollows(rest string) bool {
	if rest == "" || rest[0] != ' ' {
		return false
	}
	return unicode.IsUpper(firstRune(rest[1:]))
}

var (
	germanHints  = set(`der die das und ist ein eine einen einem einer den dem des mit von zu auf für nicht sich auch wurde wird sind wer wo wann wie welche was im am vom zum zur aus bei als nach`)
	englishHints = set(`the and is was of to in a an for with by on that this are were it as who when where how which what from at`)
)
