package engine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// Curation: what a person decides about the graph. It lies over what documents
// say and survives whatever documents come and go. Every call is one atomic
// change, which readers and a crash see wholly or not at all, and has an id by
// which Undo takes it back. Names are normalised as those of documents are; a
// name that a merge or a rename made an alias stands for its entity. All calls
// are safe for concurrent use.
//
// New texts are embedded before the change is committed. With the embedder
// down the change stands all the same, and Refresh makes up for it.

// CreateEntity makes an entity that no document needs to name. The error
// matches ErrExists if there is an entity or an alias of that name, ErrInvalid
// if name or type cannot be used.
func (db *DB) CreateEntity(ctx context.Context, e NewEntity) (*CurationReport, error) {
	typ, err := curatedType(e.Type)
	if err != nil {
		return nil, fmt.Errorf("lightrag: create entity %q: %w", e.Name, within(err))
	}
	return db.curate(ctx, "create entity", strconv.Quote(e.Name), func(names *namer) graphstore.Curation {
		return graphstore.CreateEntity{Name: names.fresh(e.Name), Type: typ, Description: llm.NormalizeDescription(e.Description)}
	})
}

// CreateRelation makes a relation between two entities that exist
// (ErrNotFound), differ (ErrInvalid) and are not related yet (ErrExists).
func (db *DB) CreateRelation(ctx context.Context, r NewRelation) (*CurationReport, error) {
	weight := r.Weight
	if weight == 0 {
		weight = 1
	}
	w, err := curatedWeight(weight)
	if err != nil {
		return nil, fmt.Errorf("lightrag: create relation of %q and %q: %w", r.Src, r.Tgt, within(err))
	}
	return db.curate(ctx, "create relation of", pairText(r.Src, r.Tgt), func(names *namer) graphstore.Curation {
		return graphstore.CreateRelation{
			Src: names.known(r.Src), Tgt: names.known(r.Tgt), Description: llm.NormalizeDescription(r.Description),
			Keywords: curatedKeywords(r.Keywords), Weight: w,
		}
	})
}

// EditEntity lays values over those that documents give an entity. The error
// matches ErrNotFound for an unknown entity, ErrInvalid for values that cannot
// be used or an edit of nothing.
func (db *DB) EditEntity(ctx context.Context, name string, e EntityEdit) (*CurationReport, error) {
	op := graphstore.EditEntity{Type: e.Type, Description: cleaned(e.Description)}
	err := curatedPointer(&op.Type)
	if err == nil {
		op.Reset, err = fieldsOf(e.Reset, FieldType, FieldDescription)
	}
	if err == nil && e.Type == nil && e.Description == nil && len(e.Reset) == 0 {
		err = fmt.Errorf("%w: nothing to edit", ErrInvalid)
	}
	if err != nil {
		return nil, fmt.Errorf("lightrag: edit entity %q: %w", name, within(err))
	}
	return db.curate(ctx, "edit entity", strconv.Quote(name), func(names *namer) graphstore.Curation {
		op.Name = names.known(name)
		return op
	})
}

// EditRelation is EditEntity for the relation of two entities, in any order.
func (db *DB) EditRelation(ctx context.Context, a, b string, e RelationEdit) (*CurationReport, error) {
	op := graphstore.EditRelation{Description: cleaned(e.Description)}
	var err error
	if e.Weight != nil {
		var w int64
		w, err = curatedWeight(*e.Weight)
		op.Weight = &w
	}
	if e.Keywords != nil {
		kw := curatedKeywords(*e.Keywords)
		op.Keywords = &kw
	}
	if err == nil {
		op.Reset, err = fieldsOf(e.Reset, FieldDescription, FieldKeywords, FieldWeight)
	}
	if err == nil && e.Description == nil && e.Keywords == nil && e.Weight == nil && len(e.Reset) == 0 {
		err = fmt.Errorf("%w: nothing to edit", ErrInvalid)
	}
	if err != nil {
		return nil, fmt.Errorf("lightrag: edit relation of %q and %q: %w", a, b, within(err))
	}
	return db.curate(ctx, "edit relation of", pairText(a, b), func(names *namer) graphstore.Curation {
		op.Src, op.Tgt = names.known(a), names.known(b)
		return op
	})
}

// RenameEntity gives an entity another name; the old one goes on leading to
// it, also in documents that come later. The error matches ErrNotFound, and
// ErrExists if there is an entity of the new name, unless merge is set: then
// the two become one as MergeEntities has it.
func (db *DB) RenameEntity(ctx context.Context, from, to string, merge bool) (*CurationReport, error) {
	return db.curate(ctx, "rename entity", strconv.Quote(from), func(names *namer) graphstore.Curation {
		return graphstore.Rename{From: names.known(from), To: names.fresh(to), Merge: merge}
	})
}

// MergeEntities lets entities show as one, the target, which may be new. What
// documents say of any of them, now or later, is said of it; relations are
// redirected, parallel ones united, those among them hidden. Nothing is lost:
// after Undo each name has its own mentions again, those that came meanwhile
// too. A name that is an alias stands for its entity, and the report says so.
// The error matches ErrNotFound for an unknown source, ErrInvalid if they are
// one entity already.
func (db *DB) MergeEntities(ctx context.Context, sources []string, target string, o MergeOptions) (*CurationReport, error) {
	op := graphstore.Merge{Type: o.Type, Description: cleaned(o.Description)}
	err := curatedPointer(&op.Type)
	if err == nil {
		op.TypeBy, err = o.TypeBy.strategy()
	}
	if err == nil {
		op.DescriptionBy, err = o.DescriptionBy.strategy()
	}
	if err == nil && len(sources) == 0 {
		err = fmt.Errorf("%w: no entity to merge", ErrInvalid)
	}
	if err != nil {
		return nil, fmt.Errorf("lightrag: merge into %q: %w", target, within(err))
	}
	return db.curate(ctx, "merge into", strconv.Quote(target), func(names *namer) graphstore.Curation {
		op.Sources = nil
		for _, s := range sources {
			op.Sources = append(op.Sources, names.known(s))
		}
		op.Target = names.fresh(target)
		return op
	})
}

// DeleteEntities removes entities as if no document had ever named them: what
// was said of them, their relations, aliases and curated values. The documents
// stay. Entities that were related to them stay as well, even without any
// relation, but without a word of what is gone. A deletion cannot be undone.
// The error matches ErrNotFound if one of them does not exist; then nothing is
// deleted.
func (db *DB) DeleteEntities(ctx context.Context, names ...string) (*CurationReport, error) {
	return db.curate(ctx, "delete entities", strconv.Quote(strings.Join(names, ", ")), func(n *namer) graphstore.Curation {
		op := graphstore.DeleteEntities{}
		for _, name := range names {
			op.Names = append(op.Names, n.known(name))
		}
		return op
	})
}

// DeleteRelations removes relations, each given by its ends in any order, like
// DeleteEntities does; the ends stay.
func (db *DB) DeleteRelations(ctx context.Context, pairs ...[2]string) (*CurationReport, error) {
	return db.curate(ctx, "delete", plural(uint64(len(pairs)), "relation", "relations"), func(n *namer) graphstore.Curation {
		op := graphstore.DeleteRelations{}
		for _, p := range pairs {
			op.Pairs = append(op.Pairs, [2]string{n.known(p[0]), n.known(p[1])})
		}
		return op
	})
}

// Undo takes a change back. The error matches ErrNotFound for an unknown
// change, ErrInvalid for a deletion, for a change that was undone before, and
// for one that a later change builds upon: the text names that.
func (db *DB) Undo(ctx context.Context, change uint32) (*CurationReport, error) {
	return db.curate(ctx, "undo change", fmt.Sprint(change), func(*namer) graphstore.Curation {
		return graphstore.Undo{Change: change}
	})
}

// Changes lists what was curated, oldest first.
func (v *View) Changes() ([]Change, error) {
	if v.err != nil {
		return nil, v.err
	}
	out := []Change{}
	err := v.v.Changes(func(id uint32, c *format.Change) error {
		ch := Change{ID: id, Kind: c.Kind.String(), Of: c.Of.String(), Made: time.Unix(c.Created, 0).UTC(), CanUndo: c.Undone == 0 && c.Kind != format.ChangeDelete}
		if c.Undone != 0 {
			t := time.Unix(c.Undone, 0).UTC()
			ch.Undone = &t
		}
		for _, name := range c.Names {
			ch.Names = append(ch.Names, strings.ReplaceAll(name, "\x00", " - "))
		}
		out = append(out, ch)
		return nil
	})
	return out, err
}

// Changes lists what was curated, oldest first.
func (db *DB) Changes() ([]Change, error) {
	v := db.View()
	defer v.Close()
	return v.Changes()
}

// namer finds names that a person typed.
type namer struct {
	v   *graphstore.View
	err error
}

// known returns the stored spelling of a name.
func (n *namer) known(name string) string {
	_, ok, err := n.v.FindEntity(name)
	if n.err == nil {
		n.err = err
	}
	if ok {
		return name
	}
	return llm.NormalizeName(name)
}

// fresh returns the spelling of a name that may be new.
func (n *namer) fresh(name string) string { return llm.NormalizeName(name) }

// curate makes one change: it is worked out, its texts are embedded, and it is
// committed; summaries that it needs are made afterwards.
func (db *DB) curate(ctx context.Context, op, object string, make func(*namer) graphstore.Curation) (*CurationReport, error) {
	if err := db.begin(true); err != nil {
		return nil, err
	}
	defer db.end()
	info, err := db.change(ctx, make)
	if err != nil {
		return nil, fmt.Errorf("lightrag: %s %s: %w", op, object, within(err))
	}
	rep := &CurationReport{Change: info.Change, Resolved: info.Resolved, Gone: Counts{Entities: uint64(info.Entities), Relations: uint64(info.Relations)}}
	if info.Stale > 0 {
		if _, _, err := db.refresh(ctx); err != nil {
			db.opts.Logger.Warn("lightrag: the graph is changed, but vectors or summaries are still stale", "error", err)
		}
	}
	if rep.Stale, err = db.store.StaleCount(); err != nil {
		return rep, err
	}
	return rep, db.show(rep, info.Shown)
}

// pairText names a relation in an error.
func pairText(a, b string) string { return fmt.Sprintf("%q and %q", a, b) }

func (db *DB) change(ctx context.Context, make func(*namer) graphstore.Curation) (info graphstore.CurationInfo, err error) {
	if err := db.index.waitLinked(ctx); err != nil {
		return info, err
	}
	view, err := db.store.View()
	if err != nil {
		return info, err
	}
	names := &namer{v: view}
	op := make(names)
	view.Close()
	if names.err != nil {
		return info, names.err
	}
	p, err := db.store.PrepareCuration(ctx, op)
	if err != nil {
		return info, err
	}
	roots := p.Roots()
	texts := []string{}
	for _, r := range roots {
		texts = append(texts, r.Text)
	}
	if vecs, err := db.embed(ctx, texts, llm.PurposeDocument); err == nil {
		for i, r := range roots {
			r.Vector = vecs[i]
		}
	} else if ctx.Err() != nil {
		return info, context.Cause(ctx)
	} else {
		db.opts.Logger.Warn("lightrag: the texts of a change are not embedded; its owners become stale", "error", err)
	}
	if info, err = db.store.CommitCuration(ctx, p); err == nil {
		db.index.wake()
	}
	return info, err
}

// show adds what the change made or changed, as it is now, to the report.
func (db *DB) show(rep *CurationReport, names []string) error {
	v := db.View()
	defer v.Close()
	var err error
	switch {
	case v.err != nil:
		return v.err
	case len(names) == 1:
		if _, ok, ferr := v.v.FindEntity(names[0]); ferr != nil || !ok {
			return ferr // somebody has removed it since
		}
		rep.Entity, err = v.Entity(names[0])
	case len(names) == 2:
		if _, ok, ferr := v.v.FindRelation(names[0], names[1]); ferr != nil || !ok {
			return ferr
		}
		rep.Relation, err = v.Relation(names[0], names[1])
	}
	return err
}

func curatedType(typ string) (string, error) {
	if strings.TrimSpace(typ) == "" || strings.EqualFold(typ, graphstore.UnknownType) {
		return "", nil
	}
	n, ok := llm.NormalizeType(typ)
	if !ok {
		return "", fmt.Errorf("%w: type %q", ErrInvalid, typ)
	}
	return n, nil
}

// curatedPointer normalises a type that is to be laid over the derived one.
func curatedPointer(typ **string) error {
	if *typ == nil {
		return nil
	}
	n, err := curatedType(**typ)
	if n == "" {
		n = graphstore.UnknownType
	}
	*typ = &n
	return err
}

func curatedWeight(w float64) (int64, error) {
	const most = 1e9 // as much as a record may have: sums stay far from overflow
	if math.IsNaN(w) || w < 0 || w > most {
		return 0, fmt.Errorf("%w: weight %v", ErrInvalid, w)
	}
	return int64(math.Round(w * format.WeightScale)), nil
}

func curatedKeywords(list []string) []string {
	out := make([]string, 0, len(list))
	for _, k := range list {
		out = append(out, llm.SplitKeywords(k)...)
	}
	return out
}

func cleaned(text *string) *string {
	if text == nil {
		return nil
	}
	s := llm.NormalizeDescription(*text)
	return &s
}

// fieldsOf turns names of fields into a set.
func fieldsOf(list []Field, allowed ...Field) (set format.Fields, err error) {
	for _, f := range list {
		if !slices.Contains(allowed, f) {
			return 0, fmt.Errorf("%w: field %q is none of %v", ErrInvalid, f, allowed)
		}
		for i := range fieldNames {
			if fieldNames[i].field == f {
				set |= fieldNames[i].bit
			}
		}
	}
	return set, nil
}
