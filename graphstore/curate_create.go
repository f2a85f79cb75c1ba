package graphstore

import (
	"fmt"

	"github.com/lightctl/lightrag/format"
)

// CreateEntity makes an entity that no document names. It exists until it is
// deleted or the change is undone, and has no sources; what documents say
// about it later is added to it. The error matches ErrExists if there is an
// entity, or an alias, of that name.
type CreateEntity struct {
	Name, Type, Description string
}

func (op CreateEntity) curate(c *curator) error {
	root, _, live, err := c.entity(op.Name)
	switch {
	case err != nil:
		return err
	case root != op.Name:
		return fmt.Errorf("%q is an alias of %q: %w", op.Name, root, ErrExists)
	case live:
		return fmt.Errorf("entity %q: %w", op.Name, ErrExists)
	}
	w := &raw{kind: format.KindEntity, name: op.Name}
	c.made(w, format.Fragment{Class: format.ClassCurated, Type: op.Type, Description: op.Description})
	c.change = format.Change{Kind: format.ChangeCreate, Of: w.kind, Names: []string{op.Name}, Made: true}
	c.wrote(identityToken(op.Name))
	c.info.Shown = []string{op.Name}
	c.p.adds = []*raw{w}
	return c.p.roots(c.d, c.byOwner)
}

// CreateRelation makes a relation between two entities, which must exist
// (ErrNotFound) and differ (ErrInvalid) and not be related (ErrExists). Like
// CreateEntity it needs no document, and keeps its ends in being.
type CreateRelation struct {
	Src, Tgt    string // in any order
	Description string
	Keywords    []string
	Weight      int64 // in 1/format.WeightScale
}

func (op CreateRelation) curate(c *curator) error {
	if op.Weight < 0 {
		return invalidf("weight %d", op.Weight)
	}
	a, x, err := c.mustEntity(op.Src)
	if err != nil {
		return err
	}
	b, y, err := c.mustEntity(op.Tgt)
	if err != nil {
		return err
	}
	if x == y {
		return invalidf("relation of %q with itself", a)
	}
	if _, ok := related(c.st.cols, x, y); ok {
		return fmt.Errorf("relation of %q and %q: %w", op.Src, op.Tgt, ErrExists)
	}
	if a > b {
		a, b = b, a
	}
	ends := [2]*raw{{kind: format.KindEntity, name: a}, {kind: format.KindEntity, name: b}}
	rel := &raw{kind: format.KindRelation, src: a, tgt: b, ends: ends}
	c.made(rel, format.Fragment{Class: format.ClassCurated, Description: op.Description, Keywords: keywords(op.Keywords), Weight: op.Weight})
	for _, end := range ends {
		c.made(end, format.Fragment{Class: format.ClassImplied})
		end.add[0].via, end.add[0].text = rel, op.Description
	}
	c.change = format.Change{Kind: format.ChangeCreate, Of: rel.kind, Names: []string{format.PairName(a, b)}, Made: true}
	c.wrote(relationToken(a, b))
	c.read(identityToken(a))
	c.read(identityToken(b))
	c.info.Shown = []string{a, b}
	c.p.adds = []*raw{ends[0], ends[1], rel}
	return c.p.roots(c.d, c.byOwner)
}

// made adds the fragment of this change to a raw owner.
func (c *curator) made(w *raw, f format.Fragment) {
	w.add = append(w.add, addition{fragment: fragment{key: FragmentKey{Order: c.id}, Fragment: f}, of: w})
}
