package engine

import (
	"fmt"
	"slices"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// ownerBytes of vectors, summaries and derived lines are stored by one commit,
// at most 1,024 owners.
const ownerBytes = 4 << 20

// jsonlOwner is an entity or a relation and its lines.
type jsonlOwner struct {
	at        int // line
	kind      format.Kind
	name      ownerName
	entity    entityLine
	relation  relationLine
	vector    *vectorLine
	summaries []summaryLine
}

func (im *jsonlImport) entityLine(line []byte) error {
	if err := im.enter(atEntities, "entity"); err != nil {
		return err
	}
	o := &jsonlOwner{at: im.in.line, kind: format.KindEntity}
	if err := im.in.decode(line, &o.entity); err != nil {
		return err
	}
	o.name.Name = o.entity.Name
	im.rep.Entities++
	return im.addOwner(o, len(line))
}

func (im *jsonlImport) relationLine(line []byte) error {
	if err := im.enter(atRelations, "relation"); err != nil {
		return err
	}
	o := &jsonlOwner{at: im.in.line, kind: format.KindRelation}
	if err := im.in.decode(line, &o.relation); err != nil {
		return err
	}
	o.name.Src, o.name.Tgt = o.relation.Src, o.relation.Tgt
	im.rep.Relations++
	return im.addOwner(o, len(line))
}

func (im *jsonlImport) addOwner(o *jsonlOwner, size int) error {
	if im.owner != nil && !before(&im.owner.name, &o.name) && im.owner.kind == o.kind {
		return im.in.fail("kind", "%s does not come after the one before it", o)
	}
	if im.held >= ownerBytes || len(im.owners) >= 1024 {
		if err := im.flushOwners(); err != nil {
			return err
		}
	}
	im.owner = o
	im.owners = append(im.owners, o)
	im.held += size
	return nil
}

func before(a, b *ownerName) bool {
	if a.Name != b.Name {
		return a.Name < b.Name
	}
	if a.Src != b.Src {
		return a.Src < b.Src
	}
	return a.Tgt < b.Tgt
}

func (o *jsonlOwner) String() string {
	if o.kind == format.KindEntity {
		return fmt.Sprintf("entity %q", o.name.Name)
	}
	return fmt.Sprintf("relation %q, %q", o.name.Src, o.name.Tgt)
}

// ofOwner says whether a line belongs to the owner whose lines are being read.
func (im *jsonlImport) ofOwner(kind, of string, n *ownerName) error {
	if err := im.checkOwner(of, n); err != nil {
		return err
	}
	o := im.owner
	if o == nil || o.kind.String() != of || o.name != *n {
		return im.in.fail("of", "this %s does not stand behind its %s", kind, of)
	}
	return nil
}

func (im *jsonlImport) vectorLine(line []byte) error {
	var l vectorLine
	if err := im.in.decode(line, &l); err != nil {
		return err
	}
	dim := int(im.store.Identity().Dim)
	if dim == 0 {
		return im.in.fail("data", "the store has no vectors")
	}
	if err := checkVector(l.Data, dim); err != nil {
		return &LineError{im.in.line, "data", fmt.Errorf("%w (%w)", err, ErrInvalid)}
	}
	im.rep.Vectors++
	if l.Of == "chunk" {
		if l.ownerName != (ownerName{}) {
			return im.in.fail("name", "is not a field of a chunk")
		}
		return im.chunkVector(&l)
	}
	if err := im.ofOwner("vector", l.Of, &l.ownerName); err != nil {
		return err
	}
	switch {
	case l.Doc != "":
		return im.in.fail("doc", "is not a field of an %s", l.Of)
	case l.TextHash == 0:
		return im.in.fail("text_hash", "missing")
	case im.owner.vector != nil:
		return im.in.fail("of", "%s has a vector already", im.owner)
	}
	im.owner.vector = &l
	im.held += len(line)
	return nil
}

func (im *jsonlImport) summaryLine(line []byte) error {
	var l summaryLine
	if err := im.in.decode(line, &l); err != nil {
		return err
	}
	if err := im.ofOwner("summary", l.Of, &l.ownerName); err != nil {
		return err
	}
	im.owner.summaries = append(im.owner.summaries, l)
	im.held += len(line)
	im.rep.Summaries++
	return nil
}

// flushOwners stores what is paid for of the owners that were read, and
// compares what is derived of them.
func (im *jsonlImport) flushOwners() error {
	owners := im.owners
	im.owners, im.held = nil, 0
	if len(owners) == 0 {
		return nil
	}
	v, err := im.store.View()
	if err != nil {
		return err
	}
	ids := make([]uint32, len(owners))
	list := make([]graphstore.Refreshed, 0, len(owners))
	for i, o := range owners {
		if ids[i], err = findOwner(v, o); err != nil {
			break
		}
		var r graphstore.Refreshed
		if r, err = refreshed(v, o, ids[i]); err != nil {
			break
		}
		if r.Vector != nil || r.Summaries != nil {
			list = append(list, r)
		}
	}
	v.Close()
	if err != nil {
		return err
	}
	if len(list) > 0 {
		info, err := im.store.Refresh(im.ctx, list)
		if err != nil {
			return err
		}
		if info.Superseded > 0 {
			im.differs(owners[0].at, "%d vectors or summaries of this line and the %d owners after it do not fit their fragments and were left out",
				info.Superseded, len(owners)-1)
		}
	}
	return im.compare(owners, ids)
}

func findOwner(v *graphstore.View, o *jsonlOwner) (uint32, error) {
	var id uint32
	var ok bool
	var err error
	if o.kind == format.KindEntity {
		var e format.EntityID
		e, ok, err = v.FindEntity(o.name.Name)
		id = uint32(e)
	} else {
		var e format.RelationID
		e, ok, err = v.FindRelation(o.name.Src, o.name.Tgt)
		id = uint32(e)
	}
	if err == nil && !ok {
		err = &LineError{o.at, "", fmt.Errorf("no fragment speaks of %s: %w", o, ErrInvalid)}
	}
	return id, err
}

// refreshed turns the lines of an owner into what a refresh stores. A vector is
// stored even if its text is another one by now, as it was in the store that it
// comes from.
func refreshed(v *graphstore.View, o *jsonlOwner, id uint32) (graphstore.Refreshed, error) {
	r := graphstore.Refreshed{Kind: o.kind, Owner: id}
	if o.vector != nil {
		r.Vector, r.TextHash, r.Outdated = o.vector.Data, uint64(o.vector.TextHash), true
	}
	for i := range o.summaries {
		l := &o.summaries[i]
		job := graphstore.SummaryJob{Kind: o.kind, Owner: id, Level: l.Level, Input: l.Input}
		for _, at := range [...]struct {
			ref *fragmentRef
			key *format.FragmentKey
		}{{&l.First, &job.First}, {&l.Last, &job.Last}} {
			if at.ref.Doc == "" {
				*at.key = format.FragmentKey{Order: at.ref.Order}
				continue
			}
			doc, _, ok, err := v.FindDocument(at.ref.Doc)
			if err != nil {
				return r, err
			}
			if !ok {
				return r, &LineError{o.at, "summary", fmt.Errorf("covers document %q, which is not in the file: %w", at.ref.Doc, ErrInvalid)}
			}
			*at.key = format.FragmentKey{Doc: doc, Order: at.ref.Order, Pass: at.ref.Pass, Index: at.ref.Index}
		}
		r.Summaries = append(r.Summaries, graphstore.DoneSummary{Job: job, Text: l.Text, Model: l.Model})
	}
	return r, nil
}

// compare notes where derived values are not those of the file.
func (im *jsonlImport) compare(owners []*jsonlOwner, ids []uint32) error {
	v, err := im.store.View()
	if err != nil {
		return err
	}
	defer v.Close()
	r := newReader(v)
	for i, o := range owners {
		if o.kind == format.KindEntity {
			e, err := r.entity(format.EntityID(ids[i]))
			if err != nil {
				return err
			}
			if have := newEntityLine(e); !have.equal(&o.entity) {
				im.differs(o.at, "%s differs in what is derived from its fragments", o)
			}
			continue
		}
		e, err := r.relation(format.RelationID(ids[i]))
		if err != nil {
			return err
		}
		if have := newRelationLine(e); !have.equal(&o.relation) {
			im.differs(o.at, "%s differs in what is derived from its fragments", o)
		}
	}
	return nil
}

func (l *entityLine) equal(o *entityLine) bool {
	return l.Type == o.Type && l.Description == o.Description && l.Degree == o.Degree &&
		slices.Equal(l.Fragments, o.Fragments) && slices.Equal(l.Sources, o.Sources)
}

func (l *relationLine) equal(o *relationLine) bool {
	return l.Weight == o.Weight && l.Description == o.Description && slices.Equal(l.Keywords, o.Keywords) &&
		slices.Equal(l.Fragments, o.Fragments) && slices.Equal(l.Sources, o.Sources)
}
