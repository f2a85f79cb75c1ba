package offline

import (
	"strings"
	"unicode"
)

// names finds capitalised runs, acronyms and identifiers of one sentence, in
// whatever language the rest of it is.
func (x *extraction) names(si int32) {
	s := &x.sents[si]
	toks := s.toks
	for i := 0; i < len(toks); {
		if !namePart(&toks[i]) && !leads(toks, i) {
			i++
			continue
		}
		begin, person := i, false
		for begin+1 < len(toks) && toks[begin].class&title != 0 && !toks[begin].caps && toks[begin+1].space && namePart(&toks[begin+1]) {
			begin++
			person = true
		}
		// "Dr." is a word and a point.
		if toks[i].class&title != 0 && i+2 < len(toks) && toks[i+1].text == "." && namePart(&toks[i+2]) {
			begin, person = i+2, true
		}
		end := x.nameEnd(toks, begin)
		begin, hint := x.trimHead(toks, begin, end)
		if person {
			hint = typePerson
		}
		if x.accepts(s, begin, end, person) {
			x.recordName(si, begin, end, hint, person)
		}
		i = max(end, i+1)
	}
}

// namePart reports whether a token may be part of a name.
func namePart(t *token) bool {
	if t.script != scriptWord && !(t.script == scriptDigit && t.ident) {
		return false
	}
	if t.class&(stop|copula) != 0 && !(t.caps && acronymWords[t.text]) {
		return t.upper && len(t.text) == 2 && t.text[1] == '.' // "A." as an initial
	}
	if t.class&calendar != 0 {
		return false
	}
	return t.caps || t.ident || t.upper && (len(t.text) > 1)
}

// leads reports whether token i is a small word that begins the name behind it:
// "New York", "Las Vegas", "First World War", but not "New features".
func leads(toks []token, i int) bool {
	t := &toks[i]
	if t.class&stop == 0 || !t.upper || t.caps || !nameLeads[t.low] || i+1 == len(toks) {
		return false
	}
	next := &toks[i+1]
	return next.space && next.upper && !next.caps && namePart(next) && (!atStart(toks, i) || !next.plain())
}

var nameLeads = set(`new old first second third los las el la le les des`)

// nameEnd extends a name that begins at i: further capitalised words, words
// like "of" between them, and a number behind.
func (x *extraction) nameEnd(toks []token, i int) int {
	head := toks[i].class & (orgHead | eventHead)
	j := i + 1
	for j < len(toks) && j-i < 10 {
		if prev := &toks[j-1]; int(prev.end-prev.start) != len(prev.text) {
			break // a possessive ends the name
		}
		t := &toks[j]
		if !t.space {
			break
		}
		if namePart(t) || leads(toks, j) || t.text == "I" && toks[j-1].class&(eventHead|given) != 0 {
			if t.class&title != 0 && !t.caps && j+1 < len(toks) && namePart(&toks[j+1]) && toks[j+1].space && head == 0 {
				break
			}
			head |= t.class & (orgHead | eventHead)
			j++
			continue
		}
		k := j
		for k < len(toks) && k < j+2 && toks[k].space && !toks[k].upper && joins(&toks[k], head, k > j, x.lang) {
			k++
		}
		if k > j && k < len(toks) && toks[k].space && toks[k].upper && (namePart(&toks[k]) || leads(toks, k)) && !toks[j-1].caps {
			head |= toks[k].class & (orgHead | eventHead)
			j = k + 1
			continue
		}
		if t.script == scriptDigit && len(t.text) <= 4 && !year(t.text) && !strings.ContainsAny(t.text, ".,") && (j+1 == len(toks) || !counted(&toks[j+1])) {
			j++
		}
		break
	}
	return j
}

// joins reports whether a small word may stand inside a name. "and" and "for"
// do only in names of organizations; a second small word only as an article.
func joins(t *token, head class, second bool, lang language) bool {
	if second {
		switch t.low {
		case "the", "der", "den", "la", "las", "los", "el", "le", "die", "das":
			return true
		}
		return false
	}
	if t.low == "and" || t.low == "for" || t.low == "und" || t.low == "für" || t.low == "on" {
		return head&orgHead != 0
	}
	return t.class&connector != 0 && (lang != german || t.low != "zu")
}

func year(s string) bool { return len(s) == 4 && (s[0] == '1' || s[0] == '2') }

// counted reports whether a number before this token counts it.
func counted(t *token) bool {
	return t.text == "%" || t.word() && !t.upper && t.class&(stop|copula|verb) == 0 && strings.HasSuffix(t.low, "s")
}

// recordName stores the run [i, j) with the evidence around it.
func (x *extraction) recordName(si int32, i, j int, hint entityType, titled bool) {
	s := &x.sents[si]
	toks := s.toks
	k := kindName
	if j-i == 1 {
		switch {
		case toks[i].caps:
			k = kindAcronym
		case toks[i].ident:
			k = kindIdentifier
		}
	}
	noun := x.lang == german && k == kindName && j-i == 1 && !toks[i].ident && !titled && hint == typeConcept
	if noun {
		k = kindConcept
	}
	last := &toks[j-1]
	name := strings.Join(strings.Fields(s.text[toks[i].start:int(last.start)+len(last.text)]), " ")
	name = strings.TrimRightFunc(name, func(r rune) bool { return unicode.IsPunct(r) && r != '.' && r != ')' })
	if name == "" {
		return
	}
	id := x.add(name, k)
	e := &x.entities[id]
	if hint != typeConcept {
		e.vote(hint, 3)
	}
	m := mention{entity: id, start: toks[i].start, end: last.end, subject: isSubject(toks, i)}
	m.defined = x.evidence(e, toks, i, j, m.subject)
	if noun {
		x.germanNoun(e, toks, i, j, m)
	}
	x.mention(si, m)
	x.longForm(si, id, toks, i, j)
}

// isSubject reports whether no word of weight precedes token i.
func isSubject(toks []token, i int) bool {
	if i > 8 {
		return false
	}
	for k := range i {
		if t := &toks[k]; t.script != scriptOther && t.script != scriptDigit && t.class&(stop|title|common|calendar|role|placeNoun) == 0 {
			return false
		}
	}
	return true
}

// germanNoun decides between a name and one of the nouns that German
// capitalises as well.
func (x *extraction) germanNoun(e *entity, toks []token, i, j int, m mention) {
	t := &toks[i]
	if i > 0 {
		p := &toks[i-1]
		if p.class&determiner != 0 || p.word() && !p.upper && p.class&(stop|verb|copula) == 0 && (strings.HasSuffix(p.low, "e") || strings.HasSuffix(p.low, "en") || strings.HasSuffix(p.low, "er") || strings.HasSuffix(p.low, "es")) {
			e.common = true
		}
	}
	for _, suf := range germanNounSuffixes {
		if len(t.low) > len(suf)+2 && strings.HasSuffix(t.low, suf) {
			e.common = true
		}
	}
	e.common = e.common || t.class&(role|orgNoun|placeNoun) != 0
	nameLike := m.subject && j < len(toks) && toks[j].class&(verb|copula) != 0
	located := e.votes[typeLocation] > 0
	if !e.common && (nameLike || located || t.class&given != 0) {
		e.admitted = true
	}
	if m.defined && t.class&(role|orgNoun|placeNoun) == 0 {
		e.admitted = true
	}
	if e.common && e.votes[typeLocation] == 1 {
		e.votes[typeLocation] = 0
	}
}
