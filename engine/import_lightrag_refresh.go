package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm/offline"
)

// takeSummaries gives owners whose descriptions are to be summarised the
// summary that the directory has, if it covers all of them at once.
func (im *lightragImport) takeSummaries() error {
	return im.eachStale(func(view *graphstore.View, root *graphstore.StaleRoot) (*graphstore.Refreshed, error) {
		if len(root.Summaries) != 1 {
			return nil, nil
		}
		job := root.Summaries[0]
		all, err := view.Descriptions(root.Kind, root.Owner)
		if err != nil || len(all) != len(job.Texts) {
			return nil, err
		}
		text, err := im.rowSummary(view, root)
		if err != nil || text == "" {
			return nil, err
		}
		im.rep.Summaries++
		return &graphstore.Refreshed{
			Kind: root.Kind, Owner: root.Owner, TextHash: root.TextHash,
			Summaries: []graphstore.DoneSummary{{Job: job, Text: text}},
		}, nil
	})
}

// rowSummary returns the description of an owner's row if it is one text that
// none of the answers gave.
func (im *lightragImport) rowSummary(view *graphstore.View, root *graphstore.StaleRoot) (string, error) {
	row, cover, ok := im.rowOf(view, root.Kind, root.Owner)
	if !ok {
		return "", nil
	}
	var r graphRow
	if err := im.spill.getJSON(row, &r); err != nil {
		return "", err
	}
	texts := im.descriptions(r.Attr["description"])
	if len(texts) != 1 || slices.Contains(cover.texts, graphstore.TextHash(texts[0])) || len(cover.texts) < 2 {
		return "", nil
	}
	return texts[0], nil
}

// rowOf finds the row of an owner of the store.
func (im *lightragImport) rowOf(view *graphstore.View, kind format.Kind, owner uint32) (span, *coverage, bool) {
	if kind == format.KindEntity {
		i, ok := im.nodeAt[view.EntityName(format.EntityID(owner))]
		if !ok || !im.nodes[i].hasRow {
			return span{}, nil, false
		}
		return im.nodes[i].row, &im.nodes[i].cover, true
	}
	e, ok := im.edgeOf(view, format.RelationID(owner))
	if !ok || !im.edges[e].hasRow {
		return span{}, nil, false
	}
	return im.edges[e].row, &im.edges[e].cover, true
}

func (im *lightragImport) edgeOf(view *graphstore.View, id format.RelationID) (int32, bool) {
	x, y := view.Ends(id)
	a, ok := im.nodeAt[view.EntityName(x)]
	if !ok {
		return 0, false
	}
	b, ok := im.nodeAt[view.EntityName(y)]
	if !ok {
		return 0, false
	}
	e, ok := im.edgeAt[pairOf(a, b)]
	return e, ok
}

// eachStale calls fn for every stale entity and relation, and stores what it
// returns.
func (im *lightragImport) eachStale(fn func(*graphstore.View, *graphstore.StaleRoot) (*graphstore.Refreshed, error)) error {
	kind, owner := format.KindEntity, uint32(0)
	for {
		if err := im.ctx.Err(); err != nil {
			return context.Cause(im.ctx)
		}
		roots, err := im.db.store.StaleFrom(kind, owner, refreshPage)
		if err != nil || len(roots) == 0 {
			return err
		}
		last := &roots[len(roots)-1]
		if kind, owner = last.Kind, last.Owner+1; owner == 0 {
			kind++
		}
		done, err := im.refreshed(roots, fn)
		if err != nil {
			return err
		}
		if len(done) > 0 {
			if err := im.db.index.waitLinked(im.ctx); err != nil {
				return err
			}
			if _, err := im.db.store.Refresh(im.ctx, done); err != nil {
				return err
			}
			im.db.index.wake()
		}
	}
}

func (im *lightragImport) refreshed(roots []graphstore.StaleRoot, fn func(*graphstore.View, *graphstore.StaleRoot) (*graphstore.Refreshed, error)) ([]graphstore.Refreshed, error) {
	view, err := im.db.store.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	var done []graphstore.Refreshed
	for i := range roots {
		r := &roots[i]
		if r.Kind != format.KindEntity && r.Kind != format.KindRelation {
			continue
		}
		if r.Kind == format.KindEntity && !view.EntityLive(format.EntityID(r.Owner)) ||
			r.Kind == format.KindRelation && !view.RelationLive(format.RelationID(r.Owner)) {
			continue
		}
		d, err := fn(view, r)
		if err != nil {
			return nil, err
		}
		if d != nil {
			done = append(done, *d)
		}
	}
	return done, nil
}

// takeVectors gives entities and relations the vectors of the directory.
func (im *lightragImport) takeVectors() error {
	im.rep.Entities, im.rep.Relations = len(im.nodes), len(im.edges)
	entities, err := im.ownerVectors(entityVectorsFile, func(row *vectorRow) (int32, string, bool) {
		if row.Entity == nil {
			return 0, row.ID, false
		}
		i, ok := im.findNode(im.storeName(*row.Entity))
		return i, *row.Entity, ok
	})
	if err != nil {
		return err
	}
	relations, err := im.ownerVectors(relationVectorsFile, func(row *vectorRow) (int32, string, bool) {
		if row.Src == nil || row.Tgt == nil {
			return 0, row.ID, false
		}
		i, ok := im.findEdge(*row.Src, *row.Tgt)
		return i, *row.Src + " - " + *row.Tgt, ok
	})
	if err != nil {
		return err
	}
	err = im.eachStale(func(view *graphstore.View, root *graphstore.StaleRoot) (*graphstore.Refreshed, error) {
		if !root.NeedVector {
			return nil, nil
		}
		if _, has := view.Slot(root.Kind, root.Owner); has {
			return nil, nil
		}
		if root.Kind == format.KindEntity {
			name := view.EntityName(format.EntityID(root.Owner))
			if i, ok := im.nodeAt[name]; ok {
				return im.rootVector(entities, i, name, root)
			}
			return nil, nil
		}
		e, ok := im.edgeOf(view, format.RelationID(root.Owner))
		if !ok {
			return nil, nil
		}
		return im.rootVector(relations, e, im.nodes[im.edges[e].a].name+" - "+im.nodes[im.edges[e].b].name, root)
	})
	if err != nil {
		return err
	}
	return im.countMissing()
}

// ownerVectors reads a file of vectors and finds the owner of each.
func (im *lightragImport) ownerVectors(file string, owner func(row *vectorRow) (int32, string, bool)) (*ownedVectors, error) {
	o := &ownedVectors{rows: make(map[int32]int32)}
	f, err := im.openVectors(file, func(n int32, row *vectorRow) error {
		i, key, ok := owner(row)
		if !ok {
			im.issues.add("vector without owner", file, key, "")
			return nil
		}
		o.rows[i] = n
		return nil
	})
	o.vectorFile = f
	return o, err
}

// ownedVectors is a file of vectors and the rows of its owners.
type ownedVectors struct {
	*vectorFile
	rows map[int32]int32
}

// usable says whether vectors of the file can be taken over.
func (f *vectorFile) usable() bool {
	return f.rows > 0 && f.dim == f.im.dim() && f.im.wantVectors()
}

func (im *lightragImport) rootVector(f *ownedVectors, owner int32, name string, root *graphstore.StaleRoot) (*graphstore.Refreshed, error) {
	row, ok := f.rows[owner]
	if !ok || !f.usable() {
		return nil, nil
	}
	v, err := f.vector(int(row))
	var fatal *stopError
	if errors.As(err, &fatal) {
		return nil, fatal.err
	}
	if err != nil {
		im.issues.add("vector unusable", f.name, name, err.Error())
		return nil, nil
	}
	r := &graphstore.Refreshed{Kind: root.Kind, Owner: root.Owner, TextHash: root.TextHash, Vector: v}
	if h := f.texts[row]; h != 0 && h != root.TextHash || h == 0 && im.mixed {
		r.TextHash, r.Outdated = h, true
		im.rep.VectorsStale++
		im.issues.add("vector of another text", f.name, name, "")
	}
	im.rep.Vectors++
	return r, nil
}

// countMissing counts the owners that have no vector at all.
func (im *lightragImport) countMissing() error {
	view, err := im.db.store.View()
	if err != nil {
		return err
	}
	defer view.Close()
	for id := range view.Entities() {
		if _, ok := view.Slot(format.KindEntity, uint32(id)); !ok {
			im.rep.VectorsMissing++
		}
	}
	for id := range view.Relations() {
		if _, ok := view.Slot(format.KindRelation, uint32(id)); !ok {
			im.rep.VectorsMissing++
		}
	}
	return nil
}

// offlineVectors says whether the store's vectors come from the offline
// embedder, whatever their dimension.
func (im *lightragImport) offlineVectors() bool {
	_, ok := im.db.opts.Embedder.(*offline.Embedder)
	return ok
}
