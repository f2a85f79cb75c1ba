package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// View is a consistent, immutable picture of the graph: whatever is inserted
// or deleted after it was taken is not in it. It holds no lock, but it pins
// what it shows; Close it when done. Its methods are safe for concurrent use,
// not with Close.
type View struct {
	v      *graphstore.View
	models Models
	err    error
}

// View returns the newest view. On a closed DB every method of the view
// returns ErrClosed.
func (db *DB) View() *View {
	v, err := db.store.View()
	m := db.Models()
	m.Answer = ""
	return &View{v: v, models: m, err: err}
}

// Close releases the view. It is idempotent.
func (v *View) Close() {
	if v.v != nil {
		v.v.Close()
	}
}

// Err returns why the view cannot be read, or nil.
func (v *View) Err() error { return v.err }

// Counts of live things.
type Counts struct {
	Documents uint64 `json:"documents"`
	Chunks    uint64 `json:"chunks"`
	Entities  uint64 `json:"entities"`
	Relations uint64 `json:"relations"`
	Fragments uint64 `json:"fragments"`
}

// Counts returns how much the view holds.
func (v *View) Counts() Counts {
	if v.err != nil {
		return Counts{}
	}
	c := v.v.Counts()
	return Counts{
		Documents: uint64(c.Documents), Chunks: uint64(c.Chunks), Entities: uint64(c.Entities),
		Relations: uint64(c.Relations), Fragments: uint64(c.Fragments),
	}
}

// Entity is a node of the graph with everything that was said about it.
type Entity struct {
	Name        string
	Type        string
	Description string
	Fragments   []string // distinct descriptions, canonical order
	Sources     []string // doc_id#chunk_order, by document, then chunk
	Degree      int
	Pending     bool // the description waits for a summary

	Aliases []string // other names that lead to it
	Curated []Field  // fields that a person has set, whatever documents say
}

// Relation is an edge of the graph; Src < Tgt by code point.
type Relation struct {
	Src, Tgt    string
	Weight      float64
	Keywords    []string // sorted
	Description string
	Fragments   []string
	Sources     []string
	Pending     bool

	Curated []Field
}

// Neighbor is an entity and the relation that leads to it.
type Neighbor struct {
	Name     string
	Degree   int
	Weight   float64
	Hops     int    // distance from where the walk began
	Via      string // the neighbour's neighbour on the way back
	relation format.RelationID
}

// Entity returns the entity of that name, normalised as names in documents
// are, or of which it is an alias. Unknown names are ErrNotFound, blank ones
// ErrInvalid.
func (v *View) Entity(name string) (*Entity, error) {
	id, err := v.entity(name)
	if err != nil {
		return nil, err
	}
	return newReader(v.v).entity(id)
}

func (v *View) entity(name string) (format.EntityID, error) {
	if v.err != nil {
		return 0, v.err
	}
	if strings.TrimSpace(name) == "" {
		return 0, fmt.Errorf("lightrag: %w: blank entity name", ErrInvalid)
	}
	id, ok, err := v.v.FindEntity(name)
	if n := llm.NormalizeName(name); err == nil && !ok && n != name {
		id, ok, err = v.v.FindEntity(n)
	}
	if err == nil && !ok {
		err = ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("lightrag: entity %q: %w", name, within(err))
	}
	return id, nil
}

// Relation returns the relation of two entities, in either order.
func (v *View) Relation(a, b string) (*Relation, error) {
	x, err := v.entity(a)
	if err != nil {
		return nil, err
	}
	y, err := v.entity(b)
	if err != nil {
		return nil, err
	}
	id, ok, err := v.v.FindPair(x, y)
	if err == nil && !ok {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("lightrag: relation of %q and %q: %w", a, b, within(err))
	}
	return newReader(v.v).relation(id)
}

// Degree returns the number of neighbours of an entity.
func (v *View) Degree(name string) (int, error) {
	id, err := v.entity(name)
	if err != nil {
		return 0, err
	}
	return v.v.Degree(id), nil
}

// Neighbors returns the entities at most hops steps away, nearest first, then
// in name order, at most limit of them (0 = no limit). Who must know whether
// there are more asks for one more.
func (v *View) Neighbors(name string, hops, limit int) ([]Neighbor, error) {
	start, err := v.entity(name)
	if err != nil {
		return nil, err
	}
	if hops < 1 {
		return nil, fmt.Errorf("lightrag: neighbours of %q: %w: %d hops", name, ErrInvalid, hops)
	}
	var out []Neighbor
	seen := map[format.EntityID]struct{}{start: {}}
	ring := []format.EntityID{start}
	for hop := 1; hop <= hops && len(ring) > 0; hop++ {
		var next []format.EntityID
		var found []Neighbor
		for _, from := range ring {
			for _, nb := range v.v.Neighbors(from) {
				if _, dup := seen[nb.Entity]; dup {
					continue
				}
				seen[nb.Entity] = struct{}{}
				next = append(next, nb.Entity)
				found = append(found, Neighbor{
					Name: v.v.EntityName(nb.Entity), Degree: v.v.Degree(nb.Entity), Hops: hop, Via: v.v.EntityName(from),
					Weight: float64(v.v.Weight(nb.Relation)) / format.WeightScale, relation: nb.Relation,
				})
			}
		}
		slices.SortFunc(found, func(a, b Neighbor) int { return cmp.Compare(a.Name, b.Name) })
		out = append(out, found...)
		if limit > 0 && len(out) >= limit {
			return out[:limit], nil
		}
		ring = next
	}
	return out, nil
}

// Entities calls fn for every entity in name order until it returns an error.
func (v *View) Entities(fn func(*Entity) error) error {
	if v.err != nil {
		return v.err
	}
	r := newReader(v.v)
	for _, id := range v.entityOrder() {
		e, err := r.entity(id)
		if err != nil {
			return err
		}
		if err := fn(e); err != nil {
			return err
		}
	}
	return nil
}

// EntityNames calls fn for every entity in name order until it returns false.
func (v *View) EntityNames(fn func(name string, degree int) bool) {
	if v.err != nil {
		return
	}
	for _, id := range v.entityOrder() {
		if !fn(v.v.EntityName(id), v.v.Degree(id)) {
			return
		}
	}
}

func (v *View) entityOrder() []format.EntityID {
	ids := slices.Collect(v.v.Entities())
	slices.SortFunc(ids, func(a, b format.EntityID) int { return cmp.Compare(v.v.EntityName(a), v.v.EntityName(b)) })
	return ids
}

// Relations calls fn for every relation, by source, then target, until it
// returns an error.
func (v *View) Relations(fn func(*Relation) error) error {
	if v.err != nil {
		return v.err
	}
	r := newReader(v.v)
	return v.eachRelation(v.entityOrder(), func(id format.RelationID) error {
		rel, err := r.relation(id)
		if err != nil {
			return err
		}
		return fn(rel)
	})
}

// reader turns rows of a view into public records. It remembers the ids of
// documents and the paths of chunks between calls.
type reader struct {
	v     *graphstore.View
	docs  map[format.DocID]string
	paths map[format.ChunkID]string
}

func newReader(v *graphstore.View) *reader {
	return &reader{v: v, docs: make(map[format.DocID]string)}
}

func (r *reader) entity(id format.EntityID) (*Entity, error) {
	recs, err := r.v.EntityRecords([]format.EntityID{id}, nil)
	if err != nil {
		return nil, err
	}
	e := &Entity{
		Name: r.v.EntityName(id), Type: recs[0].Type, Description: recs[0].Description,
		Degree: r.v.Degree(id), Pending: recs[0].Pending, Curated: curatedFields(recs[0].Curated),
	}
	if e.Aliases, err = r.v.Aliases(id); err != nil {
		return nil, err
	}
	if e.Fragments, err = r.v.Descriptions(format.KindEntity, uint32(id)); err != nil {
		return nil, err
	}
	e.Sources, err = r.sources(format.KindEntity, uint32(id))
	return e, err
}

func (r *reader) relation(id format.RelationID) (*Relation, error) {
	recs, err := r.v.RelationRecords([]format.RelationID{id}, nil)
	if err != nil {
		return nil, err
	}
	a, b := r.v.Ends(id)
	e := &Relation{
		Src: r.v.EntityName(a), Tgt: r.v.EntityName(b), Weight: float64(recs[0].Weight) / format.WeightScale,
		Keywords: recs[0].Keywords, Description: recs[0].Description, Pending: recs[0].Pending,
		Curated: curatedFields(recs[0].Curated),
	}
	if e.Fragments, err = r.v.Descriptions(format.KindRelation, uint32(id)); err != nil {
		return nil, err
	}
	e.Sources, err = r.sources(format.KindRelation, uint32(id))
	return e, err
}

func (r *reader) sources(kind format.Kind, owner uint32) ([]string, error) {
	ids, err := r.v.AllSources(kind, owner)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(ids))
	for i, id := range ids {
		doc, order := r.v.ChunkPlace(id)
		name, err := r.document(doc)
		if err != nil {
			return nil, err
		}
		out[i] = name + "#" + strconv.FormatUint(uint64(order), 10)
	}
	return out, nil
}

// document returns the caller's id of a document.
func (r *reader) document(doc format.DocID) (string, error) {
	id, ok := r.docs[doc]
	if !ok {
		d, err := r.v.Document(doc)
		if err != nil {
			return "", err
		}
		id = d.ID
		r.docs[doc] = id
	}
	return id, nil
}
