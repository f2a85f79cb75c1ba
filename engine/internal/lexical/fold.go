package lexical

import (
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folder brings text to Unicode NFKC and takes the diacritics off letters of
// alphabets. Case stays: it shows where the parts of a name begin.
type folder struct {
	iter   norm.Iter // a member, so that no run allocates one
	normal []byte
}

// append appends the folded form of s to dst. normal says that s is known to be
// in NFKC.
func (f *folder) append(dst []byte, s string, normal bool) []byte {
	if normal || norm.NFKC.QuickSpanString(s) == len(s) {
		return appendFolded(dst, s)
	}
	f.normal = f.normal[:0]
	for f.iter.InitString(norm.NFKC, s); !f.iter.Done(); {
		f.normal = append(f.normal, f.iter.Next()...)
	}
	f.iter.InitString(norm.NFKC, "") // lets go of s
	return appendFolded(dst, f.normal)
}

func appendFolded[T string | []byte](dst []byte, s T) []byte {
	letters := plainLetters()
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			dst = append(dst, s[i])
			i++
			continue
		}
		r, size := decode(s[i:])
		if r >= 0x3041 && r <= 0xd7a3 { // nothing is taken off these
			dst = append(dst, s[i:i+size]...)
			i += size
			continue
		}
		i += size
		switch {
		case int(r) < len(letters.low):
			r = rune(letters.low[r])
		case r >= extended && int(r) < extended+len(letters.extended):
			r = rune(letters.extended[r-extended])
		case isApostrophe(r):
			r = '\''
		case r == nonJoiner, r == joiner:
			continue
		}
		if r == dropped {
			continue
		}
		if two := twoLetters(r); two != "" {
			dst = append(dst, two...)
			continue
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

func decode[T string | []byte](s T) (rune, int) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	var b [utf8.UTFMax]byte
	n := copy(b[:], s)
	return utf8.DecodeRune(b[:n])
}

const (
	extended = 0x1e00 // Latin and Greek letters with marks, up to 0x1fff
	dropped  = 0      // marks and what cannot be seen: they leave nothing
)

// letterTable holds what letters are without marks.
type letterTable struct {
	low      [0x0700]uint16
	extended [0x0200]uint16
}

// plainLetters is worked out when the first letter beyond ASCII is met.
var plainLetters = sync.OnceValue(func() *letterTable {
	t := new(letterTable)
	for r := range t.low {
		t.low[r] = plainLetter(rune(r))
	}
	for r := range t.extended {
		t.extended[r] = plainLetter(rune(r + extended))
	}
	return t
})

func plainLetter(r rune) uint16 {
	switch {
	case r >= 0x0300 && r <= 0x036f, // diacritics
		r >= 0x0591 && r <= 0x05bd, r == 0x05bf, r == 0x05c1, r == 0x05c2, r == 0x05c4, r == 0x05c5, r == 0x05c7, // Hebrew points
		r >= 0x0610 && r <= 0x061a, r >= 0x064b && r <= 0x065f, r == 0x0670, r == 0x0640, // Arabic vowels, tatweel
		r == softHyphen:
		return dropped
	}
	if p, ok := barred[r]; ok {
		return uint16(p)
	}
	if d := norm.NFD.PropertiesString(string(r)).Decomposition(); d != nil {
		base, _ := utf8.DecodeRune(d)
		if p, ok := barred[base]; ok {
			base = p
		}
		return uint16(base)
	}
	return uint16(r)
}

// barred letters have no decomposition.
var barred = map[rune]rune{
	'ø': 'o', 'Ø': 'O', 'đ': 'd', 'Đ': 'D', 'ð': 'd', 'Ð': 'D', 'ł': 'l', 'Ł': 'L', 'ħ': 'h', 'Ħ': 'H', 'ı': 'i',
	'ŧ': 't', 'Ŧ': 'T', 'ŋ': 'n', 'Ŋ': 'N', 'ς': 'σ', 'ə': 'e', 'Ə': 'E', 'ʼ': '\'',
	'أ': 'ا', 'إ': 'ا', 'آ': 'ا', 'ى': 'ي',
}

// twoLetters returns what a ligature stands for.
func twoLetters(r rune) string {
	switch r {
	case 'ß', 'ẞ':
		return "ss"
	case 'æ', 'Æ':
		return "ae"
	case 'œ', 'Œ':
		return "oe"
	case 'þ', 'Þ':
		return "th"
	}
	return ""
}
