package graphstore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lightctl/lightrag/format"
)

// Prepared is a contribution that has been worked out and is to be committed
// once. It holds nothing that must be released, and is used by one goroutine.
type Prepared struct {
	c     Contribution
	plan  plan
	roots []*Root
	used  bool

	chunkAt map[ChunkID]int // where SetChunkVector finds them
}

// Roots returns the owners that are new or whose text to embed changes, sorted
// by kind and name. The caller sets their vectors before Commit.
func (p *Prepared) Roots() []*Root { return p.roots }

// Prepare works out what c makes of every owner it touches, on the newest
// published view and without the writer's lock. It keeps the slices of c. The
// error matches ErrInvalid and names what is wrong with c, ErrNotFound for an
// unknown document, or ErrMismatch for a vector of the wrong dimension.
func (s *Store) Prepare(ctx context.Context, c Contribution) (*Prepared, error) {
	p, err := s.prepare(ctx, c)
	return p, opError("prepare document", fmt.Sprint(uint32(c.Doc)), err)
}

func (s *Store) prepare(ctx context.Context, c Contribution) (*Prepared, error) {
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

	p := &Prepared{c: c, plan: plan{doc: c.Doc}}
	row, ok, err := r.document(c.Doc)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrNotFound
	}
	p.plan.docRow = row
	orders, err := p.readChunks(s, r)
	if err != nil {
		return nil, err
	}
	if p.plan.adds, err = rawsOf(&c, orders); err != nil {
		return nil, err
	}
	docs, err := replaces(r, c.Doc, &row)
	if err != nil {
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
		if ch.hidden || ch.next.gone || !ch.fresh && (h == ch.rec.TextHash || h == ch.rec.VectorHash) {
			continue
		}
		roots = append(roots, &Root{Kind: ch.kind, Name: ch.name, Src: ch.src, Tgt: ch.tgt, New: ch.fresh, Text: ch.next.text, TextHash: h})
	}
	return roots
}

// readChunks checks the chunks of the contribution and makes their rows.
func (p *Prepared) readChunks(s *Store, r *rows) (map[ChunkID]uint32, error) {
	orders := make(map[ChunkID]uint32, len(p.c.Chunks))
	for i := range p.c.Chunks {
		cc := &p.c.Chunks[i]
		if _, twice := orders[cc.ID]; twice {
			return nil, invalidf("chunk %d is named twice", cc.ID)
		}
		stored, ok, err := r.chunk(p.c.Doc, cc.Order)
		if err != nil {
			return nil, err
		}
		if !ok || stored.ID != cc.ID {
			return nil, invalidf("chunk %d is not chunk %d of the document", cc.ID, cc.Order)
		}
		if cc.Vector != nil {
			if err := s.checkVector(cc.Vector); err != nil {
				return nil, fmt.Errorf("vector of chunk %d: %w", cc.Order, err)
			}
		}
		orders[cc.ID] = cc.Order
		p.plan.chunks = append(p.plan.chunks, chunkAddition{
			id: cc.ID,
			row: format.ChunkRow{
				Doc: p.c.Doc, Order: cc.Order, LineTokens: uint32(s.measure.ChunkLine(stored.Text)),
				Keywords: cc.Keywords, CacheKeys: cc.CacheKeys, Malformed: cc.Malformed, Failure: cc.Failure,
			},
			vector: cc.Vector,
			terms:  s.terms.edits("", stored.Text),
		})
	}
	slices.SortFunc(p.plan.chunks, func(a, b chunkAddition) int { return int(a.row.Order) - int(b.row.Order) })
	return orders, nil
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

// gatherer groups the fragments of a contribution by raw owner.
type gatherer struct {
	doc       DocID
	orders    map[ChunkID]uint32
	entities  map[string]*raw
	relations map[[2]string]*raw
}

// rawsOf groups the fragments of c by raw owner and adds the implied ones:
// at most one per entity and chunk, and none where the chunk has a record of
// the entity. Entities come before relations.
func rawsOf(c *Contribution, orders map[ChunkID]uint32) ([]*raw, error) {
	g := &gatherer{c.Doc, orders, make(map[string]*raw), make(map[[2]string]*raw)}
	extracted := make(map[nameInChunk]struct{}, len(c.Entities))
	for i := range c.Entities {
		f := &c.Entities[i]
		if err := g.check(f.Chunk, f.Key, f.Name); err != nil {
			return nil, err
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
		if err := g.check(f.Chunk, f.Key, f.Src, f.Tgt); err != nil {
			return nil, err
		}
		if f.Src == f.Tgt {
			return nil, invalidf("relation of %q with itself", f.Src)
		}
		if f.Weight < 0 {
			return nil, invalidf("relation %q, %q: weight %d", f.Src, f.Tgt, f.Weight)
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
			if e := g.entities[name]; c.ListedSources && e != nil && len(e.add) > 0 {
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
	return g.sorted()
}

// check says whether a fragment is where it says it is.
func (g *gatherer) check(chunk ChunkID, key FragmentKey, names ...string) error {
	for _, n := range names {
		if strings.TrimSpace(n) == "" || !utf8.ValidString(n) || strings.ContainsRune(n, 0) {
			return invalidf("name %q", n)
		}
	}
	order, ok := g.orders[chunk]
	switch {
	case !ok:
		return invalidf("fragment of %q: chunk %d is not part of the contribution", names, chunk)
	case key.Doc != g.doc || key.Order != order:
		return invalidf("fragment of %q: key %+v is not of chunk %d of document %d", names, key, order, g.doc)
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
