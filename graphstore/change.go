package graphstore

import (
	"slices"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/columns"
)

// change is what one plan does to one owner: fragments that come, fragments
// that go, and what follows from that for the owner's rows.
type change struct {
	kind     Kind
	name     string // entity
	src, tgt string // relation, src < tgt by code point
	ends     [2]*change
	pair     [2]EntityID // of a relation that exists

	owner uint32
	fresh bool // the owner does not exist yet; its id is given by the commit
	force bool // derive everything anew although no fragment changes

	add  []addition // canonical order
	drop []fragment // stored fragments that go, canonical order

	vector    []float32
	vectorOf  uint64 // TextHash that vector was made from
	outdated  bool   // vector is wanted although its text is another one
	summaries []DoneSummary

	// As stored; the stale row follows from the record.
	agg    format.Aggregate
	rec    format.Record
	recSum uint64
	stale  format.Stale

	root *Root
	next derived
}

// addition is a fragment that comes. An implied one names the relation whose
// record implied it.
type addition struct {
	fragment
	via  *change
	text string // description of that record
}

// derived is what an owner will be.
type derived struct {
	gone       bool
	agg        format.Aggregate
	rec        format.Record // vector fields as stored
	text       string        // to embed
	sources    []ChunkID     // nil: as they were
	jobs       []SummaryJob
	oldSummary [][]byte // keys of summary rows that go
	newSummary []DoneSummary
}

// deriver works out changes against one state of the store. It is used by one
// goroutine.
type deriver struct {
	rows    *rows
	cols    *columns.Columns
	max     int // MaxSources
	policy  SummaryPolicy
	measure Measurer
	vectors bool               // owners have vectors
	removed map[DocID]struct{} // documents whose fragments go
}

func (d *deriver) stays(doc DocID) bool {
	_, gone := d.removed[doc]
	return !gone
}

// load reads the stored state of c's owner, which must exist.
func (d *deriver) load(c *change) error {
	agg, ok, err := d.rows.aggregate(c.kind, c.owner)
	if err != nil {
		return err
	}
	if !ok {
		return corruptf("%s %d has no aggregate", c.kind, c.owner)
	}
	rec, sum, ok, err := d.rows.record(c.kind, c.owner)
	if err != nil {
		return err
	}
	if !ok {
		return corruptf("%s %d has no record", c.kind, c.owner)
	}
	c.agg, c.rec, c.recSum, c.stale = agg, rec, sum, staleness(&rec, d.vectors)
	return nil
}

// derive fills in c.next.
func (d *deriver) derive(c *change) error {
	n := derived{agg: c.agg}
	n.agg.Types, n.agg.Keywords = slices.Clone(c.agg.Types), slices.Clone(c.agg.Keywords)
	for i := range c.drop {
		if err := dropFragment(&n.agg, &c.drop[i].Fragment); err != nil {
			return err
		}
	}
	for i := range c.add {
		addFragment(&n.agg, &c.add[i].Fragment)
	}
	if err := d.countDescriptions(c, &n.agg); err != nil {
		return err
	}
	n.gone = n.agg.Mentions == 0
	old, err := d.summaryRows(c)
	if err != nil {
		return err
	}
	var tree summaries
	switch {
	case n.gone:
		c.next = n
		c.next.dropSummaries(c, old, nil)
		return nil
	case d.unchanged(c):
		n.rec = c.rec
	default:
		if tree, err = d.describe(c, &n, old); err != nil {
			return err
		}
		n.rec.Description, n.rec.Pending = tree.text, tree.pending
		n.rec.VectorVersion, n.rec.VectorHash = c.rec.VectorVersion, c.rec.VectorHash
		n.jobs = tree.jobs
		n.dropSummaries(c, old, tree.wanted)
	}
	n.rec.Weight = n.agg.Weight
	n.rec.Keywords = values(n.agg.Keywords)
	if c.kind == format.KindEntity {
		if n.rec.Type, err = d.typeOf(c, n.agg.Types); err != nil {
			return err
		}
	}
	if n.rec.Sole, err = d.sole(c); err != nil {
		return err
	}
	d.finish(c, &n)
	c.next = n
	return nil
}

// finish computes what follows from the record's other fields.
func (d *deriver) finish(c *change, n *derived) {
	same := !c.fresh && n.rec.Description == c.rec.Description
	if c.kind == format.KindEntity {
		n.text = EntityText(c.name, n.rec.Description)
		if n.rec.LineTokens = c.rec.LineTokens; !same || n.rec.Type != c.rec.Type || c.force {
			n.rec.LineTokens = uint32(d.measure.EntityLine(c.name, n.rec.Type, n.rec.Description))
		}
	} else {
		n.text = RelationText(n.rec.Keywords, c.src, c.tgt, n.rec.Description)
		if n.rec.LineTokens = c.rec.LineTokens; !same || c.force {
			n.rec.LineTokens = uint32(d.measure.RelationLine(c.src, c.tgt, n.rec.Description))
		}
	}
	n.rec.TextHash = TextHash(n.text)
	for i := range n.jobs {
		n.jobs[i].Kind, n.jobs[i].Owner = c.kind, c.owner
		if n.jobs[i].Name = c.name; c.kind == format.KindRelation {
			n.jobs[i].Name = "(" + c.src + ", " + c.tgt + ")"
		}
	}
}

// unchanged says whether sources and description stay as they are because
// everything that comes lies beyond the last source that counts.
func (d *deriver) unchanged(c *change) bool {
	if c.fresh || c.force || len(c.drop) > 0 || len(c.summaries) > 0 {
		return false
	}
	if len(c.add) == 0 {
		return true
	}
	sources := d.cols.EntitySources(EntityID(c.owner))
	if c.kind == format.KindRelation {
		sources = d.cols.RelationSources(RelationID(c.owner))
	}
	if d.max < 0 || len(sources) < d.max {
		return false
	}
	doc, order := d.cols.ChunkPlace(sources[len(sources)-1])
	first := c.add[0].key
	return first.Doc > doc || first.Doc == doc && first.Order > order
}

// walk calls fn for the fragments that c's owner will have, in canonical
// order, until it returns false. via and text are those of an addition.
func (d *deriver) walk(c *change, fn func(a *addition) bool) error {
	i, more := 0, true
	var stored addition
	if !c.fresh {
		err := d.rows.fragments(c.kind, c.owner, func(key FragmentKey, f *format.Fragment) (bool, error) {
			if !d.stays(key.Doc) {
				return true, nil
			}
			for ; more && i < len(c.add) && c.add[i].key.Compare(key) < 0; i++ {
				more = fn(&c.add[i])
			}
			if more {
				stored.key, stored.Fragment = key, *f
				more = fn(&stored)
			}
			return more, nil
		})
		if err != nil {
			return err
		}
	}
	for ; more && i < len(c.add); i++ {
		more = fn(&c.add[i])
	}
	return nil
}

// describe scans the sources that count and builds the description from them.
func (d *deriver) describe(c *change, n *derived, old map[summaryKey]*format.Summary) (summaries, error) {
	col := collector{max: d.max}
	fallback := ""
	err := d.walk(c, func(a *addition) bool {
		had := col.implied.Class != 0
		more := col.add(a.key, &a.Fragment)
		if !had && col.implied.Class != 0 {
			fallback = a.text
		}
		return more
	})
	if err != nil {
		return summaries{}, err
	}
	col.flush()
	n.sources = col.sources
	if !col.extracted && col.implied.Class != 0 {
		if d.isStored(c, col.implied.key) {
			f, ok, err := d.rows.fragment(format.KindRelation, uint32(col.implied.Relation), col.implied.key)
			if err != nil {
				return summaries{}, err
			}
			if !ok {
				return summaries{}, corruptf("entity %d is implied by a fragment of relation %d that does not exist", c.owner, col.implied.Relation)
			}
			fallback = f.Description
		}
		if col.items = nil; fallback != "" {
			col.items = []item{{col.implied.key, fallback}}
		}
	}
	return d.policy.tree(col.items, d.measure, func(key summaryKey, input [32]byte) (string, bool, error) {
		for i := range c.summaries {
			if j := &c.summaries[i].Job; j.Level == key.level && j.First == key.first && j.Input == input {
				n.newSummary = append(n.newSummary, c.summaries[i])
				return c.summaries[i].Text, true, nil
			}
		}
		if s := old[key]; s != nil && s.Input == input {
			return s.Text, true, nil
		}
		return "", false, nil
	})
}

// isStored says whether the fragment is one that is stored and stays.
func (d *deriver) isStored(c *change, key FragmentKey) bool {
	for i := range c.add {
		if c.add[i].key == key {
			return false
		}
	}
	return true
}

// typeOf settles the vote; among equals the type that is met first wins.
func (d *deriver) typeOf(c *change, types []format.Count) (string, error) {
	top := topTypes(types)
	switch len(top) {
	case 0:
		return UnknownType, nil
	case 1:
		return top[0], nil
	}
	won := ""
	err := d.walk(c, func(a *addition) bool {
		if votes(&a.Fragment) && slices.Contains(top, a.Type) {
			won = a.Type
		}
		return won == ""
	})
	if err == nil && won == "" {
		err = corruptf("entity %d counts types that no fragment has", c.owner)
	}
	return won, err
}

// sole returns the only document that contributes to c's owner, 0 if several
// do.
func (d *deriver) sole(c *change) (DocID, error) {
	if len(c.drop) == 0 && !c.force {
		switch {
		case len(c.add) == 0:
			return c.rec.Sole, nil
		case c.fresh, c.rec.Sole == c.add[0].key.Doc: // additions are of one document
			return c.add[0].key.Doc, nil
		}
		return 0, nil
	}
	var first DocID
	if err := d.walk(c, func(a *addition) bool { first = a.key.Doc; return false }); err != nil {
		return 0, err
	}
	last := first
	if !c.fresh {
		key, ok, err := d.rows.lastFragment(c.kind, c.owner, d.stays)
		if err != nil {
			return 0, err
		}
		if ok {
			last = max(last, key.Doc)
		}
	}
	if len(c.add) > 0 {
		last = max(last, c.add[len(c.add)-1].key.Doc)
	}
	if first != last {
		return 0, nil
	}
	return first, nil
}
