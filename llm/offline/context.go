package offline

import (
	"sort"
	"strings"
)

// pronouns lets a sentence that begins with "She" speak of the subject of the
// one before, and votes for that being a person.
func (x *extraction) pronouns() {
	for i := 1; i < len(x.sents); i++ {
		s, before := &x.sents[i], &x.sents[i-1]
		t, person := x.pronounOf(s)
		if t == nil || before.heading {
			continue
		}
		for _, m := range before.mentions {
			e := &x.entities[m.entity]
			if !m.subject || e.kind == kindConcept && x.lang < chinese && !e.admitted {
				continue
			}
			if person && (e.kind == kindAcronym || e.votes[typeOrganization]+e.votes[typeLocation] > 2+e.votes[typePerson]) || !person && e.typ() == typePerson {
				continue
			}
			if person {
				e.vote(typePerson, 2)
			}
			x.mention(int32(i), mention{entity: m.entity, start: t.start, end: t.end, subject: true})
			break
		}
	}
}

// pronounOf finds the pronoun that stands for the subject of a sentence: he or
// she among its first words, or it as the first.
func (x *extraction) pronounOf(s *sentence) (t *token, person bool) {
	for k := range s.toks {
		t := &s.toks[k]
		if k > 8 {
			break
		}
		switch x.lang {
		case english, german:
			switch {
			case t.class&personPron != 0 && (x.lang == english || t.low == "er" || t.low == "sie"):
				return t, true
			case k == 0 && (t.low == "it" || t.low == "its" || t.low == "es"):
				return t, false
			case t.word() && t.upper && k > 0 && t.class&stop == 0 && s.toks[0].class&stop == 0:
				if k > 3 {
					return nil, false
				}
			}
		case korean:
			if k == 0 && (t.text == "그는" || t.text == "그녀는" || t.text == "그의" || t.text == "그녀의") {
				return t, true
			}
		default:
			if k == 0 {
				for _, p := range [...]string{"他们", "她们", "它们"} {
					if strings.HasPrefix(t.text, p) {
						return nil, false
					}
				}
				for _, p := range [...]string{"他", "她", "彼女", "彼"} {
					if strings.HasPrefix(t.text, p) {
						short := *t
						short.end = t.start + int32(len(p))
						return &short, true
					}
				}
			}
		}
	}
	return nil, false
}

// neighbours gives types to names beside typed ones: "Warsaw and Krakow" are
// two of a kind, and "X (ABC)" is one thing twice.
func (x *extraction) neighbours() {
	for si := range x.sents {
		s := &x.sents[si]
		ms := s.mentions
		sort.SliceStable(ms, func(a, b int) bool { return ms[a].start < ms[b].start })
		for k := 1; k < len(ms); k++ {
			a, b := ms[k-1], ms[k]
			if a.entity == b.entity || a.end > b.start {
				continue
			}
			first, second := &x.entities[a.entity], &x.entities[b.entity]
			switch between := strings.TrimSpace(s.text[a.end:b.start]); {
			case listMarks[between]:
				share(first, second)
				share(second, first)
			case between == "(" || between == "（":
				if x.lang >= chinese && second.kind == kindAcronym && scriptOf(firstRune(first.name)).cjk() {
					x.short = append(x.short, abbreviation{b.entity, a.entity, int32(si)})
					second.votes = addVotes(second.votes, first.votes)
				}
			}
		}
	}
}

var listMarks = set(`and , und 、 和 与 및 · &`)

// share gives an untyped name the type of its neighbour.
func share(from, to *entity) {
	if t := from.typ(); t != typeConcept && t != typeEvent && to.typ() == typeConcept && to.kind == kindName {
		to.vote(t, 1)
	}
}
