package offline

import (
	"strings"
	"unicode/utf8"

	"github.com/lightctl/lightrag/llm/offline/internal/poslex"
)

// trimHead drops words that stand before a name and are none of it, and says
// what they tell of its type.
func (x *extraction) trimHead(toks []token, i, j int) (int, entityType) {
	hint := typeConcept
	for j-i > 1 && !toks[i].ident {
		t := &toks[i]
		if t.caps {
			if !shouts(t) {
				break
			}
			i++ // "TIP Debian"
			continue
		}
		if x.lang == german && t.class&(placeNoun|role) != 0 && t.class&(orgHead|given) == 0 {
			if t.class&placeNoun != 0 {
				hint = typeLocation
			} else {
				hint = typePerson
			}
			i++
			continue
		}
		if !atStart(toks, i) || x.voc.of(t).capital > 0 || t.class&given != 0 {
			break
		}
		// "Use Debian", "Similarly Debian", "Turbines Debian" of a text that
		// writes of turbines: only the sentence made these capitals.
		most := t.tag.Most()
		headed := toks[i+1].class&(orgHead|eventHead|placeHead) != 0 && x.voc.of(t).low == 0 // "World War II"
		if t.class&common != 0 && !headed || x.voc.of(t).low > 0 && t.class&(orgHead|placeHead) == 0 || strings.HasSuffix(t.low, "ly") ||
			t.tag.Proper() == poslex.NoName && (most == poslex.Verb || most == poslex.Adverb) {
			i++
			continue
		}
		break
	}
	return i, hint
}

// shouts reports whether a word in capitals is a common word.
func shouts(t *token) bool {
	return t.caps && t.plain() && t.tag.Proper() == poslex.NoName && !acronymWords[t.text]
}

// atStart reports whether only opening marks stand before token i.
func atStart(toks []token, i int) bool {
	for k := i - 1; k >= 0; k-- {
		if !opens(toks[k].text) {
			return false
		}
		if toks[k].text == ":" {
			return true
		}
	}
	return true
}

// accepts decides whether the run [i, j) is a name and not a capitalised word.
func (x *extraction) accepts(s *sentence, i, j int, titled bool) bool {
	if i >= j {
		return false
	}
	t := &s.toks[i]
	switch {
	case titled:
		return true
	case s.heading && !x.acceptsHeading(s.toks[i:j]):
		return false
	case j-i > 1:
		return x.acceptsRun(s, s.toks[i:j])
	case t.caps:
		return x.acceptsAcronym(s, i)
	case t.ident:
		return true
	}
	return x.acceptsWord(s, i)
}

// acceptsHeading decides for a name in a heading, where common words are
// capitalised as well: the text must know its words as a name's.
func (x *extraction) acceptsHeading(run []token) bool {
	known := false // a word that only a name is made of
	for k := range run {
		t := &run[k]
		n := x.voc.of(t)
		switch {
		case t.class&connector != 0 || t.script == scriptDigit:
		case n.low > 0:
			return false
		case n.capital > 0 || n.quiet > 0 && t.caps || t.ident || !t.plain():
			known = known || !t.caps || len(t.text) <= 5 || n.quiet > 0
		}
	}
	return known && (len(run) > 1 || run[0].caps || run[0].ident || x.voc.of(&run[0]).capital > 0 || run[0].tag.Proper() != poslex.NoName)
}

// acceptsRun decides for a run of several words.
func (x *extraction) acceptsRun(s *sentence, run []token) bool {
	first, last := &run[0], &run[len(run)-1]
	if x.lang == german {
		return !(len(run) == 2 && x.voc.of(first).low > 0)
	}
	if last.script == scriptDigit && len(run) == 2 && (structural[first.low] || first.class&calendar != 0 || structural[singular(first.low)]) {
		return false // "Section 3", "Mar 31"
	}
	caps, plain := 0, 0
	for k := range run {
		t := &run[k]
		if t.caps {
			caps++
		}
		if shouts(t) {
			plain++
		}
	}
	if caps == len(run) && plain > 0 || s.loud && caps > 0 {
		return false // "GOING FURTHER"
	}
	return true
}

// acceptsAcronym decides for a single word in capitals. A common word in
// capitals is emphasis, unless the text introduces it as an acronym.
func (x *extraction) acceptsAcronym(s *sentence, i int) bool {
	t := &s.toks[i]
	n := x.voc.of(t)
	switch {
	case runes(t.text) < 2 || roman(t.text):
		return false
	case n.bracketed || acronymWords[t.text]:
		return true
	case n.low > 0 || s.loud && n.quiet == 0:
		return false
	case i > 0 && s.toks[i-1].caps && t.space && !x.question:
		return false // the end of "BACK TO BASICS"
	}
	return x.question || !t.plain()
}

// acceptsWord decides for a single capitalised word.
func (x *extraction) acceptsWord(s *sentence, i int) bool {
	t := &s.toks[i]
	n := x.voc.of(t)
	switch {
	case utf8.RuneCountInString(strings.TrimSuffix(t.text, ".")) < 2, n.low > n.capital, s.loud:
		return false
	case x.lang != german && (t.class&(orgHead|role|title|theme) != 0 || structural[t.low]):
		return false // "the University", "the Director", "Section 4.2"
	case x.lang == english && adjectival(s.toks, i):
		return false
	}
	start := atStart(s.toks, i)
	named := t.tag.Proper() != poslex.NoName || t.class&given != 0
	if x.lang == english && !x.question && t.plain() && !named && (n.capital < 2 || n.capital <= 2*n.low) {
		return false // a word of the language must be seen as a name more than once
	}
	if !start || n.capital > 0 {
		return true
	}
	return x.namesAtStart(s.toks, i)
}

// namesAtStart decides for a single capitalised word at the head of a sentence
// that was never seen capitalised elsewhere.
func (x *extraction) namesAtStart(toks []token, i int) bool {
	t := &toks[i]
	if t.class&given != 0 && t.class&common == 0 {
		return true
	}
	if t.class&(common|verb|orgNoun|placeNoun|copula) != 0 || x.voc.of(t).low > 0 {
		return false
	}
	if t.tag != 0 && t.tag.Proper() != poslex.NoName && !t.tag.Common() {
		return true
	}
	if t.tag.Common() {
		return false
	}
	for _, suf := range [...]string{"ly", "ing", "ed", "ies"} {
		if strings.HasSuffix(t.low, suf) {
			return false
		}
	}
	if x.lang != german && abstract(t.low) {
		return false
	}
	if i+1 >= len(toks) {
		return false
	}
	next := &toks[i+1]
	if next.class&copula != 0 {
		return !strings.HasSuffix(next.low, "re") // "Turbines are"
	}
	if strings.HasSuffix(t.low, "s") && !strings.HasSuffix(t.low, "ss") && !strings.HasSuffix(t.low, "us") && !strings.HasSuffix(t.low, "is") && t.whole() {
		return false
	}
	if !next.word() {
		return next.text == "," || next.text == "("
	}
	return isVerb(next) || strings.HasSuffix(next.low, "ed") || !t.whole()
}

// adjectival reports whether a capitalised word describes the noun behind it:
// "Polish-born physicist", "German engineers".
func adjectival(toks []token, i int) bool {
	t := &toks[i]
	if k := strings.IndexByte(t.text, '-'); k > 0 && k+1 < len(t.text) && t.text[k+1] >= 'a' && t.text[k+1] <= 'z' {
		return true
	}
	if i+1 == len(toks) || !toks[i+1].content() || toks[i+1].upper || toks[i+1].class&verb != 0 || !t.whole() {
		return false
	}
	for _, suf := range [...]string{"ish", "ese", "ian", "ean", "ican", "rench", "utch"} {
		if strings.HasSuffix(t.low, suf) {
			return true
		}
	}
	return t.low == "german" || t.low == "greek" || t.low == "roman"
}

// roman reports a small Roman numeral; "CD" and "LCD" are acronyms.
func roman(s string) bool { return strings.Trim(s, "IVX") == "" }

var (
	// structural are words that a number behind them makes a reference of.
	structural = set(`section chapter figure fig table page part step appendix example exercise listing volume item note line level option case rule article paragraph lesson test phase question answer equation footnote book act scene verse psalm day week year round grade class group stage day type no number jan feb mar apr may jun jul aug sep sept oct nov dec`)
	// acronymWords are acronyms that are words when written small.
	acronymWords = set(`WHO US UN EU AIDS NASA RAM ROM ARM NATO GNU CAT BASIC DOS COBOL`)
)
