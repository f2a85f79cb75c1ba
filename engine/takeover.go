package engine

import (
	"context"
	"strings"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// takeOver returns, by index, what is known of those chunks of doc that the
// graph holds already: in the text that doc is to replace, or in doc itself
// when only some of its chunks had failed. They are not extracted again,
// whatever has become of the cached answers and of the options that they were
// extracted with.
func takeOver(ctx context.Context, view *graphstore.View, id string, chunks []graphstore.Chunk) (map[int]chunkResult, error) {
	old, row, ok, err := view.FindDocument(id)
	if err != nil || !ok || row.Generation == 0 {
		return nil, err
	}
	stored, err := view.CommittedChunks(ctx, old)
	if err != nil {
		return nil, err
	}
	byText := make(map[string]*graphstore.CommittedChunk, len(stored))
	for i := range stored {
		if c := &stored[i]; c.Failure == "" {
			byText[c.Text] = c
		}
	}
	taken := make(map[int]chunkResult)
	for i := range chunks {
		if c := byText[chunks[i].Text]; c != nil {
			taken[i] = known(c)
		}
	}
	return taken, nil
}

// known is what the model said about a chunk when it was extracted.
func known(c *graphstore.CommittedChunk) chunkResult {
	res := chunkResult{keys: c.CacheKeys}
	m := &res.records
	m.Keywords, m.Malformed = c.Keywords, int(c.Malformed)
	for i := range c.Entities {
		f := &c.Entities[i]
		if f.Mention {
			res.mentions = append(res.mentions, *f)
			continue
		}
		m.Entities = append(m.Entities, llm.PassEntity{Pass: f.Key.Pass, EntityRecord: llm.EntityRecord{
			Name: strings.Clone(f.Name), Type: f.Type, Description: f.Description, Index: int(f.Key.Index),
		}})
	}
	for i := range c.Relations {
		f := &c.Relations[i]
		m.Relations = append(m.Relations, llm.PassRelation{Pass: f.Key.Pass, RelationRecord: llm.RelationRecord{
			Source: strings.Clone(f.Src), Target: strings.Clone(f.Tgt), Keywords: f.Keywords, Description: f.Description, Weight: f.Weight,
			Index: int(f.Key.Index),
		}})
	}
	return res
}

// unfinished says whether a document of that status waits for a run.
func unfinished(s format.DocumentStatus) bool {
	return s == format.StatusPending || s == format.StatusProcessing
}
