package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/lightctl/lightrag/engine/internal/alike"
	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// resolver merges entities that differ in nothing but the spelling of their
// names (Options.ResolveEntities). It knows the names there are by their keys,
// so that what a document brings is compared at a cost that does not depend on
// how much is there.
type resolver struct {
	busy   chan struct{}       // holds one while names are compared and merged, which may ask an embedder
	keys   map[string][]string // of whom busy is; nil: not read yet
	missed atomic.Bool         // names came that are not among the keys
}

// forgetNames has the next run look at all names: one has ended before those of
// its documents were compared.
func (db *DB) forgetNames() { db.resolver.missed.Store(true) }

// resolve compares names that commits brought with all others, and merges the
// certain ones: each merge is a change of its own that can be undone, and what
// was undone once is not merged again.
func (db *DB) resolve(ctx context.Context, names []string) (merged int, err error) {
	r := &db.resolver
	select {
	case r.busy <- struct{}{}:
		defer func() { <-r.busy }()
	case <-ctx.Done():
		db.forgetNames()
		return 0, context.Cause(ctx)
	}
	defer func() {
		if err != nil {
			db.forgetNames()
		}
	}()
	keys, err := r.add(db, names)
	if err != nil {
		return 0, err
	}
	for _, k := range keys {
		for {
			op, err := db.certain(r.keys[k])
			if err != nil || op == nil {
				if err != nil {
					return merged, err
				}
				break
			}
			_, err = db.change(ctx, func(*namer) graphstore.Curation { return *op })
			if errors.Is(err, ErrNotFound) || errors.Is(err, ErrInvalid) {
				break // somebody else has merged or removed one of them
			}
			if err != nil {
				return merged, err
			}
			merged++
		}
	}
	return merged, nil
}

// add notes names and returns the keys that several of them share, in order:
// of the new ones, or of all when they are read for the first time.
func (r *resolver) add(db *DB, names []string) ([]string, error) {
	if r.missed.Swap(false) {
		r.keys = nil
	}
	if r.keys == nil {
		v, err := db.store.View()
		if err != nil {
			return nil, err
		}
		defer v.Close()
		r.keys, names = make(map[string][]string), nil
		for id := range v.Entities() {
			names = append(names, v.EntityName(id))
			aliases, err := v.Aliases(id)
			if err != nil { // resolve has the next one begin anew
				return nil, err
			}
			names = append(names, aliases...)
		}
	}
	touched := make(map[string]struct{})
	for _, name := range names {
		k := alike.Key(name)
		if k == "" {
			continue
		}
		if !slices.Contains(r.keys[k], name) {
			r.keys[k] = append(r.keys[k], name)
		}
		if len(r.keys[k]) > 1 {
			touched[k] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(touched)), nil
}

// spelling is a name and the entity it leads to.
type spelling struct {
	name, root string
	typ        string
	sources    int
	grouped    bool // other names lead to the entity as well
}

// certain returns the next merge among names of one key, nil if there is none.
// It takes an entity that stands alone into one that has such a name itself: what
// people made of several names is theirs, and being alike to an alias is not
// being alike to what it leads to.
func (db *DB) certain(names []string) (*graphstore.Merge, error) {
	v, err := db.store.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	list, err := spellings(v, names)
	if err != nil || len(list) < 2 {
		return nil, err
	}
	var undone []map[string]struct{}
	for i, target := range list {
		if target.name != target.root {
			continue
		}
		for _, source := range list[i+1:] {
			if source.root == target.root || source.grouped || source.name != source.root ||
				!alike.Certain(source.name, target.root) || typesDiffer(source.typ, target.typ) {
				continue
			}
			if undone == nil {
				if undone, err = undoneMerges(v); err != nil {
					return nil, err
				}
			}
			if parted(undone, source.name, target.root) {
				continue
			}
			return &graphstore.Merge{Sources: []string{source.name}, Target: target.root}, nil
		}
	}
	return nil, nil
}

// spellings looks names up, the one to merge into first: entities of several
// names, then those with the most sources, then by name.
func spellings(v *graphstore.View, names []string) ([]spelling, error) {
	var list []spelling
	for _, name := range names {
		id, ok, err := v.FindEntity(name)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue // its documents are gone
		}
		recs, err := v.EntityRecords([]format.EntityID{id}, nil)
		if err != nil {
			return nil, err
		}
		aliases, err := v.Aliases(id)
		if err != nil {
			return nil, err
		}
		list = append(list, spelling{
			name: name, root: v.EntityName(id), typ: recs[0].Type,
			sources: len(v.Sources(format.KindEntity, uint32(id))), grouped: len(aliases) > 0,
		})
	}
	slices.SortFunc(list, func(a, b spelling) int {
		if a.grouped != b.grouped {
			if a.grouped {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.sources, a.sources), cmp.Compare(a.name, b.name))
	})
	return list, nil
}

func typesDiffer(a, b string) bool {
	return a != b && a != graphstore.UnknownType && b != graphstore.UnknownType
}

// undoneMerges returns the names of each merge and rename that was taken back.
func undoneMerges(v *graphstore.View) ([]map[string]struct{}, error) {
	out := []map[string]struct{}{}
	err := v.Changes(func(_ uint32, c *format.Change) error {
		if c.Undone == 0 || c.Of != format.KindEntity || len(c.Names) < 2 {
			return nil
		}
		set := make(map[string]struct{}, len(c.Names))
		for _, n := range c.Names {
			set[n] = struct{}{}
		}
		out = append(out, set)
		return nil
	})
	return out, err
}

func parted(undone []map[string]struct{}, a, b string) bool {
	for _, set := range undone {
		_, x := set[a]
		if _, y := set[b]; x && y {
			return true
		}
	}
	return false
}

// namesOf returns the entity names that a contribution holds.
func namesOf(c *graphstore.Contribution) []string {
	out := make([]string, 0, len(c.Entities)+2*len(c.Relations))
	for i := range c.Entities {
		out = append(out, c.Entities[i].Name)
	}
	for i := range c.Relations {
		out = append(out, c.Relations[i].Src, c.Relations[i].Tgt)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// resolveRun merges what the documents of a run have in common with others. An
// error is no reason to give the run up, unless the store or the context is
// done: the next run looks at all names again.
func (r *run) resolveRun() error {
	r.mu.Lock()
	names := r.named
	r.named = nil
	r.mu.Unlock()
	if !r.db.opts.ResolveEntities {
		return nil
	}
	n, err := r.db.resolve(r.ctx, names)
	r.mu.Lock()
	r.report.Merged += n
	r.mu.Unlock()
	if err != nil && !fatal(r.ctx, err) {
		r.db.opts.Logger.Warn("lightrag: some entities that differ in spelling only were not merged", "error", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("merge entities of one spelling: %w", err)
	}
	return nil
}
