package graphstore

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/columns"
	"github.com/lightctl/lightrag/graphstore/internal/durable"
)

// maxFindings ends a check: a store with more is not checked, it is mourned.
const maxFindings = 1000

var errEnough = errors.New("enough")

// Check recomputes, on the newest published view, everything that is derived,
// and compares it with what is stored: counters, columns, aggregates, records,
// description rows, summaries, adjacency, names, pairs, documents and the
// presence of vectors. With deep it also reads every cached answer and every
// block of every table and segment, and cuts every text into terms to compare the
// postings; without, vectors that are not buffered are taken to be in a segment if there
// is one. Writers may go on meanwhile. The error is about the check itself.
func (s *Store) Check(ctx context.Context, deep bool) ([]Finding, error) {
	st, err := s.acquire()
	if err != nil {
		return nil, opError("check", s.dir, err)
	}
	defer st.release()
	c := &checker{ctx: ctx, s: s, st: st, r: newRows(st.snap), documents: make(map[DocID]*documentCheck)}
	c.d = s.deriver(st, c.r, nil)
	err = c.run(deep)
	if e := c.r.close(); err == nil {
		err = e
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	if err = durable.Classify(err); errors.Is(err, ErrCorrupt) { // a row that does not decode ends the check
		c.found, err = append(c.found, Finding{"store", err}), nil
	}
	return c.found, opError("check", s.dir, err)
}

// checker is one run of Check.
type checker struct {
	ctx       context.Context
	s         *Store
	st        *state
	r         *rows
	d         *deriver
	fresh     *columns.Columns
	versions  map[uint64]uint32
	documents map[DocID]*documentCheck
	found     []Finding
}

// documentCheck gathers what the graph says about a document.
type documentCheck struct {
	row                 format.Document
	known               bool
	fragments           []format.OwnerFragment
	chunks              int // visible
	committed           bool
	texts               int
	entities, relations uint32
}

func (c *checker) document(doc DocID) *documentCheck {
	d := c.documents[doc]
	if d == nil {
		d = &documentCheck{}
		c.documents[doc] = d
	}
	return d
}

// bad notes a finding.
func (c *checker) bad(row, text string, args ...any) error {
	c.found = append(c.found, Finding{row, fmt.Errorf(text, args...)})
	if len(c.found) >= maxFindings {
		return errEnough
	}
	return nil
}

func (c *checker) run(deep bool) error {
	for _, step := range []func() error{
		func() error { return c.tables(deep) },
		c.counters, c.entities, c.relations, c.overlays, c.strays, c.adjacency, c.chunks, c.allDocuments,
		func() error { return c.vectors(deep) }, func() error { return c.answers(deep) },
		func() error { return c.postings(deep) },
	} {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// answers reads the cache of model answers.
func (c *checker) answers(deep bool) error {
	if !deep {
		return nil
	}
	return c.r.table(format.TableAnswers, func(_, value []byte) error {
		var a format.Answer
		if err := format.DecodeAnswer(value, &a); err != nil {
			return c.bad("cached answer", "%w", err)
		}
		return c.ctx.Err()
	})
}

// counters loads the columns anew, which verifies counts and sum.
func (c *checker) counters() error {
	ld, err := c.s.load(c.st.snap)
	if err != nil {
		return err
	}
	c.fresh, c.versions = ld.cols.Done(), ld.versions
	if err := ld.cols.Err(); err != nil {
		return c.bad("columns", "%w", err)
	}
	if ld.n != c.st.n {
		return c.bad("m/counters", "stored %+v, in memory %+v", ld.n, c.st.n)
	}
	if ld.stale != c.st.stale {
		return c.bad("z", "%d stale owners, in memory %d", ld.stale, c.st.stale)
	}
	return nil
}

func (c *checker) entities() error {
	n := 0
	for id := range c.st.cols.Entities() {
		row := fmt.Sprintf("entity %d", id)
		ch := c.d.existing(format.KindEntity, uint32(id))
		if stored, ok, err := c.r.entity(ch.name); err != nil {
			return err
		} else if !ok || stored != id {
			if err := c.bad(row, "name %q leads to %d", ch.name, stored); err != nil {
				return err
			}
		}
		a, b := c.st.cols.Neighbors(id), c.fresh.Neighbors(id)
		if c.fresh.EntityName(id) != ch.name || !slices.Equal(a, b) || c.st.cols.Degree(id) != len(b) {
			if err := c.bad(row, "columns: name %q, neighbours %v; stored %q, %v", ch.name, a, c.fresh.EntityName(id), b); err != nil {
				return err
			}
		}
		if err := c.owner(row, ch, c.st.cols.EntitySources(id), c.fresh.EntitySources(id)); err != nil {
			return err
		}
		n++
	}
	if n != int(c.st.n.Entities) {
		return c.bad("entities", "%d in the columns, %d counted", n, c.st.n.Entities)
	}
	return nil
}

func (c *checker) relations() error {
	n := 0
	for id := range c.st.cols.Relations() {
		row := fmt.Sprintf("relation %d", id)
		ch := c.d.existing(format.KindRelation, uint32(id))
		if stored, ok, err := c.r.pair(ch.pair[0], ch.pair[1]); err != nil {
			return err
		} else if !ok || stored != id {
			if err := c.bad(row, "pair %v leads to %d", ch.pair, stored); err != nil {
				return err
			}
		}
		a, b := c.fresh.Ends(id)
		if [2]EntityID{a, b} != ch.pair || ch.src >= ch.tgt || c.fresh.Weight(id) != c.st.cols.Weight(id) {
			if err := c.bad(row, "columns: ends %v (%q, %q), weight %d; stored %d, %d, weight %d", ch.pair, ch.src, ch.tgt,
				c.st.cols.Weight(id), a, b, c.fresh.Weight(id)); err != nil {
				return err
			}
		}
		if err := c.owner(row, ch, c.st.cols.RelationSources(id), c.fresh.RelationSources(id)); err != nil {
			return err
		}
		n++
	}
	if n != int(c.st.n.Relations) {
		return c.bad("relations", "%d in the columns, %d counted", n, c.st.n.Relations)
	}
	return nil
}

// owner checks what is derived of one owner.
func (c *checker) owner(row string, ch *change, sources, fresh []ChunkID) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	ch.force = true
	if err := c.d.renew(ch); err != nil {
		return c.bad(row, "%w", err)
	}
	agg, uses, err := c.aggregate(row, ch)
	if err != nil {
		return err
	}
	agg.LastSeq = ch.agg.LastSeq
	for _, list := range []*format.Aggregate{&agg, &ch.agg} {
		list.Types, list.Keywords = slices.Clip(list.Types), slices.Clip(list.Keywords)
	}
	if !sameAggregate(&agg, &ch.agg) || ch.agg.LastSeq > c.st.seq {
		if err := c.bad(row, "aggregate %+v, fragments give %+v", ch.agg, agg); err != nil {
			return err
		}
	}
	if want := ch.next.rec; !sameRecord(&want, &ch.rec) {
		if err := c.bad(row, "record %+v, fragments give %+v", ch.rec, want); err != nil {
			return err
		}
	}
	if len(ch.next.oldSummary) > 0 {
		if err := c.bad(row, "%d summaries that nothing wants", len(ch.next.oldSummary)); err != nil {
			return err
		}
	}
	if len(ch.next.newSummary) > 0 {
		if err := c.bad(row, "%d summaries name another last fragment than theirs", len(ch.next.newSummary)); err != nil {
			return err
		}
	}
	stale, _, err := c.r.stale(ch.kind, ch.owner)
	if err != nil {
		return err
	}
	if stale != ch.stale {
		if err := c.bad(row, "stale row %+v, the record says %+v", stale, ch.stale); err != nil {
			return err
		}
	}
	if !slices.Equal(sources, ch.next.sources) || !slices.Equal(fresh, sources) {
		if err := c.bad(row, "sources %v, fragments give %v, opening %v", sources, ch.next.sources, fresh); err != nil {
			return err
		}
	}
	if err := c.columns(row, ch); err != nil {
		return err
	}
	return c.descriptions(row, ch, uses)
}

// columns compares the owner's row of the columns with its record.
func (c *checker) columns(row string, ch *change) error {
	for what, cols := range map[string]*columns.Columns{"columns": c.st.cols, "opening": c.fresh} {
		sole, _ := cols.Sole(ch.kind, ch.owner)
		tokens := cols.LineTokens(ch.kind, ch.owner)
		weight := int64(0)
		if ch.kind == format.KindRelation {
			weight = cols.Weight(RelationID(ch.owner))
		}
		if sole != ch.rec.Sole || tokens != ch.rec.LineTokens || weight != ch.rec.Weight {
			if err := c.bad(row, "%s: document %d, %d tokens, weight %d; record %+v", what, sole, tokens, weight, ch.rec); err != nil {
				return err
			}
		}
	}
	if ch.kind == format.KindEntity {
		want := c.s.types.id(ch.rec.Type)
		for what, cols := range map[string]*columns.Columns{"columns": c.st.cols, "opening": c.fresh} {
			if got := TypeID(cols.EntityType(EntityID(ch.owner))); got != want {
				if err := c.bad(row, "%s: type %d, record %q", what, got, ch.rec.Type); err != nil {
					return err
				}
			}
		}
	}
	_, has := c.st.cols.Slot(ch.kind, ch.owner)
	if want := c.s.sink != nil && ch.rec.VectorVersion != 0; has != want {
		return c.bad(row, "vector slot %v, record %v", has, want)
	}
	return nil
}

// use is a description row that the fragments ask for.
type use struct {
	raw  uint32
	hash [16]byte
	key  FragmentKey
}

// aggregate sums the fragments of an owner.
func (c *checker) aggregate(row string, ch *change) (agg format.Aggregate, uses map[use]struct{}, err error) {
	uses = make(map[use]struct{})
	distinct := make(map[string]struct{})
	var implied []fragment
	err = c.r.groupFragments(ch.kind, ch.stored, func(raw uint32, key FragmentKey, f *format.Fragment) (bool, error) {
		addFragment(&agg, f)
		if f.Description != "" {
			uses[use{raw, descriptionHash(f.Description), key}] = struct{}{}
			distinct[f.Description] = struct{}{}
		}
		if f.Class == format.ClassImplied {
			implied = append(implied, fragment{key, raw, *f})
		}
		if key.Doc == 0 {
			return true, c.curatedFragment(row, raw, key, f)
		}
		d := c.document(key.Doc)
		d.fragments = append(d.fragments, format.OwnerFragment{Kind: ch.kind, Owner: raw, Key: key})
		if doc, order := c.st.cols.ChunkPlace(f.Chunk); doc != key.Doc || order != key.Order {
			return true, c.bad(row, "fragment %+v names chunk %d, which is at %d, %d", key, f.Chunk, doc, order)
		}
		return true, nil
	})
	if err != nil {
		return agg, nil, err
	}
	agg.Distinct = uint32(len(distinct))
	for text := range distinct {
		agg.Tokens += uint64(c.s.measure.Tokens(text))
	}
	for _, f := range implied {
		if f.Relation == 0 && ch.kind == format.KindEntity {
			continue // the relation was deleted
		}
		_, ok, err := c.r.fragment(format.KindRelation, uint32(f.Relation), f.key)
		if err != nil {
			return agg, nil, err
		}
		ends, err := c.d.rawEnds(f.Relation)
		if err != nil {
			return agg, nil, err
		}
		if !ok || ch.kind != format.KindEntity || !slices.Contains(ends[:], EntityID(f.raw)) {
			if err := c.bad(row, "implied fragment %+v of relation %d, which has none", f.key, f.Relation); err != nil {
				return agg, nil, err
			}
		}
	}
	return agg, uses, nil
}

// descriptions compares the description rows of an owner.
func (c *checker) descriptions(row string, ch *change, uses map[use]struct{}) error {
	for _, raw := range ch.stored {
		prefix := append([]byte{byte(format.TableDescriptions)}, format.AppendFragmentPrefix(nil, ch.kind, raw)[1:]...)
		if err := c.r.scan(prefix, func(key, _ []byte) (bool, error) {
			_, _, hash, at, err := format.DecodeDescriptionKey(key)
			if err != nil {
				return false, err
			}
			u := use{raw, hash, at}
			if _, ok := uses[u]; !ok {
				return true, c.bad(row, "description row %x, %+v without a fragment", hash, at)
			}
			delete(uses, u)
			return true, nil
		}); err != nil {
			return err
		}
	}
	if len(uses) > 0 {
		return c.bad(row, "%d description rows are missing", len(uses))
	}
	return nil
}

func sameAggregate(a, b *format.Aggregate) bool {
	return a.Mentions == b.Mentions && a.Extracted == b.Extracted && a.Weight == b.Weight && a.Distinct == b.Distinct &&
		a.Tokens == b.Tokens && slices.Equal(a.Types, b.Types) && slices.Equal(a.Keywords, b.Keywords)
}

func sameRecord(a, b *format.Record) bool {
	x, y := *a, *b
	x.Keywords, y.Keywords = nil, nil
	return slices.Equal(a.Keywords, b.Keywords) && reflect.DeepEqual(x, y)
}
