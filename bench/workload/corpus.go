package workload

import (
	"math"
	"strconv"
	"strings"
)

const seed = 20261129

// Chunk is one passage and what an extraction model answers for it: eight
// entity and eight relation records. Text begins with the marker [[ID]].
type Chunk struct {
	ID, Text, Answer string
}

// Question is a query with its low- and high-level keywords.
type Question struct {
	ID, Text  string
	Low, High []string
}

// Size is how much of the corpus has been made.
type Size struct {
	Chunks, Mentions, Entities, Relations int
}

// Corpus makes chunks one after the other.
type Corpus struct {
	words, keywords []string
	r, names        splitmix

	entities []string
	types    []string
	counts   []int
	used     map[string]struct{}
	mentions []int
	edges    map[[2]int]struct{}
	chunks   int
}

var (
	onsets = strings.Fields("b c d f g h j k l m n p r s t v z br dr gr kr pl st tr")
	vowels = strings.Fields("a e i o u ai ea ou")
	kinds  = strings.Fields("Person Organization Location Event Concept Method Artifact Data")
)

// NewCorpus returns the corpus at its beginning.
func NewCorpus() *Corpus {
	return &Corpus{
		words: makeWords(4096, seed^1), keywords: makeWords(600, seed^2),
		r: splitmix{seed}, names: splitmix{seed ^ 3},
		used: make(map[string]struct{}), edges: make(map[[2]int]struct{}),
	}
}

// Size returns what has been made so far.
func (c *Corpus) Size() Size {
	return Size{c.chunks, len(c.mentions), len(c.entities), len(c.edges)}
}

// Questions returns n questions about entities mentioned so far.
func (c *Corpus) Questions(n int) []Question {
	r := splitmix{seed ^ 4}
	out := make([]Question, n)
	for i := range out {
		q := &out[i]
		for len(q.Low) < 3 {
			name := c.entities[c.mentions[r.below(len(c.mentions))]]
			if !contains(q.Low, name) {
				q.Low = append(q.Low, name)
			}
		}
		for range 3 {
			q.High = append(q.High, c.keywords[zipf(&r, 600)])
		}
		q.ID = "q" + pad(i, 3)
		q.Text = "How does " + q.Low[0] + " relate to " + q.Low[1] + " and " + q.Low[2] + " with regard to " + q.High[0] + "?"
	}
	return out
}

// Next makes the next chunk.
func (c *Corpus) Next() Chunk {
	var ents []int
	for len(ents) < 8 {
		e := c.mention(ents)
		if e < 0 {
			continue
		}
		ents = append(ents, e)
		c.mentions = append(c.mentions, e)
		c.counts[e]++
	}
	var pairs [][2]int
	for len(pairs) < 8 {
		a, b := c.r.below(8), c.r.below(8)
		if a == b || containsPair(pairs, a, b) {
			continue
		}
		pairs = append(pairs, [2]int{a, b})
	}

	var answer, text strings.Builder
	for _, e := range ents {
		answer.WriteString("entity<|#|>" + c.entities[e] + "<|#|>" + c.types[e] + "<|#|>" + c.entities[e] + " " + c.fill(20) + ".\n")
	}
	id := "c" + pad(c.chunks, 6)
	text.WriteString("[[" + id + "]]")
	for _, p := range pairs {
		x, y := ents[p[0]], ents[p[1]]
		a, b := c.entities[x], c.entities[y]
		kw := c.keywords[zipf(&c.r, 600)]
		kw += ", " + c.keywords[zipf(&c.r, 600)]
		answer.WriteString("relation<|#|>" + a + "<|#|>" + b + "<|#|>" + kw + "<|#|>" + a + " " + c.fill(7) + " " + b + " " + c.fill(7) + ".\n")
		c.edges[[2]int{min(x, y), max(x, y)}] = struct{}{}
		text.WriteString(" " + a + " " + c.fill(30) + " " + b + " " + c.fill(30) + ".")
	}
	answer.WriteString("<|COMPLETE|>")
	for text.Len() < 4500 {
		s := c.fill(12)
		text.WriteString(" " + strings.ToUpper(s[:1]) + s[1:] + ".")
	}
	c.chunks++
	return Chunk{ID: id, Text: text.String()[:min(text.Len(), 4700)], Answer: answer.String()}
}

// mention draws the next entity of a chunk by a Pitman-Yor process; -1 means
// that the draw fell on one that the chunk has already.
func (c *Corpus) mention(have []int) int {
	const discount, strength = 0.9, 100.0
	i := len(c.mentions)
	if i == 0 || c.r.unit() < (strength+discount*float64(len(c.entities)))/(float64(i)+strength) {
		return c.newEntity()
	}
	var e int
	for {
		e = c.mentions[c.r.below(i)]
		if n := float64(c.counts[e]); c.r.unit() < (n-discount)/n {
			break
		}
	}
	for _, h := range have {
		if h == e {
			return -1
		}
	}
	return e
}

func (c *Corpus) newEntity() int {
	for {
		a := title(c.words[c.names.below(4096)])
		name := a + " " + title(c.words[c.names.below(4096)])
		if _, dup := c.used[name]; dup {
			continue
		}
		c.used[name] = struct{}{}
		c.entities = append(c.entities, name)
		c.types = append(c.types, kinds[c.names.below(8)])
		c.counts = append(c.counts, 0)
		return len(c.entities) - 1
	}
}

func (c *Corpus) fill(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(c.words[zipf(&c.r, 4096)])
	}
	return b.String()
}

// zipf draws an index below n, log-uniformly.
func zipf(r *splitmix, n int) int {
	return min(n-1, int(math.Pow(float64(n), r.unit()))-1)
}

func makeWords(n int, seed uint64) []string {
	r := splitmix{seed}
	seen := make(map[string]struct{})
	var out []string
	for len(out) < n {
		var w string
		for range 2 + r.below(2) {
			w += onsets[r.below(len(onsets))]
			w += vowels[r.below(len(vowels))]
		}
		if r.below(2) != 0 {
			w += "nrslt"[r.below(5):][:1]
		}
		if _, dup := seen[w]; !dup && len(w) >= 4 && len(w) <= 10 {
			seen[w] = struct{}{}
			out = append(out, w)
		}
	}
	return out
}

func title(w string) string { return strings.ToUpper(w[:1]) + w[1:] }

func pad(n, width int) string {
	s := strconv.Itoa(n)
	return strings.Repeat("0", max(0, width-len(s))) + s
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func containsPair(pairs [][2]int, a, b int) bool {
	for _, p := range pairs {
		if p == [2]int{a, b} || p == [2]int{b, a} {
			return true
		}
	}
	return false
}
