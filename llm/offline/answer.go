package offline

import (
	"strconv"
	"strings"

	"github.com/lightctl/lightrag/llm"
)

// Bounds of an answer.
const (
	maxAnswer    = 5         // sentences
	maxPassages  = 200       // read
	maxPassage   = 256 << 10 // bytes read of one passage
	maxCorpus    = 20000     // sentences read in all
	maxFacts     = 40
	firstPenalty = 0.02 // per rank of a passage
)

// answer answers TaskAnswer: chosen sentences with their citations, and the
// list of what was cited, in pieces to be streamed.
func answer(in *llm.Input) []string {
	a := newAnswerer(in)
	picks := a.choose()
	if len(picks) == 0 {
		return []string{NothingFound}
	}
	var pieces []string
	var refs []string
	paths := map[string]string{}
	for n, i := range picks {
		s := &a.c.sents[i]
		ref := reference(in.Passages, s.passage)
		if _, ok := paths[ref]; !ok {
			refs = append(refs, ref)
			paths[ref] = oneLine(in.Passages[s.passage].Path)
		}
		p := s.text + " [" + ref + "]"
		if n > 0 {
			p = " " + p
		}
		pieces = append(pieces, p)
	}
	var b strings.Builder
	b.WriteString("\n\n### References\n")
	for _, ref := range refs {
		b.WriteString("\n- [" + ref + "] " + paths[ref])
	}
	return append(pieces, b.String())
}

func reference(ps []llm.Passage, i int) string {
	if r := oneLine(ps[i].Reference); r != "" {
		return r
	}
	return strconv.Itoa(i + 1)
}

// answerer holds the sentences of the passages and what is asked of them.
type answerer struct {
	c       *corpus
	ask     asked
	weight  map[int32]float64 // of the question's terms
	total   float64           // of all its terms, found or not
	names   float64           // of those that are names
	bridge  map[int32]float64 // terms worth following: names that facts or chosen sentences bring up
	covered map[int32]bool
	chosen  []int
}

func newAnswerer(in *llm.Input) *answerer {
	a := &answerer{c: newCorpus(), weight: map[int32]float64{}, bridge: map[int32]float64{}, covered: map[int32]bool{}}
	seen := map[string]bool{}
	for i, p := range in.Passages {
		if i == maxPassages {
			break
		}
		text := clean(cut(p.Text, maxPassage))
		lang := languageOf(text)
		for _, s := range splitSentences(text) {
			s = oneLine(s)
			if s == "" || seen[s] || len(a.c.sents) >= maxCorpus {
				continue
			}
			seen[s] = true
			a.c.add(s, lang, i)
		}
	}
	a.readQuestion(in.Question)
	a.readFacts(in.Facts)
	return a
}

// readQuestion weighs the terms of the question.
func (a *answerer) readQuestion(question string) {
	q := clean(cut(question, maxQuestion))
	lang := languageOf(q)
	a.ask = askedBy(strings.ToLower(q), lang)
	seen := map[string]bool{}
	for _, s := range splitSentences(q) {
		toks := tokenize(nil, s, lang)
		kept := toks[:0]
		for _, t := range toks {
			if t.class&theme == 0 && !hanThemes[t.text] && !koreanThemes[analyseStem(&t)] {
				kept = append(kept, t)
			}
		}
		a.c.eachTerm(kept, s, lang, func(key string, name bool) {
			if seen[key] {
				return
			}
			seen[key] = true
			w := 1.0
			if name {
				w = 1.6
			}
			id, ok := a.c.vocab[key]
			if !ok {
				w = float64(w * a.c.idfOf(0)) // see gain
			} else {
				w = float64(w * a.c.idf(id))
				a.weight[id] = w
			}
			a.total += w
			if name {
				a.names += w
			}
		})
	}
}

func analyseStem(t *token) string {
	if t.script != scriptHangul {
		return ""
	}
	return analyseKorean(t.text).stem
}

// readFacts follows names that retrieved facts connect with the question.
func (a *answerer) readFacts(facts []llm.Fact) {
	for i, f := range facts {
		if i == maxFacts {
			break
		}
		hits := 0
		text := cut(clean(f.Name+" "+f.Target+" "+f.Description), 2000)
		a.eachKnown(text, func(t int32) {
			if a.weight[t] > 0 {
				hits++
			}
		})
		if hits < 2 {
			continue
		}
		a.eachKnown(cut(clean(f.Name+" "+f.Target), 500), func(t int32) {
			if a.weight[t] == 0 {
				a.bridge[t] = max(a.bridge[t], 0.2*a.c.idf(t))
			}
		})
	}
}

// eachKnown calls f with the terms of text that the passages hold.
func (a *answerer) eachKnown(text string, f func(int32)) {
	lang := languageOf(text)
	a.c.eachTerm(tokenize(nil, text, lang), text, lang, func(key string, _ bool) {
		if id, ok := a.c.vocab[key]; ok {
			f(id)
		}
	})
}

// choose picks sentences greedily: each time the one that adds most to what the
// chosen ones cover of the question.
func (a *answerer) choose() []int {
	if len(a.c.sents) == 0 {
		return nil
	}
	if a.total == 0 {
		if !a.ask.broad && !a.ask.define {
			return nil
		}
		return a.arrange(a.overview())
	}
	if !a.relevant() {
		return nil
	}
	most, share := a.ask.limits()
	first := 0.0
	for len(a.chosen) < most {
		best, gain, linked := -1, 0.0, false
		for i := range a.c.sents {
			if g, l := a.gain(i); g > gain {
				best, gain, linked = i, g, l
			}
		}
		if best < 0 || len(a.chosen) > 0 && gain < share*first && !linked {
			break
		}
		if len(a.chosen) == 0 {
			first = gain
		}
		a.take(best)
	}
	return a.arrange(a.chosen)
}

// relevant reports whether some passage speaks of the question: it holds a
// fair share of the question's weight, and a name if the question has one.
func (a *answerer) relevant() bool {
	best := 0.0
	sum := 0.0
	named := a.names == 0
	seen := map[int32]bool{}
	for i := range a.c.sents {
		if i > 0 && a.c.sents[i].passage != a.c.sents[i-1].passage {
			clear(seen)
			sum = 0
		}
		for _, t := range a.c.sents[i].terms {
			if w := a.weight[t]; w > 0 && !seen[t] {
				seen[t] = true
				sum += w
				named = named || a.c.name[t]
			}
		}
		best = max(best, sum)
	}
	return named && best >= 0.25*a.total || best >= 0.5*a.total
}

// minFresh is the share of the question that a sentence must newly cover to be
// taken because it follows up a name that a chosen one brought up.
const minFresh = 0.15

// minFollow is the least weight of a followed name; terms that are no names
// stay below it.
const minFollow = 0.5

// gain is what sentence i would add to the answer, and whether it follows up a
// chosen sentence by covering what is still open. A product that is added is
// converted, which keeps it from being fused into the sum: every platform rounds alike.
func (a *answerer) gain(i int) (gain float64, linked bool) {
	s := &a.c.sents[i]
	if s.heading || a.taken(i) {
		return 0, false
	}
	match, follow, fresh := 0.0, 0.0, 0.0
	own := func(terms []int32, share float64) {
		for _, t := range terms {
			w := float64(share * a.weight[t])
			if w == 0 {
				if share == 1 && !a.covered[t] {
					follow += a.bridge[t]
				}
				continue
			}
			if a.covered[t] {
				w = float64(w * 0.2)
			} else {
				fresh += w
			}
			match += w
		}
	}
	own(s.terms, 1)
	if i > 0 && a.c.sents[i-1].passage == s.passage && (s.pronoun || a.c.sents[i-1].heading) {
		share := 0.6
		if !s.pronoun {
			share = 0.25
		}
		own(a.missing(a.c.sents[i-1].terms, s.terms), share)
	}
	if match == 0 {
		return 0, false
	}
	g := match + min(follow, match)
	if a.hinted(s) {
		g += float64(0.3 * match)
	}
	// A long sentence matches more by chance.
	g /= 1 + float64(len(s.terms))/60
	g *= max(0.7, 1-float64(firstPenalty*float64(s.passage)))
	if s.broken {
		g *= 0.6
	}
	if strings.HasSuffix(s.text, "?") || strings.HasSuffix(s.text, "？") {
		g *= 0.5
	}
	for _, j := range a.chosen {
		if overlap(s.terms, a.c.sents[j].terms) > 0.6 {
			return 0, false
		}
	}
	return g, follow >= minFollow && fresh >= minFresh*a.total
}

func (a *answerer) taken(i int) bool {
	for _, j := range a.chosen {
		if j == i {
			return true
		}
	}
	return false
}

// missing returns the terms of a that b lacks.
func (*answerer) missing(a, b []int32) []int32 {
	var out []int32
next:
	for _, t := range a {
		for _, u := range b {
			if t == u {
				continue next
			}
		}
		out = append(out, t)
	}
	return out
}

// hinted reports whether a sentence holds the kind of thing that is asked for.
func (a *answerer) hinted(s *scored) bool {
	q := &a.ask
	return q.who && s.person || q.when && s.year || q.where && s.place || q.count && s.number || q.why && s.because || q.define && s.defines
}

// overlap is the share of the smaller set of terms that the other holds.
func overlap(a, b []int32) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return 0
	}
	same := 0
	for _, t := range a {
		for _, u := range b {
			if t == u {
				same++
				break
			}
		}
	}
	return float64(same) / float64(len(a))
}

// take adds a sentence, marks what it covers, and follows the names it brings
// up into other passages.
func (a *answerer) take(i int) {
	a.chosen = append(a.chosen, i)
	s := &a.c.sents[i]
	mark := func(terms []int32) {
		for _, t := range terms {
			if a.weight[t] > 0 {
				a.covered[t] = true
			} else if a.c.name[t] && a.c.df[t] > 1 {
				a.bridge[t] = max(a.bridge[t], 0.5*a.c.idf(t))
			} else if a.c.df[t] > 1 {
				a.bridge[t] = max(a.bridge[t], 0.1*a.c.idf(t))
			}
		}
	}
	mark(s.terms)
	if s.pronoun && i > 0 && a.c.sents[i-1].passage == s.passage {
		mark(a.c.sents[i-1].terms)
	}
}
