package engine

import (
	"context"

	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// commit embeds what a document brings and commits it as one change. Roots
// that existed before and whose text changes are embedded now when changed is
// true; otherwise they become stale and are refreshed later, once for many
// documents.
func (db *DB) commit(ctx context.Context, c graphstore.Contribution, chunks []graphstore.Chunk, changed bool) (graphstore.CommitInfo, error) {
	if err := db.index.waitLinked(ctx); err != nil {
		return graphstore.CommitInfo{}, err
	}
	p, err := db.store.Prepare(ctx, c)
	if err != nil {
		return graphstore.CommitInfo{}, err
	}

	var texts []string
	var roots []*graphstore.Root
	for _, r := range p.Roots() {
		if r.New || changed {
			roots = append(roots, r)
			texts = append(texts, r.Text)
		}
	}
	for i := range chunks {
		texts = append(texts, chunks[i].Text)
	}
	vecs, err := db.embed(ctx, texts, llm.PurposeDocument)
	if err != nil {
		return graphstore.CommitInfo{}, err
	}
	for i, r := range roots {
		r.Vector = vecs[i]
	}
	for i := range chunks {
		p.SetChunkVector(chunks[i].ID, vecs[len(roots)+i])
	}
	info, err := db.store.Commit(ctx, p)
	if err == nil {
		db.index.wake()
	}
	return info, err
}
