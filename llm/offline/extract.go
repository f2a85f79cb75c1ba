package offline

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Limits of one extraction, those that prompts ask of a language model.
const (
	maxText      = 1 << 20 // bytes of a chunk that are read
	maxEntities  = 40
	maxRows      = 100
	maxEdges     = 8 // relations per entity
	maxMentions  = 8 // entities per sentence that are related with each other
	maxDescribed = 520
)

type kind uint8

const (
	kindConcept kind = iota
	kindName
	kindAcronym
	kindIdentifier
)

type entityType uint8

const (
	typeConcept entityType = iota
	typePerson
	typeOrganization
	typeLocation
	typeEvent
	typeCount
)

var typeNames = [typeCount]string{"concept", "person", "organization", "location", "event"}

// An entity is a candidate until selectEntities has seen the whole text.
type entity struct {
	name     string
	kind     kind
	votes    [typeCount]int
	mentions int
	words    int
	admitted bool // worth a row even when met once
	common   bool // German: seen with an article, so a noun rather than a name
	selected bool
	alias    int32   // the entity it is another name of, or its own index
	order    int32   // of first mention among the selected
	sents    []int32 // where a selected entity is mentioned, ascending, at most 64
	weak     bool    // a phrase met once: worth a row where there is little else; see fill
}

// A mention is one occurrence: bytes [start, end) of its sentence.
type mention struct {
	entity     int32
	start, end int32
	subject    bool // nothing of weight stands before it
	defined    bool // a definition follows: "X is a", "X, a"
}

type sentence struct {
	text     string
	toks     []token
	heading  bool
	loud     bool // mostly in capitals, which then tell nothing
	mentions []mention
}

// abbreviation joins an acronym with its long form.
type abbreviation struct{ short, long, sent int32 }

// extraction is the working state for one chunk. It is used by one goroutine.
type extraction struct {
	lang     language
	question bool // a question: its capitals tell more than those of a text
	voc      *vocabulary
	sents    []sentence
	entities []entity
	index    map[string]int32
	short    []abbreviation
	bytes    int
}

// newExtraction segments text.
func newExtraction(text string) *extraction {
	if len(text) > maxText {
		text = text[:maxText]
	}
	text = clean(text)
	x := &extraction{lang: languageOf(text), voc: newVocabulary(len(text)), index: map[string]int32{}, bytes: len(text)}
	pieces := splitSentences(text)
	x.sents = make([]sentence, len(pieces))
	all := make([]token, 0, len(text)/6+8) // may grow; what was cut from it stays valid
	for i, p := range pieces {
		from := len(all)
		all = x.voc.tokenize(all, p, x.lang)
		s := &x.sents[i]
		*s = sentence{text: p, toks: all[from:len(all):len(all)], heading: isHeading(p)}
		s.loud = loud(s.toks)
		x.voc.count(s)
	}
	return x
}

// loud reports whether three words or more, and half of all, are in capitals.
func loud(toks []token) bool {
	words, caps := 0, 0
	for k := range toks {
		if t := &toks[k]; t.script == scriptWord {
			words++
			if t.caps {
				caps++
			}
		}
	}
	return caps >= 3 && 2*caps >= words
}

// opens reports whether a mark may precede the first word of a sentence.
func opens(mark string) bool {
	switch mark {
	case "\"", "“", "„", "«", ":", "(", "'", "‘", "*", "•", "-", "–", "—":
		return true
	}
	return false
}

// run finds candidates, decides which stay and relates them.
func (x *extraction) run() {
	for i := range x.sents {
		x.names(int32(i))
		x.quoted(int32(i))
	}
	switch x.lang {
	case korean:
		x.koreanNouns()
	case chinese, japanese:
		x.hanTerms()
	}
	x.phrases()
	x.neighbours()
	x.resolveShortNames()
	x.pronouns()
	x.selectEntities()
}

// add returns the entity of a name, making it if needed.
func (x *extraction) add(name string, k kind) int32 {
	if id, ok := x.index[name]; ok {
		if k > x.entities[id].kind {
			x.entities[id].kind = k
		}
		return id
	}
	id := int32(len(x.entities))
	x.entities = append(x.entities, entity{name: name, kind: k, alias: id, words: 1 + strings.Count(name, " ")})
	x.index[name] = id
	return id
}

// mention records an occurrence of an entity.
func (x *extraction) mention(sent int32, m mention) {
	x.entities[m.entity].mentions++
	x.sents[sent].mentions = append(x.sents[sent].mentions, m)
}

func (e *entity) vote(t entityType, n int) { e.votes[t] += n }

// typ is the type with most votes; ties fall to the first listed, and no vote
// means concept.
func (e *entity) typ() entityType {
	best, most := typeConcept, 0
	for t := typePerson; t < typeCount; t++ {
		if e.votes[t] > most {
			best, most = t, e.votes[t]
		}
	}
	return best
}

// resolveShortNames lets "Curie" mean the first person of the text that has
// this last or first name in full.
func (x *extraction) resolveShortNames() {
	owner := map[string]int32{}
	for id := range x.entities {
		e := &x.entities[id]
		if e.kind != kindName || e.words < 2 || e.words > 4 || e.typ() != typePerson {
			continue
		}
		f := strings.Fields(e.name)
		for _, part := range []string{f[0], f[len(f)-1]} {
			if _, taken := owner[part]; !taken {
				owner[part] = int32(id)
			}
		}
	}
	for id := range x.entities {
		e := &x.entities[id]
		long, ok := owner[e.name]
		if !ok || e.words != 1 || e.typ() > typePerson {
			continue
		}
		e.alias = long
		full := &x.entities[long]
		full.mentions += e.mentions
		e.mentions = 0
	}
	for i := range x.sents {
		for k := range x.sents[i].mentions {
			m := &x.sents[i].mentions[k]
			m.entity = x.entities[m.entity].alias
		}
	}
}

// worth ranks candidates; zero means not worth a row.
func (x *extraction) worth(e *entity, loose bool) int {
	n := min(e.mentions, 20)
	if n == 0 {
		return 0
	}
	w := 0
	switch {
	case e.kind != kindConcept:
		w = 30 + 6*n
		if e.typ() != typeConcept {
			w += 15
		}
	case e.admitted:
		w = 18 + 6*n
	case n >= 2 && (e.words > 1 || x.lang >= chinese || x.lang == german && len(e.name) >= 9), n >= 3, loose && n >= 2:
		w = 2 + 5*n + 2*e.words
	case e.weak && (e.words > 1 || loose):
		w = e.words
	}
	return w
}

// selectEntities keeps the worthiest candidates and numbers them in the order
// of their first mention. Mentions of the others, and mentions inside longer
// ones, are dropped.
func (x *extraction) selectEntities() {
	x.take(x.ranked(), maxEntities+maxEntities/2) // some are only ever met inside longer ones
	x.placeMentions()
	for id := range x.entities {
		e := &x.entities[id]
		e.mentions = 0
		e.selected = false
	}
	for i := range x.sents {
		for _, m := range x.sents[i].mentions {
			x.entities[m.entity].mentions++
		}
	}
	x.take(x.ranked(), maxEntities)
	x.placeMentions()
	next := int32(0)
	for i := range x.sents {
		for _, m := range x.sents[i].mentions {
			e := &x.entities[m.entity]
			if e.order == 0 {
				next++
				e.order = next
			}
			if n := len(e.sents); (n == 0 || e.sents[n-1] != int32(i)) && n < 64 {
				e.sents = append(e.sents, int32(i))
			}
		}
	}
}

// ranked returns the candidates worth a row, the worthiest first.
func (x *extraction) ranked() []int32 {
	type ranked struct{ id, worth int32 }
	var list []ranked
	for _, loose := range []bool{false, true} {
		list = list[:0]
		for id := range x.entities {
			if w := x.worth(&x.entities[id], loose); w > 0 {
				list = append(list, ranked{int32(id), int32(w)})
			}
		}
		if len(list) >= 6 {
			break
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(b.worth, a.worth) })
	ids := make([]int32, len(list))
	for i := range list {
		ids[i] = list[i].id
	}
	return ids
}

func (x *extraction) take(ids []int32, limit int) {
	for _, id := range ids[:min(limit, len(ids))] {
		x.entities[id].selected = true
	}
}

// placeMentions sorts the mentions of every sentence and drops those of
// entities that are not selected and those inside longer ones. An entity that
// is left without one is not selected any more.
func (x *extraction) placeMentions() {
	met := make([]bool, len(x.entities))
	for i := range x.sents {
		ms := x.sents[i].mentions
		slices.SortStableFunc(ms, func(a, b mention) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
		kept, end := ms[:0], int32(-1)
		for _, m := range ms {
			if !x.entities[m.entity].selected || m.start < end {
				continue
			}
			met[m.entity] = true
			end = m.end
			kept = append(kept, m)
		}
		x.sents[i].mentions = kept
	}
	for id := range x.entities {
		x.entities[id].selected = x.entities[id].selected && met[id]
	}
}

// ordered returns the selected entities by first mention.
func (x *extraction) ordered() []int32 {
	var ids []int32
	for id := range x.entities {
		if x.entities[id].selected {
			ids = append(ids, int32(id))
		}
	}
	slices.SortFunc(ids, func(a, b int32) int { return cmp.Compare(x.entities[a].order, x.entities[b].order) })
	return ids
}

// clean drops invalid UTF-8, control characters and the marks that records are
// made of, so that no text can forge a record.
func clean(s string) string {
	ok := true
	for _, r := range s {
		if r == unicode.ReplacementChar || r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f {
			ok = false
			break
		}
	}
	if !ok {
		s = strings.Map(func(r rune) rune {
			if r == unicode.ReplacementChar || r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f {
				return -1
			}
			return r
		}, s)
	}
	s = strings.ReplaceAll(s, "**", "")
	if !strings.ContainsAny(s, "|<") {
		return s
	}
	b := []byte(s)
	for i := range b { // reads s, writes b: what is blanked still counts as a neighbour
		before, after := byte(0), byte(0)
		if i > 0 {
			before = s[i-1]
		}
		if i+1 < len(s) {
			after = s[i+1]
		}
		if s[i] == '|' && (strings.IndexByte("<>#|", before) >= 0 || strings.IndexByte("<>#|", after) >= 0) || s[i] == '#' && before == '<' {
			b[i] = ' '
		}
	}
	return string(b)
}
