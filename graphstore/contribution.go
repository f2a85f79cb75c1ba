package graphstore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lightctl/lightrag/format"
)

// Prepared is what contributions come to. It is to be committed once, holds
// nothing that must be released, and is used by one goroutine.
type Prepared struct {
	list  []Contribution
	plan  plan
	roots []*Root
	used  bool

	chunkAt map[ChunkID]int // where SetChunkVector finds them
}

// Roots returns the owners that are new or, of a single contribution, whose text
// to embed changes, sorted by kind and name. The caller sets their vectors before
// Commit.
func (p *Prepared) Roots() []*Root { return p.roots }

// Prepare works out what the contributions of list make of the owners they touch,
// on the newest published view and without the writer's lock. Several are
// committed in one step, so that an owner that many documents speak of is
// derived and written once: what becomes of those that exist is then left to
// Commit, because other commits are likely to touch them before. Prepare keeps
// the slices of list. The error matches ErrInvalid and names what is wrong,
// ErrNotFound for an unknown document, or ErrMismatch for a vector of the wrong
// dimension.
func (s *Store) Prepare(ctx context.Context, list ...Contribution) (*Prepared, error) {
	p, err := s.prepare(ctx, list)
	return p, opError("prepare", documentsText(list), err)
}

// documentsText names the documents of contributions.
func documentsText(list []Contribution) string {
	if len(list) == 1 {
		return fmt.Sprintf("document %d", list[0].Doc)
	}
	return fmt.Sprintf("%d documents", len(list))
}

func (s *Store) prepare(ctx context.Context, list []Contribution) (*Prepared, error) {
	if err := s.writable(); err != nil {
		return nil, err
	}
	st, err := s.acquire()
	if err != nil {
		return nil, err
	}
	defer st.release()
	r := newRows(st.snap)
	defer r.close()

	p := &Prepared{list: list, plan: plan{later: len(list) > 1}}
	for i := range list {
		if p.plan.comes(list[i].Doc) {
			return nil, invalidf("document %d comes twice", list[i].Doc)
		}
		p.plan.docs = append(p.plan.docs, plannedDoc{id: list[i].Doc})
	}
	docs, err := p.plan.replaced(r)
	if err != nil {
		return nil, err
	}
	g := newGatherer()
	for i := range list {
		if err := p.readChunks(s, r, &list[i], g.chunks); err != nil {
			return nil, err
		}
		if err := g.gather(&list[i]); err != nil {
			return nil, err
		}
	}
	if p.plan.adds, err = g.sorted(); err != nil {
		return nil, err
	}
	if err := p.plan.build(ctx, s, st, r, docs); err != nil {
		return nil, err
	}
	p.roots = p.plan.toEmbed()
	return p, nil
}

// toEmbed lists the roots that are new or whose text changes.
func (p *plan) toEmbed() (roots []*Root) {
	for _, ch := range p.changes {
		h := ch.next.rec.TextHash
		if ch.hidden || ch.later || ch.next.gone || !ch.fresh && (h == ch.rec.TextHash || h == ch.rec.VectorHash) {
			continue
		}
		roots = append(roots, &Root{Kind: ch.kind, Name: ch.name, Src: ch.src, Tgt: ch.tgt, New: ch.fresh, Text: ch.next.text, TextHash: h})
	}
	return roots
}

// readChunks checks the chunks of a contribution, makes their rows and notes
// their places.
func (p *Prepared) readChunks(s *Store, r *rows, c *Contribution, places map[ChunkID]chunkPlace) error {
	for i := range c.Chunks {
		cc := &c.Chunks[i]
		if _, twice := places[cc.ID]; twice {
			return invalidf("chunk %d is named twice", cc.ID)
		}
		stored, ok, err := r.chunk(c.Doc, cc.Order)
		if err != nil {
			return err
		}
		if !ok || stored.ID != cc.ID {
			return invalidf("chunk %d is not chunk %d of document %d", cc.ID, cc.Order, c.Doc)
		}
		if cc.Vector != nil {
			if err := s.checkVector(cc.Vector); err != nil {
				return fmt.Errorf("vector of chunk %d: %w", cc.Order, err)
			}
		}
		places[cc.ID] = chunkPlace{c.Doc, cc.Order}
		p.plan.chunks = append(p.plan.chunks, chunkAddition{
			id: cc.ID,
			row: format.ChunkRow{
				Doc: c.Doc, Order: cc.Order, LineTokens: uint32(s.measure.ChunkLine(stored.Text)),
				Keywords: cc.Keywords, CacheKeys: cc.CacheKeys, Malformed: cc.Malformed, Failure: cc.Failure,
			},
			vector: cc.Vector,
			terms:  s.terms.edits("", stored.Text),
		})
	}
	slices.SortFunc(p.plan.chunks, func(a, b chunkAddition) int {
		return cmp.Or(cmp.Compare(a.row.Doc, b.row.Doc), cmp.Compare(a.row.Order, b.row.Order))
	})
	return nil
}

// checkVector says whether a vector can be stored: it has the store's
// dimension, is finite and is not zero.
func (s *Store) checkVector(v []float32) error { return checkVector(v, int(s.ident.Dim)) }

func checkVector(v []float32, dim int) error {
	if len(v) != dim {
		return &MismatchError{Field: "vector dimension", Have: fmt.Sprint(dim), Want: fmt.Sprint(len(v))}
	}
	zero := true
	for i, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return invalidf("component %d is %v", i, x)
		}
		zero = zero && x == 0
	}
	if zero {
		return invalidf("all components are zero")
	}
	return nil
}

// nameInChunk is an entity in a chunk.
type nameInChunk struct {
	name  string
	chunk ChunkID
}

// chunkPlace is where a chunk is.
type chunkPlace struct {
	doc   DocID
	order uint32
}

// gatherer groups the fragments of contributions by raw owner.
type gatherer struct {
	chunks    map[ChunkID]chunkPlace
	entities  map[string]*raw
	relations map[[2]string]*raw
}

func newGatherer() *gatherer {
	return &gatherer{make(map[ChunkID]chunkPlace), make(map[string]*raw), make(map[[2]string]*raw)}
}

// gather adds the fragments of c to their raw owners, and the implied ones: at
// most one per entity and chunk, and none where the chunk has a record of the
// entity.
func (g *gatherer) gather(c *Contribution) error {
	extracted := make(map[nameInChunk]struct{}, len(c.Entities))
	for i := range c.Entities {
		f := &c.Entities[i]
		if err := g.check(c.Doc, f.Chunk, f.Key, f.Name); err != nil {
			return err
		}
		extracted[nameInChunk{f.Name, f.Chunk}] = struct{}{}
		e := g.entity(f.Name)
		frag := format.Fragment{Class: format.ClassExtracted, Chunk: f.Chunk, Type: f.Type, Description: f.Description}
		if f.Mention {
			frag = format.Fragment{Class: format.ClassImplied, Chunk: f.Chunk}
		}
		e.add = append(e.add, addition{fragment: fragment{key: f.Key, Fragment: frag}})
	}
	implied := make(map[nameInChunk]addition)
	for i := range c.Relations {
		f := &c.Relations[i]
		if err := g.check(c.Doc, f.Chunk, f.Key, f.Src, f.Tgt); err != nil {
			return err
		}
		if f.Src == f.Tgt {
			return invalidf("relation of %q with itself", f.Src)
		}
		if f.Weight < 0 {
			return invalidf("relation %q, %q: weight %d", f.Src, f.Tgt, f.Weight)
		}
		rel := g.relation(f.Src, f.Tgt)
		rel.add = append(rel.add, addition{fragment: fragment{key: f.Key, Fragment: format.Fragment{
			Class: format.ClassExtracted, Chunk: f.Chunk, Description: f.Description,
			Keywords: keywords(f.Keywords), Weight: f.Weight,
		}}})
		for _, name := range [2]string{f.Src, f.Tgt} {
			at := nameInChunk{name, f.Chunk}
			if _, ok := extracted[at]; ok {
				continue
			}
			if e := g.entities[name]; c.ListedSources && e != nil && len(e.add) > 0 && e.add[len(e.add)-1].key.Doc == c.Doc {
				continue
			}
			if first, ok := implied[at]; ok && first.key.Compare(f.Key) <= 0 {
				continue
			}
			implied[at] = addition{
				fragment: fragment{key: f.Key, Fragment: format.Fragment{Class: format.ClassImplied, Chunk: f.Chunk}},
				via:      rel, text: f.Description,
			}
		}
	}
	for at, a := range implied {
		e := g.entity(at.name)
		e.add = append(e.add, a)
	}
	return nil
}

// check says whether a fragment is where it says it is.
func (g *gatherer) check(doc DocID, chunk ChunkID, key FragmentKey, names ...string) error {
	for _, n := range names {
		if strings.TrimSpace(n) == "" || !utf8.ValidString(n) || strings.ContainsRune(n, 0) {
			return invalidf("name %q", n)
		}
	}
	at, ok := g.chunks[chunk]
	switch {
	case !ok || at.doc != doc:
		return invalidf("fragment of %q: chunk %d is not part of the contribution", names, chunk)
	case key.Doc != doc || key.Order != at.order:
		return invalidf("fragment of %q: key %+v is not of chunk %d of document %d", names, key, at.order, doc)
	}
	return nil
}

func (g *gatherer) entity(name string) *raw {
	c := g.entities[name]
	if c == nil {
		c = &raw{kind: format.KindEntity, name: name}
		g.entities[name] = c
	}
	return c
}

func (g *gatherer) relation(a, b string) *raw {
	if a > b {
		a, b = b, a
	}
	c := g.relations[[2]string{a, b}]
	if c == nil {
		c = &raw{kind: format.KindRelation, src: a, tgt: b, ends: [2]*raw{g.entity(a), g.entity(b)}}
		g.relations[[2]string{a, b}] = c
	}
	return c
}

// sorted returns the raw owners, entities before relations.
func (g *gatherer) sorted() ([]*raw, error) {
	out := make([]*raw, 0, len(g.entities)+len(g.relations))
	for _, c := range g.entities {
		out = append(out, c)
	}
	for _, c := range g.relations {
		out = append(out, c)
	}
	slices.SortFunc(out, compareRaws)
	for _, c := range out {
		for i := range c.add {
			c.add[i].of = c
		}
		slices.SortFunc(c.add, func(a, b addition) int { return a.key.Compare(b.key) })
		for i := 1; i < len(c.add); i++ {
			if c.add[i].key == c.add[i-1].key {
				return nil, invalidf("two fragments of %q%q%q have the key %+v", c.name, c.src, c.tgt, c.add[i].key)
			}
		}
	}
	return out, nil
}

// keywords returns list without blanks, sorted and distinct.
func keywords(list []string) []string {
	out := make([]string, 0, len(list))
	for _, k := range list {
		if k = strings.TrimSpace(k); k != "" {
			out = append(out, k)
		}
	}
	if len(out) == 0 {
		return nil
	}
	slices.Sort(out)
	return slices.Compact(out)
}
