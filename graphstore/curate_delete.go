package graphstore

import (
	"maps"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/format"
)

// DeleteEntities removes entities as if no record had ever named them or one
// of their aliases: what documents said about them, the relations that touch
// them, what was curated of them and their aliases. The documents stay, and
// deleting one of them later is as exact as before; a document that comes
// again brings back what it says.
//
// An entity at the other end of a relation that goes stays, as in the official
// implementation, although it may be left without any: that its chunk names it
// is still true. It keeps its sources, but no word of what is gone.
//
// The deletion is remembered and cannot be undone. The error matches
// ErrNotFound if one of the entities does not exist; then nothing is deleted.
type DeleteEntities struct {
	Names []string
}

// DeleteRelations removes relations, given by their ends in any order, like
// DeleteEntities does. Both ends stay.
type DeleteRelations struct {
	Pairs [][2]string
}

func (op DeleteEntities) curate(c *curator) error {
	d := newDeletion(c, format.KindEntity)
	var roots []EntityID
	for _, given := range op.Names {
		name, id, err := c.mustEntity(given)
		if err != nil {
			return err
		}
		if _, twice := d.roots[id]; twice {
			continue
		}
		d.roots[id] = struct{}{}
		roots = append(roots, id)
		c.change.Names = append(c.change.Names, name)
	}
	if len(roots) == 0 {
		return invalidf("no entity to delete")
	}
	for i, id := range roots {
		if err := d.entity(c.change.Names[i], id); err != nil {
			return err
		}
	}
	return d.finish()
}

func (op DeleteRelations) curate(c *curator) error {
	d := newDeletion(c, format.KindRelation)
	for _, pair := range op.Pairs {
		src, tgt, id, err := c.mustRelation(pair[0], pair[1])
		if err != nil {
			return err
		}
		if _, twice := d.relations[id]; twice {
			continue
		}
		c.change.Names = append(c.change.Names, format.PairName(src, tgt))
		if err := d.relation(id); err != nil {
			return err
		}
		if err := d.pairOverrides(src, tgt); err != nil {
			return err
		}
	}
	if len(c.change.Names) == 0 {
		return invalidf("no relation to delete")
	}
	return d.finish()
}

// deletion gathers what goes.
type deletion struct {
	*curator
	roots     map[EntityID]struct{}   // entities that go
	relations map[RelationID]struct{} // roots that go
	records   []goneRecord            // fragments of relations that go
	gone      map[uint32]struct{}     // raw relations that go
	overrides map[ownerText]struct{}
	owners    map[DocID][]format.OwnerFragment // of the documents met
	raws      map[uint32]*raw                  // entities that keep a mention
}

// goneRecord is a fragment of a relation that goes.
type goneRecord struct {
	raw  uint32
	pair [2]EntityID
	key  FragmentKey
}

func newDeletion(c *curator, of Kind) *deletion {
	c.change = format.Change{Kind: format.ChangeDelete, Of: of}
	c.docs = make(map[DocID]*documentEdit)
	return &deletion{
		curator: c, roots: make(map[EntityID]struct{}), relations: make(map[RelationID]struct{}), gone: make(map[uint32]struct{}),
		overrides: make(map[ownerText]struct{}), owners: make(map[DocID][]format.OwnerFragment), raws: make(map[uint32]*raw),
	}
}

// entity drops everything of one entity but what it gave to others.
func (d *deletion) entity(name string, id EntityID) error {
	if err := d.fragments(d.existing(format.KindEntity, uint32(id))); err != nil {
		return err
	}
	for _, nb := range d.st.cols.Neighbors(id) {
		if _, done := d.relations[nb.Relation]; done {
			continue
		}
		if err := d.relation(nb.Relation); err != nil {
			return err
		}
	}
	if d.st.n.Members > 0 {
		hidden, err := d.r.group(format.HiddenKind, uint32(id))
		if err != nil {
			return err
		}
		for _, raw := range hidden {
			ch, err := d.p.rootOf(d.d, format.KindRelation, raw, d.byOwner)
			if err != nil {
				return err
			}
			if err := d.rawFragments(ch, []uint32{raw}); err != nil {
				return err
			}
		}
	}
	aliases, err := d.r.aliases(name)
	if err != nil {
		return err
	}
	for _, alias := range aliases {
		if err := d.setAlias(alias, ""); err != nil {
			return err
		}
	}
	for _, each := range append(aliases, name) {
		d.wrote(identityToken(each))
		d.overrides[ownerText{format.KindEntity, each}] = struct{}{}
		if err := d.overridesAt(each, nil); err != nil {
			return err
		}
	}
	return nil
}

// relation drops everything of one relation.
func (d *deletion) relation(id RelationID) error {
	d.relations[id] = struct{}{}
	ch := d.existing(format.KindRelation, uint32(id))
	d.wrote(relationToken(ch.src, ch.tgt))
	return d.fragments(ch)
}

// fragments drops all fragments of a root.
func (d *deletion) fragments(ch *change) error {
	group, err := d.st.group(d.r, ch.kind, ch.owner)
	if err != nil {
		return err
	}
	return d.rawFragments(ch, group)
}

func (d *deletion) rawFragments(ch *change, raws []uint32) error {
	for _, raw := range raws {
		var pair [2]EntityID
		if ch.kind == format.KindRelation {
			var err error
			if pair, err = d.d.rawEnds(RelationID(raw)); err != nil {
				return err
			}
			d.gone[raw] = struct{}{}
		}
		var made []uint32
		if err := d.r.fragments(ch.kind, raw, func(key FragmentKey, f *format.Fragment) (bool, error) {
			d.dropped(ch, fragment{key, raw, *f})
			if key.Doc == 0 {
				made = append(made, key.Order)
			} else {
				d.document(key.Doc).drop[format.OwnerFragment{Kind: ch.kind, Owner: raw, Key: key}] = struct{}{}
			}
			if ch.kind == format.KindRelation {
				d.records = append(d.records, goneRecord{raw, pair, key})
			}
			return true, nil
		}); err != nil {
			return err
		}
		for _, id := range made { // undoing their making is out of the question
			if err := d.overtake(id); err != nil {
				return err
			}
		}
	}
	return nil
}

// overtake marks what another change wrote as written by this one.
func (d *deletion) overtake(id uint32) error {
	ch, _, err := d.r.history(id)
	for _, token := range ch.Writes {
		d.wrote(token)
	}
	return err
}

func (d *deletion) document(doc DocID) *documentEdit {
	e := d.docs[doc]
	if e == nil {
		e = &documentEdit{drop: make(map[format.OwnerFragment]struct{})}
		d.docs[doc] = e
	}
	return e
}

// overridesAt finds the overrides of the relations of a name, whether they
// exist or not; others nil: to whomever.
func (d *deletion) overridesAt(name string, others map[string]struct{}) error {
	if d.st.n.Overrides == 0 {
		return nil
	}
	prefix := format.AppendOverrideKey(nil, format.KindRelation, format.PairName(name, ""))
	return d.r.scan(prefix, func(key, _ []byte) (bool, error) {
		_, owner, err := format.DecodeOverrideKey(key)
		a, b, _ := strings.Cut(owner, "\x00")
		if _, ok := others[b]; ok || others == nil {
			d.overrides[ownerText{format.KindRelation, ordered(a, b)}] = struct{}{}
		}
		return true, err
	})
}

// pairOverrides finds the overrides of a relation by all names of its ends.
func (d *deletion) pairOverrides(src, tgt string) error {
	if d.st.n.Overrides == 0 {
		return nil
	}
	others := map[string]struct{}{tgt: {}}
	names, err := d.r.aliases(tgt)
	if err != nil {
		return err
	}
	for _, name := range names {
		others[name] = struct{}{}
	}
	if names, err = d.r.aliases(src); err != nil {
		return err
	}
	for _, name := range append(names, src) {
		if err := d.overridesAt(name, others); err != nil {
			return err
		}
	}
	return nil
}

// finish settles the overrides and the entities at the other ends.
func (d *deletion) finish() error {
	owners := slices.SortedFunc(maps.Keys(d.overrides), func(a, b ownerText) int {
		if a.kind != b.kind {
			return int(a.kind) - int(b.kind)
		}
		return strings.Compare(a.name, b.name)
	})
	for _, owner := range owners {
		if err := d.setOverride(owner, format.Override{}); err != nil {
			return err
		}
	}
	for i := range d.records {
		g := &d.records[i]
		for _, end := range g.pair {
			if err := d.end(g, end); err != nil {
				return err
			}
		}
	}
	for _, w := range d.raws {
		w.root.raws, w.root.add = append(w.root.raws, w), append(w.root.add, w.add...)
	}
	return nil
}

// end settles what a record that goes said about one of its ends: that its
// chunk names it. Another record of the chunk may say the same.
func (d *deletion) end(g *goneRecord, end EntityID) error {
	f, ok, err := d.r.fragment(format.KindEntity, uint32(end), g.key)
	if err != nil || !ok || f.Class != format.ClassImplied || uint32(f.Relation) != g.raw {
		return err
	}
	ch, err := d.p.rootOf(d.d, format.KindEntity, uint32(end), d.byOwner)
	if err != nil {
		return err
	}
	if _, goes := d.roots[EntityID(ch.owner)]; goes {
		return nil
	}
	d.dropped(ch, fragment{g.key, uint32(end), f})
	if g.key.Doc == 0 {
		return nil
	}
	a := addition{fragment: fragment{key: g.key, Fragment: format.Fragment{Class: format.ClassImplied, Chunk: f.Chunk}}}
	if err := d.nextRecord(&a, end); err != nil {
		return err
	}
	w := d.raws[uint32(end)]
	if w == nil {
		w = &raw{kind: format.KindEntity, id: uint32(end), root: ch}
		if w.name, err = d.r.entityName(end); err != nil {
			return err
		}
		d.raws[uint32(end)] = w
	}
	a.of = w
	w.add = append(w.add, a)
	e := d.document(g.key.Doc)
	e.drop[format.OwnerFragment{Kind: format.KindEntity, Owner: uint32(end), Key: g.key}] = struct{}{}
	e.add = append(e.add, format.OwnerFragment{Kind: format.KindEntity, Owner: uint32(end), Key: a.key})
	return nil
}

// nextRecord looks for the first record of a's chunk that relates the entity
// and stays.
func (d *deletion) nextRecord(a *addition, end EntityID) error {
	doc, order := a.key.Doc, a.key.Order
	list, ok := d.owners[doc]
	if !ok {
		o, _, err := d.r.owners(doc)
		if err != nil {
			return err
		}
		list = o.Fragments
		d.owners[doc] = list
	}
	found := false
	for i := range list {
		f := &list[i]
		if _, goes := d.gone[f.Owner]; goes || f.Kind != format.KindRelation || f.Key.Order != order || found && f.Key.Compare(a.key) > 0 {
			continue
		}
		ends, ok := d.pairs[RelationID(f.Owner)]
		if !ok {
			var err error
			if ends, err = d.d.rawEnds(RelationID(f.Owner)); err != nil {
				return err
			}
			if d.pairs == nil {
				d.pairs = make(map[RelationID][2]EntityID)
			}
			d.pairs[RelationID(f.Owner)] = ends
		}
		if !slices.Contains(ends[:], end) {
			continue
		}
		stored, ok, err := d.r.fragment(f.Kind, f.Owner, f.Key)
		if err == nil && !ok {
			err = corruptf("document %d lists fragment %+v of relation %d, which does not exist", doc, f.Key, f.Owner)
		}
		if err != nil {
			return err
		}
		found = true
		a.key, a.Relation, a.text = f.Key, RelationID(f.Owner), stored.Description
	}
	return nil
}
