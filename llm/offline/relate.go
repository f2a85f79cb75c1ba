package offline

import (
	"sort"
	"strings"
)

// relation is an edge between two selected entities, a < b by first mention.
type relation struct {
	a, b     int32
	strength float64
	best     float64 // of the sentence that describes it
	sent     int32
	from, to mention // in that sentence, in text order
	keywords []string
	text     string // replaces the sentence when not empty
}

// relate returns the strongest relations: pairs of entities in one sentence,
// best when one is its subject and a verb stands between them.
func (x *extraction) relate(room int) []relation {
	at := map[[2]int32]int{}
	var list []relation
	note := func(si int32, from, to mention, strength float64) {
		a, b := from.entity, to.entity
		if a == b {
			return
		}
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
		r.strength += strength
		if strength > r.best {
			r.best, r.sent, r.from, r.to = strength, si, from, to
		}
	}
	for si := range x.sents {
		s := &x.sents[si]
		ms := distinct(s.mentions)
		for i := range ms {
			for j := i + 1; j < len(ms); j++ {
				// A long sentence is a list: its subject is related with all,
				// the rest with their neighbours.
				if len(ms) > 4 && i > 0 && j > i+1 {
					continue
				}
				w := 1 / float64(j-i)
				if s.heading {
					w /= 4
				}
				if x.verbBetween(s, ms[i], ms[j]) {
					w++
				}
				if ms[i].subject {
					w += 0.6
				}
				w += 0.3 * float64(x.named(ms[i].entity)+x.named(ms[j].entity))
				note(int32(si), ms[i], ms[j], w)
			}
		}
	}
	for _, ab := range x.short {
		long, short := x.entities[ab.long].alias, ab.short
		if !x.entities[long].selected || !x.entities[short].selected {
			continue
		}
		note(ab.sent, mention{entity: long}, mention{entity: short}, 4)
		lo, hi := long, short
		if x.entities[lo].order > x.entities[hi].order {
			lo, hi = hi, lo
		}
		r := &list[at[[2]int32{lo, hi}]]
		r.keywords = []string{"abbreviation", "other name"}
		r.text = x.entities[short].name + " is the abbreviation of " + x.entities[long].name + "."
		r.strength += 3
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].strength > list[j].strength })
	edges := map[int32]int{}
	kept := list[:0]
	for _, r := range list {
		if len(kept) == room {
			break
		}
		if edges[r.a] >= maxEdges || edges[r.b] >= maxEdges {
			continue
		}
		edges[r.a]++
		edges[r.b]++
		kept = append(kept, r)
	}
	sort.SliceStable(kept, func(i, j int) bool {
		a, b := x.entities[kept[i].a].order, x.entities[kept[j].a].order
		if a != b {
			return a < b
		}
		return x.entities[kept[i].b].order < x.entities[kept[j].b].order
	})
	return kept
}

// distinct keeps the first mention of every entity, at most maxMentions.
func distinct(ms []mention) []mention {
	var out []mention
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

func isVerb(t *token) bool {
	return t.word() && !t.upper && !strings.Contains(t.low, "-") && (t.class&verb != 0 || t.class&stop == 0 && len(t.low) > 4 && strings.HasSuffix(t.low, "ed"))
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
