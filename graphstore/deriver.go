package graphstore

import (
	"slices"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/columns"
)

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
	n       format.Counters
	pending *overlays // edits of overlays that the plan makes; nil: none
}

// stays says whether a stored fragment is not one of those that go.
func (d *deriver) stays(kind Kind, raw uint32, key FragmentKey) bool {
	if _, gone := d.removed[key.Doc]; gone {
		return false
	}
	if d.pending == nil || d.pending.dropped == nil {
		return true
	}
	_, gone := d.pending.dropped[format.OwnerFragment{Kind: kind, Owner: raw, Key: key}]
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
	if c.regroup {
		return nil
	}
	c.stored = append(c.stored[:0], c.owner)
	if d.n.Members > 0 {
		others, err := d.rows.group(c.kind, c.owner)
		if err != nil {
			return err
		}
		c.stored = append(c.stored, others...)
	}
	return nil
}

// derive fills in c.next.
func (d *deriver) derive(c *change) error {
	n := derived{agg: c.agg}
	n.agg.Types, n.agg.Keywords = slices.Clone(c.agg.Types), slices.Clone(c.agg.Keywords)
	if err := d.sum(c, &n.agg); err != nil {
		return err
	}
	if err := d.emptied(c); err != nil {
		return err
	}
	n.gone = n.agg.Mentions == 0
	old, err := d.summaryRows(c)
	if err != nil {
		return err
	}
	override, err := d.override(c)
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
	if override.Mask&format.FieldDescription != 0 {
		n.rec.Description, n.rec.Pending, n.jobs = override.Description, false, nil
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
	applyOverride(&n.rec, &override)
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
	sources := d.sources(c)
	if d.max < 0 || len(sources) < d.max {
		return false
	}
	doc, order := d.cols.ChunkPlace(sources[len(sources)-1])
	first := c.add[0].key
	return first.Doc > doc || first.Doc == doc && first.Order > order
}

// sources returns the sources that c's owner has.
func (d *deriver) sources(c *change) []ChunkID {
	if c.kind == format.KindRelation {
		return d.cols.RelationSources(RelationID(c.owner))
	}
	return d.cols.EntitySources(EntityID(c.owner))
}

// walk calls fn for the fragments that c's owner will have, in canonical
// order, until it returns false. via and text are those of an addition.
func (d *deriver) walk(c *change, fn func(a *addition) bool) error {
	i, more := 0, true
	var stored addition
	err := d.rows.groupFragments(c.kind, c.stored, func(raw uint32, key FragmentKey, f *format.Fragment) (bool, error) {
		if !d.stays(c.kind, raw, key) {
			return true, nil
		}
		for ; more && i < len(c.add) && c.add[i].key.Compare(key) < 0; i++ {
			more = fn(&c.add[i])
		}
		if more {
			stored.key, stored.raw, stored.Fragment = key, raw, *f
			more = fn(&stored)
		}
		return more, nil
	})
	if err != nil {
		return err
	}
	for ; more && i < len(c.add); i++ {
		more = fn(&c.add[i])
	}
	return nil
}

// describe scans the sources that count and builds the description from them.
func (d *deriver) describe(c *change, n *derived, old map[summaryKey]*storedSummary) (summaries, error) {
	col := collector{max: d.max}
	var first addition // implied
	err := d.walk(c, func(a *addition) bool {
		had := col.implied.Class != 0
		more := col.add(a.key, &a.Fragment, a.via != nil)
		if !had && col.implied.Class != 0 {
			first = *a
		}
		return more
	})
	if err != nil {
		return summaries{}, err
	}
	col.flush()
	if n.sources = col.sources; n.sources == nil {
		n.sources = []ChunkID{}
	}
	if !col.extracted && col.implied.Class != 0 {
		fallback := first.text
		if first.of == nil {
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
	most := int(n.agg.Tokens) // those that MaxSources leaves out are counted too
	return d.policy.tree(col.items, most, d.measure, func(key summaryKey, input [32]byte) (string, bool, error) {
		for i := range c.summaries {
			if j := &c.summaries[i].Job; j.Level == key.level && j.First == key.first && j.Input == input {
				n.newSummary = append(n.newSummary, c.summaries[i])
				return c.summaries[i].Text, true, nil
			}
		}
		if s := old[key]; s != nil && s.Input == input {
			if s.from != c.owner {
				n.newSummary = append(n.newSummary, DoneSummary{
					Job:  SummaryJob{Level: key.level, First: key.first, Last: s.Last, Input: input},
					Text: s.Text, Model: s.Model,
				})
			}
			return s.Text, true, nil
		}
		return "", false, nil
	})
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
		if len(c.add) == 0 {
			return c.rec.Sole, nil
		}
		first, last := c.add[0].key.Doc, c.add[len(c.add)-1].key.Doc
		switch {
		case last == 0: // of no document
			return c.rec.Sole, nil
		case first != last:
			return 0, nil
		case c.fresh, c.rec.Sole == first, c.rec.Sole == 0 && len(d.sources(c)) == 0: // of no document until now
			return first, nil
		}
		return 0, nil
	}
	var first DocID
	if err := d.walk(c, func(a *addition) bool { first = a.key.Doc; return first == 0 }); err != nil {
		return 0, err
	}
	last := first
	for _, raw := range c.stored {
		key, ok, err := d.rows.lastFragment(c.kind, raw, func(key FragmentKey) bool { return d.stays(c.kind, raw, key) })
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
