package offline

import (
	"slices"
	"strings"

	"github.com/lightctl/lightrag/llm/offline/internal/poslex"
)

// maxPhrase is the number of words of a noun phrase.
const maxPhrase = 4

// phraseKey is the words of a phrase in the vocabulary of the text, the last
// one in the singular.
type phraseKey [maxPhrase]int32

// phraseUse is one occurrence of a phrase.
type phraseUse struct {
	count      int32 // index of its count
	sent       int32
	from, to   int32 // tokens
	whole      bool  // the run has no word before or behind it
	start, end int32
}

type phraseCount struct {
	uses, sents int32
	last        int32 // sentence of the last use, to see spread
}

// phrases finds noun phrases, (adjective | noun)* noun, of one to four words
// that are no names. Those that several sentences repeat become concepts. Those
// met once are weak: phrases beside a name, and anything in a text without names.
func (x *extraction) phrases() {
	if x.lang == german {
		return // nouns are capitalised and found as names are
	}
	index := make(map[phraseKey]int32)
	var counts []phraseCount
	var uses []phraseUse
	for si := range x.sents {
		s := &x.sents[si]
		if s.heading || s.loud {
			continue
		}
		x.eachRun(s, func(from, to int) {
			for i := from; i < to; i++ {
				if !starts(&s.toks[i]) {
					continue
				}
				for j := i + 1; j <= min(to, i+maxPhrase); j++ {
					if !ends(s.toks[i:j]) {
						continue
					}
					key := x.phraseKey(s.toks[i:j])
					k, ok := index[key]
					if !ok {
						k = int32(len(counts))
						index[key] = k
						counts = append(counts, phraseCount{last: -1})
					}
					c := &counts[k]
					c.uses++
					if c.last != int32(si) {
						c.sents++
						c.last = int32(si)
					}
					uses = append(uses, phraseUse{count: k, sent: int32(si), from: int32(i), to: int32(j), whole: i == from && j == to,
						start: s.toks[i].start, end: s.toks[j-1].end})
				}
			}
		})
	}
	nameless := !slices.ContainsFunc(x.entities, func(e entity) bool { return e.kind != kindConcept })
	ids := make([]int32, len(counts)) // entities, and one
	for _, u := range uses {
		repeated := counts[u.count].sents >= 2
		if !repeated && !(u.whole && x.sents[u.sent].toks[u.to-1].tag.Common() && (nameless || u.to-u.from > 1 && x.beside(u))) {
			continue
		}
		id := ids[u.count] - 1
		if id < 0 {
			s := &x.sents[u.sent]
			name := phraseName(s.text, s.toks[u.from:u.to])
			if k, ok := x.index[name]; ok && x.entities[k].kind != kindConcept {
				continue
			}
			id = x.add(name, kindConcept)
			x.entities[id].weak = !repeated
			ids[u.count] = id + 1
		}
		x.mention(u.sent, mention{entity: id, start: u.start, end: u.end, subject: u.start < 12})
	}
}

// beside reports whether a name is in the sentence of a phrase.
func (x *extraction) beside(u phraseUse) bool {
	for _, m := range x.sents[u.sent].mentions {
		if x.entities[m.entity].kind != kindConcept {
			return true
		}
	}
	return false
}

// eachRun calls f with every run of tokens [from, to) that a noun phrase may
// be made of: adjacent lower-case adjectives and nouns, the last one a noun.
func (x *extraction) eachRun(s *sentence, f func(from, to int)) {
	toks := s.toks
	begin := -1
	flush := func(end int) {
		if begin < 0 {
			return
		}
		if end-begin > maxPhrase+2 {
			begin = end - maxPhrase - 2
		}
		for end > begin && !nounLike(&toks[end-1]) {
			end--
		}
		if end > begin {
			f(begin, end)
		}
		begin = -1
	}
	for k := range toks {
		t := &toks[k]
		switch {
		case !x.phrasePart(toks, k, begin):
			flush(k)
		case begin < 0:
			begin = k
		case !t.space:
			flush(k)
			begin = k
		}
	}
	flush(len(toks))
}

// phrasePart reports whether token k may be part of a noun phrase that begins
// at token begin, or begin one when that is negative.
func (x *extraction) phrasePart(toks []token, k, begin int) bool {
	t := &toks[k]
	if !t.content() || !t.whole() || t.ident || t.caps || len(t.low) < 3 || t.class&(common|role|calendar) != 0 || strings.HasSuffix(t.low, "ly") {
		return false
	}
	if t.upper && !(k == 0 && len(t.text) > 3 && (t.tag.Common() || x.voc.of(t).low > 0)) {
		return false
	}
	switch {
	case t.tag == 0:
		return t.class&verb == 0 && !strings.HasSuffix(t.low, "ed")
	case t.tag.Most() == poslex.Adverb && !t.tag.May(poslex.Noun|poslex.Adjective):
		return false
	case t.tag.Most() == poslex.Verb || t.class&verb != 0:
		// A word that is a verb as a rule is a noun behind "the" or "of", and
		// an adjective, "shared", before a noun.
		if strings.HasSuffix(t.low, "ed") {
			return begin < 0 && t.tag.May(poslex.Adjective) && k > 0 && toks[k-1].class&determiner != 0
		}
		return t.tag.May(poslex.Noun) && (begin >= 0 && toks[k-1].tag.Most() == poslex.Adjective ||
			begin < 0 && k > 0 && (toks[k-1].class&determiner != 0 || toks[k-1].low == "of"))
	}
	return t.tag.May(poslex.Noun|poslex.Adjective) || t.tag.Proper() != poslex.NoName
}

// nounLike reports whether a phrase may end in the word.
func nounLike(t *token) bool {
	if t.tag == 0 {
		return !adjectiveEnding(t.low)
	}
	return t.tag.May(poslex.Noun) && (t.tag.Most() != poslex.Adjective || t.tag.Kind() != poslex.Thing && !adjectiveEnding(t.low)) && t.tag.Most() != poslex.Adverb
}

func adjectiveEnding(low string) bool {
	for _, suf := range [...]string{"ous", "ful", "ical", "ive", "able", "ible", "al", "ed"} {
		if strings.HasSuffix(low, suf) && len(low) > len(suf)+3 {
			return true
		}
	}
	return false
}

// starts reports whether a phrase may begin with the word.
func starts(t *token) bool { return !vague[t.low] }

// ends reports whether words are a phrase by their last one: a noun that says
// something, and more than a little when it stands alone.
func ends(run []token) bool {
	last := &run[len(run)-1]
	if !nounLike(last) || vague[last.low] {
		return false
	}
	return len(run) > 1 || len(last.low) >= 5 && last.tag.Kind() != poslex.Time
}

func (x *extraction) phraseKey(run []token) (key phraseKey) {
	for i := range run {
		key[i] = run[i].id
	}
	last := &run[len(run)-1]
	if base := singular(last.low); base != last.low {
		key[len(run)-1] = x.voc.id(base)
	}
	return key
}

// phraseName writes a phrase in lower case, its last word in the singular.
func phraseName(text string, run []token) string {
	last := &run[len(run)-1]
	base := singular(last.low)
	if len(run) == 1 {
		return base
	}
	return oneLine(strings.ToLower(text[run[0].start:last.start]) + base)
}

// vague words neither begin nor end a phrase that is worth keeping.
var vague = set(`thing things way ways kind kinds sort sorts case cases lot lots bit number numbers part parts set sets use uses
time times example examples fact facts point points place places end side sides result results amount order form forms
various certain whole main other same different following previous additional available possible particular specific
single multiple full entire real actual current appropriate necessary useful common general special normal simple
general usual own able sure due likely several better best good bad great big large small little long short old new
high low early late first second third last next many much more most less least day days year years month months week weeks
hour hours minute minutes moment while man men woman women person people someone anything something everything
text line lines page pages section sections chapter note notes above below left right top bottom middle`)

// quoted takes what stands between quotation marks of East Asia, and between
// curly ones, for a name when it is short.
func (x *extraction) quoted(si int32) {
	text := x.sents[si].text
	for _, q := range [...][2]string{{"「", "」"}, {"『", "』"}, {"《", "》"}, {"“", "”"}, {"〈", "〉"}} {
		for from := 0; ; {
			a := strings.Index(text[from:], q[0])
			if a < 0 {
				break
			}
			a += from + len(q[0])
			b := strings.Index(text[a:], q[1])
			if b < 0 {
				break
			}
			from = a + b + len(q[1])
			name := strings.TrimSpace(text[a : a+b])
			n := runes(name)
			if n < 2 || n > 24 || strings.ContainsAny(name, "。，,.!?！？\n") || strings.Count(name, " ") > 4 {
				continue
			}
			if q[0] == "“" && !scriptOf(firstRune(name)).cjk() && (name == strings.ToLower(name) || strings.Count(name, " ") > 3) {
				continue // ordinary quoted speech
			}
			id := x.add(name, kindName)
			x.mention(si, mention{entity: id, start: int32(a), end: int32(a + b)})
		}
	}
}
