package offline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/llm/offline/internal/poslex"
)

// relation is an edge between two selected entities, a < b by first mention.
type relation struct {
	a, b     int32
	sents    int32 // that mention both
	strength int   // of all of them, hundredths
	best     int   // of the sentence that describes it
	sent     int32
	plain    bool    // in some sentence one is the other's subject, object or neighbour
	said     bool    // in some sentence a verb stands between them or one is the subject
	from, to mention // in that sentence, in text order
	weight   int     // hundredths
	keywords []string
	text     string // replaces the sentence when not empty
}

// relate returns the relations of the selected entities, the strongest first:
// pairs of entities in one sentence, best when one is its subject and a verb
// stands between them.
func (x *extraction) relate() []relation {
	at := map[[2]int32]int{}
	var list []relation
	note := func(si int32, from, to mention, strength int) *relation {
		a, b := from.entity, to.entity
		if x.entities[a].order > x.entities[b].order {
			a, b = b, a
		}
		k, ok := at[[2]int32{a, b}]
		if !ok {
			k = len(list)
			at[[2]int32{a, b}] = k
			list = append(list, relation{a: a, b: b, sent: -1})
		}
		r := &list[k]
		r.sents++
		r.strength += strength
		if strength > r.best {
			r.best, r.sent, r.from, r.to = strength, si, from, to
		}
		return r
	}
	var ms []mention
	for si := range x.sents {
		s := &x.sents[si]
		ms = distinct(ms[:0], s.mentions)
		for i := range ms {
			for j := i + 1; j < len(ms); j++ {
				// A long sentence is a list: its subject is related with all,
				// the rest with their neighbours.
				if len(ms) > 4 && i > 0 && j > i+1 || ms[i].entity == ms[j].entity {
					continue
				}
				verb := x.verbBetween(s, ms[i], ms[j])
				w := 100 / (j - i)
				if s.heading {
					w /= 4
				}
				if verb {
					w += 100
				}
				if ms[i].subject {
					w += 60
				}
				w += 30 * (x.named(ms[i].entity) + x.named(ms[j].entity))
				r := note(int32(si), ms[i], ms[j], w)
				r.plain = r.plain || !s.heading && (j == i+1 || verb && ms[i].subject)
				r.said = r.said || !s.heading && (verb || ms[i].subject)
			}
		}
	}
	for _, ab := range x.short {
		long, short := x.entities[ab.long].alias, ab.short
		if !x.entities[long].selected || !x.entities[short].selected || long == short {
			continue
		}
		r := note(ab.sent, mention{entity: long}, mention{entity: short}, 400)
		r.plain = true
		r.keywords = []string{"abbreviation", "other name"}
		r.text = x.entities[short].name + " is the abbreviation of " + x.entities[long].name + "."
		r.strength += 300
	}
	list = slices.DeleteFunc(list, func(r relation) bool { return !x.worthRelating(&r) })
	for i := range list {
		list[i].weight = x.weigh(&list[i])
	}
	slices.SortStableFunc(list, func(a, b relation) int { return cmp.Compare(b.evidence(), a.evidence()) })
	return capped(list)
}

// worthRelating reports whether a pair says something: concepts must meet
// twice, and names that meet once must be close.
func (x *extraction) worthRelating(r *relation) bool {
	if r.sents >= 2 || r.text != "" || x.lang >= chinese {
		return true
	}
	if x.named(r.a)+x.named(r.b) == 0 {
		return x.admitted(r.a) && x.admitted(r.b) && r.plain
	}
	return r.plain
}

// admitted reports whether a concept has evidence of its own.
func (x *extraction) admitted(id int32) bool { return x.entities[id].admitted }

// evidence ranks the relations of a text: what is said, and of pairs that meet
// again how much more often than by chance. Of those that meet once chance would rank
// what a text says of its subject last.
func (r *relation) evidence() int {
	if r.sents < 2 {
		return r.strength
	}
	return r.strength + r.weight
}

// capped keeps at most maxEdges relations of an entity.
func capped(list []relation) []relation {
	edges := make(map[int32]int, 2*maxEntities)
	kept := list[:0]
	for _, r := range list {
		if edges[r.a] >= maxEdges || edges[r.b] >= maxEdges {
			continue
		}
		edges[r.a]++
		edges[r.b]++
		kept = append(kept, r)
	}
	return kept
}

// distinct appends the first mention of every entity, at most maxMentions.
func distinct(out, ms []mention) []mention {
next:
	for _, m := range ms {
		for _, o := range out {
			if o.entity == m.entity {
				continue next
			}
		}
		if out = append(out, m); len(out) == maxMentions {
			break
		}
	}
	return out
}

func (x *extraction) named(id int32) int {
	if x.entities[id].kind != kindConcept {
		return 1
	}
	return 0
}

// verbBetween reports whether a verb stands between two mentions; in languages
// that put it last, behind the second.
func (x *extraction) verbBetween(s *sentence, a, b mention) bool {
	for k := range s.toks {
		if t := &s.toks[k]; t.start >= a.end && t.end <= b.start && isVerb(t) {
			return true
		}
	}
	return (x.lang == korean || x.lang == japanese) && a.subject
}

// isVerb reports whether a word is most likely a verb.
func isVerb(t *token) bool {
	switch {
	case !t.word() || t.upper || t.class&(stop|copula) != 0 || strings.Contains(t.low, "-"):
		return false
	case t.class&verb != 0:
		return true
	case t.tag != 0:
		return t.tag.Most() == poslex.Verb && len(t.low) > 2
	}
	return len(t.low) > 4 && strings.HasSuffix(t.low, "ed")
}

// maxKeywords bounds the keywords of one relation.
const maxKeywords = 4

// keywordsOf names what a sentence says of two of its entities: verbs between
// them, then verbs and abstract nouns of the whole sentence. Never empty.
func (x *extraction) keywordsOf(r *relation) []string {
	if r.keywords != nil {
		return r.keywords
	}
	s := &x.sents[r.sent]
	var words []string
	take := func(w string) {
		if len(words) == maxKeywords || w == "" {
			return
		}
		for _, o := range words {
			if o == w {
				return
			}
		}
		words = append(words, w)
	}
	inside := func(t *token) bool {
		for _, m := range s.mentions {
			if t.start >= m.start && (t.end <= m.end || t.script == scriptHangul && t.start < m.end) {
				return true
			}
		}
		return false
	}
	for k := range s.toks {
		if t := &s.toks[k]; t.start >= r.from.end && t.end <= r.to.start && isVerb(t) {
			take(t.low)
		}
	}
	for k := range s.toks {
		t := &s.toks[k]
		switch {
		case inside(t):
		case t.script == scriptHangul:
			if w := analyseKorean(t.text); w.verbal && runes(w.stem) >= 2 {
				take(w.stem)
			}
		case t.script == scriptHan && x.lang == chinese:
			for _, p := range hanPieces(nil, s.text, int(t.start), int(t.end)) {
				if p.verb {
					take(s.text[p.start:p.end])
				}
			}
		case t.script == scriptHan && runes(t.text) == 2 && x.lang == japanese:
			take(t.text)
		case t.content() && !t.upper && abstract(t.low):
			take(singular(t.low))
		}
	}
	for k := range s.toks {
		if t := &s.toks[k]; len(words) < 2 && isVerb(t) && !inside(t) {
			take(t.low)
		}
	}
	for k := range s.toks {
		t := &s.toks[k]
		if len(words) >= 2 || inside(t) {
			continue
		}
		if t.content() && (!t.upper || x.lang == german && k > 0) && len(t.low) > 3 && t.class&common == 0 {
			take(t.text)
		} else if t.script == scriptHangul {
			if w := analyseKorean(t.text); !w.verbal && runes(w.stem) >= 2 {
				take(w.stem)
			}
		}
	}
	if len(words) == 0 {
		take(typeNames[x.entities[r.a].typ()])
		take(typeNames[x.entities[r.b].typ()])
	}
	return words
}

// describe returns the one or two sentences that best say what an entity is: a
// definition, else where it is the subject, else its first mention.
func (x *extraction) describe(id int32) string {
	e := &x.entities[id]
	first, second, best, next := int32(-1), int32(-1), 0, 0
	for _, si := range e.sents {
		s := &x.sents[si]
		score := 0
		for _, m := range s.mentions {
			if m.entity != id {
				continue
			}
			v := 2
			if m.subject {
				v = 4
			}
			if m.defined {
				v += 3
			}
			score = max(score, v)
		}
		if s.heading {
			score = 1
		}
		switch {
		case score > best:
			first, second, best, next = si, first, score, best
		case score > next:
			second, next = si, score
		}
	}
	if first < 0 {
		return ""
	}
	text := oneLine(x.sents[first].text)
	if second >= 0 && next >= 4 {
		other := oneLine(x.sents[second].text)
		if len(text)+1+len(other) <= maxDescribed && other != text {
			if second < first {
				text, other = other, text
			}
			text += joint(text) + other
		}
	}
	return cut(text, maxDescribed)
}

// joint is what stands between two sentences.
func joint(s string) string {
	if strings.HasSuffix(s, "。") || strings.HasSuffix(s, "！") || strings.HasSuffix(s, "？") {
		return ""
	}
	return " "
}

// oneLine joins the lines of a sentence and takes emphasis marks off.
func oneLine(s string) string {
	if strings.Contains(s, "**") {
		s = strings.ReplaceAll(s, "**", "")
	}
	if spaced(s) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// spaced reports whether single blanks are the only white space of s, and none
// is at its ends. It may say no where that is so.
func spaced(s string) bool {
	before := byte(' ')
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == ' ' && before == ' ' || c < ' ' || c == 0xc2 || c == 0xe2 || c == 0xe3 && i+2 < len(s) && s[i+1] == 0x80 && s[i+2] == 0x80 || c == 0xe1 {
			return false
		}
		before = c
	}
	return before != ' '
}

// cut shortens s to at most n bytes, at a space where one is near.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	if sp := strings.LastIndexByte(s[:n], ' '); sp > n/2 {
		n = sp
	}
	return strings.TrimSpace(s[:n])
}
