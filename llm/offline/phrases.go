package offline

import "strings"

// phrases counts runs of one to three content words that are no names. They
// become concepts when the text repeats them.
func (x *extraction) phrases() {
	type gram struct {
		count int
		last  int32 // sentence of the last occurrence, to see spread
		sents int
	}
	grams := map[string]*gram{}
	var found []phrase
	for si := range x.sents {
		s := &x.sents[si]
		if s.heading {
			continue
		}
		s.eachRun(func(run []token) {
			for i := range run {
				for n := 1; n <= 3 && i+n <= len(run); n++ {
					p, ok := newPhrase(s.text, run[i:i+n], x.lang)
					if !ok {
						continue
					}
					g := grams[p.key]
					if g == nil {
						g = &gram{last: -1}
						grams[p.key] = g
					}
					g.count++
					if g.last != int32(si) {
						g.sents++
						g.last = int32(si)
					}
					p.sent = int32(si)
					found = append(found, p)
				}
			}
		})
	}
	for _, p := range found {
		if g := grams[p.key]; g.count < 2 || g.sents < 2 {
			continue
		}
		if _, isName := x.index[p.key]; isName && x.entities[x.index[p.key]].kind != kindConcept {
			continue
		}
		x.mention(p.sent, mention{entity: x.add(p.key, kindConcept), start: p.start, end: p.end, subject: p.start < 12})
	}
}

type phrase struct {
	key        string
	start, end int32
	sent       int32
}

// eachRun calls f with every run of adjacent lower-case content words, at most
// six words long.
func (s *sentence) eachRun(f func(run []token)) {
	begin := -1
	for k := 0; k <= len(s.toks); k++ {
		if k < len(s.toks) {
			t := &s.toks[k]
			good := t.content() && !t.ident && !t.caps && t.class&(verb|common|role|calendar) == 0 &&
				(!t.upper || k == 0 && len(t.text) > 3) && !strings.HasSuffix(t.low, "ly") && len(t.low) > 2
			if good && (begin < 0 || t.space && k-begin < 6) {
				if begin < 0 {
					begin = k
				}
				continue
			}
			if begin >= 0 {
				f(s.toks[begin:k])
			}
			begin = -1
			if good {
				begin = k
			}
			continue
		}
		if begin >= 0 {
			f(s.toks[begin:])
		}
	}
}

// newPhrase names a run of words: lower case, the last word in the singular.
func newPhrase(text string, run []token, lang language) (phrase, bool) {
	first, last := &run[0], &run[len(run)-1]
	w := last.low
	if len(run) == 1 && len(w) < 5 || strings.HasSuffix(w, "ed") || len(run) > 1 && strings.HasSuffix(first.low, "ed") {
		return phrase{}, false
	}
	for _, suf := range [...]string{"ous", "ful", "ical", "ive", "able", "ible", "al"} {
		if strings.HasSuffix(w, suf) && len(w) > len(suf)+3 {
			return phrase{}, false // ends in an adjective
		}
	}
	if lang == german {
		return phrase{}, false // nouns are capitalised and found as names are
	}
	base := singular(w)
	key := base
	if len(run) > 1 {
		key = strings.ToLower(text[first.start:last.start]) + base
		if strings.ContainsAny(key, "\n\t\r") || strings.Contains(key, "  ") {
			key = strings.Join(strings.Fields(key), " ")
		}
	}
	return phrase{key: key, start: first.start, end: last.end}, true
}

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
