package fuzz

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm"
)

// entity and relation are what a document says.
type entity struct{ name, typ, description string }

type relation struct{ a, b, keyword, description string }

// document is a document as the model knows it.
type document struct {
	id        string
	entities  []entity
	relations []relation
}

// text is what is inserted; extraction gets the records back from it.
func (d *document) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Passage of %s.\n", d.id)
	for _, e := range d.entities {
		fmt.Fprintf(&b, "entity<|#|>%s<|#|>%s<|#|>%s\n", e.name, e.typ, e.description)
	}
	for _, r := range d.relations {
		fmt.Fprintf(&b, "relation<|#|>%s<|#|>%s<|#|>%s<|#|>%s\n", r.a, r.b, r.keyword, r.description)
	}
	return b.String()
}

// source is where choices come from: rapid, a fuzzer, a seed.
type source interface{ pick(n int) int }

// draw makes a document. Names are few, so that documents share owners; each
// owner gets one record, and serial makes the text unlike any other.
func draw(s source, id string, serial int) document {
	d := document{id: id}
	for i := range 6 {
		if s.pick(2) == 0 {
			d.entities = append(d.entities, entity{
				name: fmt.Sprint("Name ", i), typ: []string{"person", "place", "thing"}[s.pick(3)],
				description: fmt.Sprintf("Name %d by %s", i, words(s, serial)),
			})
		}
	}
	for range s.pick(5) {
		i, j := s.pick(9), s.pick(9)
		if i == j || slices.ContainsFunc(d.relations, func(r relation) bool {
			return r.a == fmt.Sprint("Name ", min(i, j)) && r.b == fmt.Sprint("Name ", max(i, j))
		}) {
			continue
		}
		d.relations = append(d.relations, relation{
			a: fmt.Sprint("Name ", min(i, j)), b: fmt.Sprint("Name ", max(i, j)),
			keyword: []string{"war", "peace", "trade"}[s.pick(3)], description: "They " + words(s, serial),
		})
	}
	d.entities = append(d.entities, entity{"Hub", "place", fmt.Sprint("Seen in text ", serial)})
	return d
}

// words is sometimes the same for several documents.
func words(s source, serial int) string {
	if n := s.pick(6); n < 4 {
		return []string{"alpha", "beta river", "gamma stone wall", "delta"}[n]
	}
	return fmt.Sprint("serial ", serial)
}

// state is the model of a store: the live documents in the order in which
// they were accepted.
type state []document

// with returns the state after d was inserted or took the place of its
// predecessor.
func (s state) with(d document) state { return append(s.without(d.id), d) }

func (s state) without(ids ...string) state {
	return slices.DeleteFunc(slices.Clone(s), func(d document) bool { return slices.Contains(ids, d.id) })
}

// owner is what a store must say about an entity or a relation.
type owner struct {
	typ, keywords string
	descriptions  []string
	sources       []string
	weight        int
	neighbours    map[string]bool
}

// graph derives the entities and relations of the live documents.
func (s state) graph() (entities map[string]*owner, relations map[[2]string]*owner) {
	entities, relations = make(map[string]*owner), make(map[[2]string]*owner)
	votes := make(map[string][]string)
	first := make(map[string]string) // text of the first relation of an entity
	node := func(name string) *owner {
		if entities[name] == nil {
			entities[name] = &owner{neighbours: make(map[string]bool)}
		}
		return entities[name]
	}
	add := func(list *[]string, s string) {
		if !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	for _, d := range s {
		for _, e := range d.entities {
			o := node(e.name)
			votes[e.name] = append(votes[e.name], e.typ)
			add(&o.descriptions, e.description)
			add(&o.sources, d.id+"#0")
		}
		for _, r := range d.relations {
			for _, end := range [][2]string{{r.a, r.b}, {r.b, r.a}} {
				o := node(end[0])
				o.neighbours[end[1]] = true
				add(&o.sources, d.id+"#0")
				if first[end[0]] == "" {
					first[end[0]] = r.description
				}
			}
			key := [2]string{r.a, r.b}
			if relations[key] == nil {
				relations[key] = &owner{}
			}
			o := relations[key]
			o.weight++
			add(&o.descriptions, r.description)
			add(&o.sources, d.id+"#0")
			if list := strings.Fields(o.keywords); !slices.Contains(list, r.keyword) {
				list = append(list, r.keyword)
				slices.Sort(list)
				o.keywords = strings.Join(list, " ")
			}
		}
	}
	for name, o := range entities {
		o.typ = majority(votes[name])
		if len(o.descriptions) == 0 {
			o.descriptions = []string{first[name]}
		}
	}
	return entities, relations
}

// majority returns the most frequent type; of several the first.
func majority(votes []string) string {
	best, most := "UNKNOWN", 0
	for _, v := range votes {
		n := 0
		for _, w := range votes {
			if v == w {
				n++
			}
		}
		if n > most {
			best, most = v, n
		}
	}
	return best
}

// lines lists the graph for comparison.
func (s state) lines() []string {
	entities, relations := s.graph()
	var out []string
	for name, o := range entities {
		out = append(out, line(name, o.typ, strings.Join(o.descriptions, "<SEP>"), len(o.neighbours), o.sources))
	}
	for k, o := range relations {
		out = append(out, line(k[0]+" - "+k[1], o.keywords, strings.Join(o.descriptions, "<SEP>"), o.weight, o.sources))
	}
	slices.Sort(out)
	return out
}

func line(name, typ, description string, n int, sources []string) string {
	return fmt.Sprintf("%s (%s) %d %q: %s", name, typ, n, sources, description)
}

// stored lists the graph of a store in the same form.
func stored(db *engine.DB) (out []string, err error) {
	v := db.View()
	defer v.Close()
	err = v.Entities(func(e *engine.Entity) error {
		out = append(out, line(e.Name, e.Type, e.Description, e.Degree, e.Sources))
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = v.Relations(func(e *engine.Relation) error {
		out = append(out, line(e.Src+" - "+e.Tgt, strings.Join(e.Keywords, " "), e.Description, int(e.Weight), e.Sources))
		return nil
	})
	slices.Sort(out)
	return out, err
}

// copier is a language model that finds in a text the records that stand in
// it. before, if set, is called first.
type copier struct{ before func() }

func (copier) Model() string { return "copier" }

func (c copier) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	if c.before != nil {
		c.before()
	}
	_, body, _ := strings.Cut(req.Input.Text, "\n")
	return llm.Response{Text: body + "\n<|COMPLETE|>"}, nil
}

const dim = 48

// bag is an embedder whose vectors count hashed words.
type bag struct{}

func (bag) Info() llm.EmbedderInfo { return llm.EmbedderInfo{Name: "bag", Dim: dim} }

func (bag) Embed(_ context.Context, texts []string, _ llm.Purpose) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = vector(t)
	}
	return out, nil
}

func vector(text string) []float32 {
	v := make([]float32, dim)
	for _, w := range strings.Fields(strings.ReplaceAll(text, "<SEP>", " ")) {
		h := sha256.Sum256([]byte(w))
		v[int(h[0])%dim] += 1
		v[int(h[1])%dim] -= 0.5
	}
	v[0] += 0.01
	return v
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+float64(a[i])*float64(b[i]), aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// nearest returns the cosines of all entities with a text, best first.
func (s state) nearest(text string) (scores map[string]float64, best []float64) {
	scores = make(map[string]float64)
	entities, _ := s.graph()
	q := vector(text)
	for name, o := range entities {
		scores[name] = cosine(q, vector(name+"\n"+strings.Join(o.descriptions, "<SEP>")))
		best = append(best, scores[name])
	}
	slices.SortFunc(best, func(a, b float64) int { return cmp.Compare(b, a) })
	return scores, best
}
