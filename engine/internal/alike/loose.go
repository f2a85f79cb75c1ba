package alike

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/lightctl/lightrag/llm/offline"
)

// A Change names what Loose left out of a name.
type Change string

// What Loose leaves out.
const (
	Accents  Change = "accents"
	Article  Change = "article"
	Title    Change = "title"
	Legal    Change = "legal form"
	Plural   Change = "plural"
	Particle Change = "particle"
	Spaces   Change = "spaces"
)

// Form is a name in its loose normal form.
type Form struct {
	Text    string
	Changes []Change // beyond those of Key
	Title   string   // the titles left out, folded
}

var (
	articles = set("the a an le la les l der die das el los las il lo gli")
	titles   = set("mr mrs ms miss mister dr doctor prof professor sir madam madame lord lady king queen prince princess president " +
		"senator rev reverend fr father st saint captain capt col colonel gen general lt sgt hon judge justice herr frau monsieur mme mlle señor señora don")
	suffixes = set("jr sr phd md esq")
	legal    = set("inc incorporated ltd limited llc llp plc corp corporation co company gmbh ag kg sa sas srl spa bv nv oy ab as kk pty")

	hangulTitles = strings.Fields("대통령 국무총리 총리 장관 교수 박사 선생님 선생 회장 사장 대표 감독 작가 의원 기자 여사 씨 님")
	hangulLegal  = strings.Fields("주식회사 유한회사 재단법인 사단법인")
	hanLegal     = strings.Fields("股份有限公司 有限责任公司 有限公司 株式会社 有限会社 公司")
	hanTitles    = strings.Fields("先生 女士 小姐 教授 博士 总统 總統 さん 氏 様")
)

func set(list string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// Loose returns the form of a name without what a writer may add to it or leave
// out: accents, an article, titles, the legal form of a company, an English
// plural, a Korean particle, and spaces between words. Names of one loose form
// are often one thing, and sometimes not.
func Loose(name string) Form {
	f := Form{}
	key := Key(name)
	text := unaccented(key)
	f.note(Accents, text != key)

	list := strings.Fields(text)
	if len(list) > 1 && articles[list[0]] {
		list = list[1:]
		f.note(Article, true)
	}
	list = f.dropWords(list)
	if n := len(list); n > 0 {
		last := list[n-1]
		list[n-1] = f.hangul(f.han(last))
		if s, ok := singular(list[n-1]); ok {
			list[n-1] = s
			f.note(Plural, true)
		}
	}
	f.Text = strings.Join(list, "")
	f.note(Spaces, len(list) > 1)
	return f
}

func (f *Form) note(c Change, did bool) {
	if did && !slices.Contains(f.Changes, c) {
		f.Changes = append(f.Changes, c)
	}
}

// dropWords takes titles from the front and legal forms and titles from the end,
// as long as something is left.
func (f *Form) dropWords(list []string) []string {
	for len(list) > 1 && (titles[list[0]] || slices.Contains(hangulLegal, list[0])) {
		f.note(Title, titles[list[0]])
		f.note(Legal, !titles[list[0]])
		if titles[list[0]] {
			f.Title += list[0] + " "
		}
		list = list[1:]
	}
	for len(list) > 1 {
		last := list[len(list)-1]
		switch {
		case legal[last], slices.Contains(hangulLegal, last):
			f.note(Legal, true)
		case suffixes[last], slices.Contains(hangulTitles, last):
			f.note(Title, true)
			f.Title += last + " "
		default:
			return list
		}
		list = list[:len(list)-1]
	}
	return list
}

// han takes titles and legal forms from the end of a word of Han characters.
func (f *Form) han(w string) string {
	for _, s := range hanLegal {
		if rest, ok := strings.CutSuffix(w, s); ok && len(rest) >= 6 {
			f.note(Legal, true)
			return rest
		}
	}
	for _, s := range hanTitles {
		if rest, ok := strings.CutSuffix(w, s); ok && len(rest) >= 6 && unicode.Is(unicode.Han, []rune(rest)[0]) {
			f.note(Title, true)
			f.Title += s + " "
			return rest
		}
	}
	return w
}

// hangul takes a particle, then a title, from the end of a word of Hangul. At
// least two syllables stay.
func (f *Form) hangul(w string) string {
	if hangulOnly(w) {
		stem, particle := offline.SplitParticle(w)
		f.note(Particle, particle != "")
		w = stem
	}
	for _, s := range hangulTitles {
		if rest, ok := strings.CutSuffix(w, s); ok && len(rest) >= 6 && hangulOnly(rest) {
			f.note(Title, true)
			f.Title += s + " "
			return rest
		}
	}
	return w
}

func hangulOnly(w string) bool {
	for _, r := range w {
		if r < 0xac00 || r > 0xd7a3 {
			return false
		}
	}
	return w != ""
}

// singular takes the s of an English plural of at least five letters.
func singular(w string) (string, bool) {
	if len(w) < 5 || !ascii(w) || !strings.HasSuffix(w, "s") || strings.HasSuffix(w, "ss") ||
		strings.HasSuffix(w, "us") || strings.HasSuffix(w, "is") {
		return w, false
	}
	if stem, ok := strings.CutSuffix(w, "ies"); ok && len(stem) > 3 {
		return stem + "y", true
	}
	return w[:len(w)-1], true
}

func ascii(w string) bool {
	for i := 0; i < len(w); i++ {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	return true
}

// unaccented drops the marks of Latin, Greek and Cyrillic letters. Those of
// other scripts are letters of their own right.
func unaccented(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) {
		return s
	}
	var b strings.Builder
	base := rune(0)
	for _, r := range norm.NFD.String(s) {
		if unicode.Is(unicode.Mn, r) {
			if unicode.In(base, unicode.Latin, unicode.Greek, unicode.Cyrillic) {
				continue
			}
		} else {
			base = r
		}
		b.WriteRune(r)
	}
	return norm.NFC.String(b.String())
}

// TitlesDiffer reports two names of one loose form that are told apart by their
// titles: "Mr. Smith" and "Mrs. Smith".
func TitlesDiffer(a, b Form) bool {
	return a.Title != "" && b.Title != "" && a.Title != b.Title
}
