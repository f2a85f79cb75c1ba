package offline

import (
	"strings"

	"github.com/lightctl/lightrag/llm/offline/internal/poslex"
)

// evidence collects what the words of a name and the words around it say of its
// type. It reports whether a definition follows ("X is a", "X, a").
func (x *extraction) evidence(e *entity, toks []token, i, j int, subject bool) (defined bool) {
	inside := class(0)
	for k := i; k < j; k++ {
		inside |= toks[k].class
	}
	first, last := toks[i].class, toks[j-1].class
	many := j-i > 1
	switch {
	case many && (last&orgHead != 0 || first&orgHead != 0 && inside&connector != 0 || x.lang == german && first&orgHead != 0):
		e.vote(typeOrganization, 3)
	case many && (last|first)&eventHead != 0:
		e.vote(typeEvent, 3)
	case many && (last|first)&placeHead != 0 && !(x.lang == german && first&placeHead == 0):
		e.vote(typeLocation, 3)
	case many && inside&orgHead != 0:
		e.vote(typeOrganization, 2)
	case first&given != 0 && inside&orgHead == 0 && j-i <= 4:
		e.vote(typePerson, 2)
	case !many && !toks[i].tag.Common() && toks[i].tag.Proper() == poslex.PlaceName:
		e.vote(typeLocation, 3)
	case !many && !toks[i].tag.Common() && toks[i].tag.Proper() == poslex.Surname:
		e.vote(typePerson, 1)
	case x.lang == german && !many && last&orgHead != 0 && len(toks[i].low) > 8:
		e.vote(typeOrganization, 1)
	}
	if i > 0 {
		x.before(e, toks, i, inside)
	}
	if j < len(toks) {
		defined = x.after(e, toks, j, subject)
	}
	return defined
}

// before reads the words in front of a name.
func (x *extraction) before(e *entity, toks []token, i int, inside class) {
	p := &toks[i-1]
	if p.low == "the" && i > 1 && inside&orgHead == 0 {
		p = &toks[i-2]
	}
	if e.kind != kindAcronym && e.kind != kindIdentifier && inside&(orgHead|eventHead|given) == 0 && toks[i].tag.Proper() != poslex.OtherName && !toks[i].plain() {
		near := p.low == "in" || p.low == "near" || p.low == "around" || x.lang == german && (p.low == "nach" || p.low == "aus" || p.low == "nahe")
		if near && !(x.lang == english && abstract(toks[i].low)) && !(i > 1 && notPlaces[toks[i-2].low]) {
			e.vote(typeLocation, 1)
		}
	}
	// "city of X", "the river X"
	q := p
	if p.low == "of" && i > 1 {
		q = &toks[i-2]
	}
	switch {
	case q.class&placeNoun != 0 && !q.upper && (q != p || q.class&placeHead != 0):
		e.vote(typeLocation, 3)
	case q == p && q.class&role != 0 && inside&orgHead == 0 && q.word():
		e.vote(typePerson, 3)
	case q == p && q.class&orgNoun != 0 && !q.upper:
		e.vote(typeOrganization, 2)
	}
}

// after reads the words behind a name: verbs only persons do, appositions and
// definitions.
func (x *extraction) after(e *entity, toks []token, j int, subject bool) bool {
	t := &toks[j]
	if t.text == "(" && j+1 < len(toks) && (toks[j+1].low == "born" || toks[j+1].text == "*") {
		e.vote(typePerson, 4)
	}
	if t.text == "(" { // step over a short insertion: an acronym, years
		for k := j; k < len(toks) && k < j+8; k++ {
			if toks[k].text == ")" {
				if k+1 < len(toks) {
					j, t = k+1, &toks[k+1]
				}
				break
			}
		}
	}
	if personVerbs[t.low] && subject {
		e.vote(typePerson, 2)
	}
	if t.class&copula != 0 && subject {
		for k := j + 1; k < len(toks) && k < j+24; k++ {
			if w := toks[k].low; w == "born" || w == "geboren" {
				if k == j+1 || x.lang == german {
					e.vote(typePerson, 4)
				}
			}
			if toks[k].text == "," {
				break
			}
		}
		return x.head(e, toks, j+1, 4)
	}
	if t.text == "," && j+1 < len(toks) && toks[j+1].class&determiner != 0 && (x.lang != german || strings.HasPrefix(toks[j+1].low, "ein")) {
		return x.head(e, toks, j+1, 3)
	}
	return false
}

// head reads a definition up to its first preposition and lets its last telling
// noun vote. It reports whether the definition has an article or such a noun.
func (x *extraction) head(e *entity, toks []token, k, weight int) bool {
	article := k < len(toks) && toks[k].class&determiner != 0
	if article {
		k++
	}
	found := typeConcept
	for n := 0; k < len(toks) && n < 8; k, n = k+1, n+1 {
		t := &toks[k]
		if !t.word() && t.script != scriptDigit || t.class&(stop|copula) != 0 && t.low != "and" && t.low != "und" && t.low != "first" && t.low != "large" {
			break
		}
		switch {
		case t.class&role != 0 || t.tag.Kind() == poslex.Person && t.tag.Most() == poslex.Noun:
			found = typePerson
		case t.class&placeNoun != 0:
			found = typeLocation
		case t.class&orgNoun != 0:
			found = typeOrganization
		case t.low == "war" || t.low == "festival" || t.low == "conference":
			found = typeEvent
		}
	}
	if found != typeConcept {
		e.vote(found, weight)
	}
	return article || found != typeConcept
}

var (
	personVerbs = set(`said says wrote married studied taught argued believed lived died graduated grew invented painted composed joined moved discovered won heiratete studierte lehrte schrieb starb erfand entdeckte`)
	notPlaces   = set(`written implemented interested programmed expressed believe believes interest available specialises specializes expert geschrieben implementiert`)
)

// longForm notices "World Health Organization (WHO)", "WHO (World Health
// Organization)" and, for the latter part, long forms in lower case.
func (x *extraction) longForm(si, id int32, toks []token, i, j int) {
	if j-i == 1 && toks[i].caps && i > 1 && toks[i-1].text == "(" && j < len(toks) && toks[j].text == ")" {
		if x.shortOf(si, id) {
			return
		}
		if from := matchInitials(toks, i-1, toks[i].text); from >= 0 {
			s := &x.sents[si]
			end := &toks[i-2]
			name := s.text[toks[from].start : int(end.start)+len(end.text)]
			if rest := s.text[toks[from].end : int(end.start)+len(end.text)]; from == 0 && rest == strings.ToLower(rest) {
				name = strings.ToLower(name) // only the sentence made it a capital
			}
			name = strings.Join(strings.Fields(name), " ")
			long := x.add(name, kindName)
			x.mention(si, mention{entity: long, start: toks[from].start, end: end.end, subject: isSubject(toks, from)})
			x.short = append(x.short, abbreviation{id, long, si})
		}
		return
	}
	if j-i > 1 && i > 1 && toks[i-1].text == "(" && toks[i-2].caps && initialsOf(toks[i:j], toks[i-2].text) {
		if short, ok := x.index[toks[i-2].text]; ok {
			x.short = append(x.short, abbreviation{short, id, si})
		}
	}
}

// shortOf pairs an acronym in brackets with the name right before it.
func (x *extraction) shortOf(si, id int32) bool {
	ms := x.sents[si].mentions
	if len(ms) < 2 {
		return false
	}
	acr, name := ms[len(ms)-1], ms[len(ms)-2]
	if acr.entity != id || acr.start-name.end > 3 {
		return false
	}
	toks := x.sents[si].toks
	i, j := -1, -1
	for k := range toks {
		if toks[k].start == name.start {
			i = k
		}
		if toks[k].end == name.end {
			j = k + 1
		}
	}
	if i < 0 || j <= i || !initialsOf(toks[i:j], x.entities[id].name) {
		return false
	}
	x.short = append(x.short, abbreviation{id, name.entity, si})
	x.entities[id].votes = addVotes(x.entities[id].votes, x.entities[name.entity].votes)
	return true
}

func addVotes(a, b [typeCount]int) [typeCount]int {
	for t := range a {
		a[t] += b[t]
	}
	return a
}

// initialsOf reports whether the letters of an acronym are initials of words in
// order; small words may be left out.
func initialsOf(words []token, acronym string) bool {
	letters := strings.TrimSuffix(strings.ReplaceAll(acronym, ".", ""), "s")
	k := 0
	for w := range words {
		for _, part := range strings.FieldsFunc(words[w].low, func(r rune) bool { return r == '-' || r == '/' }) {
			if k < len(letters) && strings.ToLower(letters[k:k+1]) == part[:1] {
				k++
			} else if words[w].class&stop == 0 {
				return false
			}
		}
	}
	return k == len(letters) && k > 1
}

// matchInitials walks back from token end over words that spell the acronym and
// returns the first of them, or -1.
func matchInitials(toks []token, end int, acronym string) int {
	for n := 1; n <= 8 && end-n >= 0; n++ {
		from := end - n
		if !toks[from].word() || toks[from].low == "" {
			return -1
		}
		if toks[from].class&stop == 0 && initialsOf(toks[from:end], acronym) {
			return from
		}
	}
	return -1
}
