package graphstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lightctl/lightrag/format"
)

// Curation is something that a person does to the graph: CreateEntity,
// CreateRelation, EditEntity, EditRelation, Rename, Merge, DeleteEntities,
// DeleteRelations or Undo. Names are normalised; a name that is an alias
// stands for its root.
//
// Fragments of documents never change by it, but for deletions: a merge lets
// several raw owners show as one, an edit lays values over derived ones, and
// what is created is a fragment of document 0. So documents can come and go
// meanwhile, and undoing a change leaves what would be there without it.
type Curation interface {
	curate(c *curator) error
}

// CurationInfo says what a curation did.
type CurationInfo struct {
	Change   uint32 // its id; 0: nothing was to be changed
	Seq      uint64
	Resolved map[string]string // names that were given -> roots, where they differ
	// Shown is the entity that the change made or changed, by the name that
	// shows now; of a relation both ends. Empty after a deletion.
	Shown     []string
	Entities  int // that are gone, or united with another
	Relations int
	Stale     int // roots that are stale now
}

// PreparedCuration is a curation that has been worked out and is to be
// committed once, by one goroutine.
type PreparedCuration struct {
	op    Curation
	c     *curator
	roots []*Root
	used  bool
}

// Roots returns the owners that are new or whose text to embed changes. The
// caller may set their vectors before CommitCuration; those without become
// stale.
func (p *PreparedCuration) Roots() []*Root { return p.roots }

// curator works a curation out against one state of the store.
type curator struct {
	ctx     context.Context
	s       *Store
	st      *state
	r       *rows
	d       *deriver
	p       *plan
	id      uint32 // of the change
	change  format.Change
	info    CurationInfo
	byOwner map[uint64]*change
	undone  uint32                     // the change that is undone, 0: a new one is made
	docs    map[DocID]*documentEdit    // deletions
	pairs   map[RelationID][2]EntityID // raw relations met
	reads   map[string]struct{}        // see format.Change
	writes  map[string]struct{}        //
}

// documentEdit is what a deletion does to the owners row of a document.
type documentEdit struct {
	drop map[format.OwnerFragment]struct{}
	add  []format.OwnerFragment
}

// PrepareCuration works op out on the newest published view, without the
// writer's lock. The errors match ErrNotFound (an owner or a change that does
// not exist), ErrExists, or ErrInvalid (names that make no sense, a change
// that cannot be undone).
func (s *Store) PrepareCuration(ctx context.Context, op Curation) (*PreparedCuration, error) {
	p := &PreparedCuration{op: op}
	err := s.writable()
	if err == nil {
		var st *state
		if st, err = s.acquire(); err == nil {
			defer st.release()
			r := newRows(st.snap)
			p.c, err = s.curation(ctx, st, r, op)
			if e := r.close(); err == nil {
				err = e
			}
		}
	}
	if err != nil {
		return nil, opError("curate", "graph", err)
	}
	p.roots = p.c.p.toEmbed()
	return p, nil
}

// curation works op out against a state.
func (s *Store) curation(ctx context.Context, st *state, r *rows, op Curation) (*curator, error) {
	c := &curator{
		ctx: ctx, s: s, st: st, r: r, id: st.n.NextChange, byOwner: make(map[uint64]*change),
		reads: make(map[string]struct{}), writes: make(map[string]struct{}),
		p: &plan{base: st.seq, made: st.n, overlay: &overlays{
			aliases: make(map[string]string), overrides: make(map[ownerText]*format.Override),
		}},
	}
	c.d = s.deriver(st, r, nil)
	c.d.pending = c.p.overlay
	if err := op.curate(c); err != nil {
		return nil, err
	}
	for _, ch := range c.p.changes {
		slices.SortStableFunc(ch.add, func(a, b addition) int { return a.key.Compare(b.key) })
	}
	if err := c.p.derive(ctx, c.d); err != nil {
		return nil, err
	}
	c.change.Reads, c.change.Writes = sortedKeys(c.reads), sortedKeys(c.writes)
	for _, ch := range c.p.changes {
		switch {
		case !ch.next.gone:
		case ch.kind == format.KindEntity:
			c.info.Entities++
		default:
			c.info.Relations++
		}
	}
	return c, nil
}

func sortedKeys(set map[string]struct{}) []string {
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// CommitCuration makes a prepared curation durable and visible, in one step.
// What other commits changed since it was prepared is taken into account: the
// errors of PrepareCuration are possible here as well. After an error nothing
// is visible.
func (s *Store) CommitCuration(ctx context.Context, p *PreparedCuration) (CurationInfo, error) {
	info, err := s.commitCuration(ctx, p)
	return info, opError("curate", "graph", err)
}

func (s *Store) commitCuration(ctx context.Context, p *PreparedCuration) (info CurationInfo, err error) {
	if p.used {
		return info, invalidf("prepared curation was committed before")
	}
	given, err := s.givenVectors(p.roots)
	if err != nil {
		return info, err
	}
	if err := ctx.Err(); err != nil {
		return info, err
	}
	p.used = true
	seq, err := s.write(func(tx *txn) error {
		c := p.c
		if tx.base.seq != c.p.base {
			if c, err = s.curation(ctx, tx.base, tx.rows, p.op); err != nil {
				return err
			}
		}
		info = c.info
		if c.nothing() {
			return nil
		}
		given.to(c.p.changes)
		out, err := tx.plan(c.p)
		if err != nil {
			return err
		}
		info.Stale = out.stale
		info.Change, err = tx.curated(c)
		return err
	})
	if err != nil {
		return CurationInfo{}, err
	}
	info.Seq = seq
	return info, nil
}

// nothing says whether the curation leaves everything as it is.
func (c *curator) nothing() bool {
	return c.undone == 0 && c.change.Kind != format.ChangeDelete &&
		!c.change.Made && len(c.change.Aliases) == 0 && len(c.change.Overrides) == 0
}

// Tokens by which changes know what they build upon.
func identityToken(name string) string { return "i" + name }
func relationToken(a, b string) string { return "r" + ordered(a, b) }
func overrideToken(owner ownerText) string {
	return "o" + string([]byte{byte(owner.kind)}) + owner.name
}

// ordered names a pair as the key of its override does.
func ordered(a, b string) string {
	if a > b {
		a, b = b, a
	}
	return format.PairName(a, b)
}

func (c *curator) read(token string)  { c.reads[token] = struct{}{} }
func (c *curator) wrote(token string) { c.writes[token] = struct{}{} }

// checkName refuses what cannot be a name.
func checkName(name string) error {
	if strings.TrimSpace(name) == "" || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return invalidf("%q is no name", name)
	}
	return nil
}

// entity finds the root that a name leads to, and whether it exists.
func (c *curator) entity(name string) (root string, id EntityID, live bool, err error) {
	if err := checkName(name); err != nil {
		return "", 0, false, err
	}
	if root, err = c.d.root(name); err != nil {
		return "", 0, false, err
	}
	if root != name {
		if c.info.Resolved == nil {
			c.info.Resolved = make(map[string]string)
		}
		c.info.Resolved[name] = root
	}
	id, ok, err := c.r.entity(root)
	return root, id, ok && c.st.cols.EntityLive(id), err
}

// mustEntity is entity for one that has to exist.
func (c *curator) mustEntity(name string) (root string, id EntityID, err error) {
	root, id, live, err := c.entity(name)
	if err == nil && !live {
		err = fmt.Errorf("entity %q: %w", name, ErrNotFound)
	}
	return root, id, err
}

// mustRelation finds a relation that has to exist.
func (c *curator) mustRelation(a, b string) (src, tgt string, id RelationID, err error) {
	src, x, err := c.mustEntity(a)
	if err != nil {
		return "", "", 0, err
	}
	tgt, y, err := c.mustEntity(b)
	if err != nil {
		return "", "", 0, err
	}
	id, ok := RelationID(0), false
	if x != y {
		id, ok = related(c.st.cols, x, y)
	}
	if !ok {
		return "", "", 0, fmt.Errorf("relation of %q and %q: %w", a, b, ErrNotFound)
	}
	if src > tgt {
		src, tgt = tgt, src
	}
	return src, tgt, id, nil
}

// existing returns the change of a root that exists, which is derived anew.
func (c *curator) existing(kind Kind, owner uint32) *change {
	ch := c.byOwner[ownerKey(kind, owner)]
	if ch == nil {
		ch = c.d.existing(kind, owner)
		c.byOwner[ownerKey(kind, owner)] = ch
		c.p.changes = append(c.p.changes, ch)
	}
	ch.force = true
	return ch
}

// setAlias notes that a name leads to another root; "" = to itself.
func (c *curator) setAlias(name, root string) error {
	before, _, err := c.r.alias(name)
	if err != nil || before == root {
		return err
	}
	c.p.overlay.aliases[name] = root
	c.change.Aliases = append(c.change.Aliases, format.AliasEdit{Name: name, Before: before, After: root})
	c.wrote(identityToken(name))
	return nil
}

// setOverride notes the override of a root; one without fields is none.
func (c *curator) setOverride(owner ownerText, o format.Override) error {
	old, had, err := c.r.override(owner.kind, owner.name)
	if err != nil {
		return err
	}
	edit := format.OverrideEdit{Kind: owner.kind, Owner: owner.name}
	if had {
		edit.Before = string(format.AppendOverride(nil, &old))
	}
	if c.p.overlay.overrides[owner] = nil; o.Mask != 0 {
		edit.After = string(format.AppendOverride(nil, &o))
		c.p.overlay.overrides[owner] = &o
	}
	if edit.Before == edit.After {
		return nil
	}
	c.change.Overrides = append(c.change.Overrides, edit)
	c.wrote(overrideToken(owner))
	return nil
}
