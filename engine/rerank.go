package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// RerankUse says what a query does with Options.Reranker.
type RerankUse uint8

const (
	// RerankAuto reranks where there is a Reranker. If it fails, passages stay in
	// the order in which they were found, and Result.Warnings says so.
	RerankAuto RerankUse = iota
	// RerankRequired fails the query where passages cannot be reranked.
	RerankRequired
	// RerankOff leaves passages in the order in which they were found.
	RerankOff
)

// rerank orders the passages that were found by what the Reranker says, and
// keeps the ChunkTopK best that reach MinRerankScore.
func (s *search) rerank(ctx context.Context, r *Result, chunks []ranked[format.ChunkID]) ([]ranked[format.ChunkID], error) {
	model := s.db.opts.Reranker
	if model == nil || s.q.Rerank == RerankOff || len(chunks) == 0 || s.q.ChunkTopK == 0 {
		return chunks, nil
	}
	start := time.Now()
	defer func() { r.Timings.Rerank = time.Since(start) }()
	ids := make([]format.ChunkID, len(chunks))
	for i := range chunks {
		ids[i] = chunks[i].id
	}
	rows, err := s.view.Chunks(ids, make([]graphstore.Chunk, 0, len(ids)))
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(rows))
	for i := range rows {
		if texts[i] = rows[i].Text; strings.TrimSpace(texts[i]) == "" {
			texts[i] = blankText
		}
	}
	order, err := model.Rerank(ctx, s.q.Text, texts, s.q.ChunkTopK)
	for _, o := range order { // a Reranker of the caller's own is not to be trusted
		if o.Index < 0 || o.Index >= len(chunks) {
			err = fmt.Errorf("%s ranked document %d of %d", model.Model(), o.Index, len(chunks))
		} else if o.Score-o.Score != 0 { // NaN or Inf, which JSON cannot say either
			err = fmt.Errorf("%s gave document %d the score %v", model.Model(), o.Index, o.Score)
		}
	}
	if err != nil {
		err = fmt.Errorf("lightrag: rerank %d passages: %w", len(chunks), err)
		if ctx.Err() != nil || s.q.Rerank == RerankRequired {
			return nil, err
		}
		s.db.opts.Logger.Warn("lightrag: passages were not reranked", "error", err)
		r.Warnings = append(r.Warnings, "passages are in the order in which they were found: "+err.Error())
		s.explainRerank(model.Model(), len(chunks), nil, err)
		return chunks, nil
	}
	s.explainRerank(model.Model(), len(chunks), order, nil)
	s.reranked = make(map[format.ChunkID]float64, len(order))
	out := make([]ranked[format.ChunkID], 0, len(order))
	for _, o := range order {
		c := chunks[o.Index]
		if _, twice := s.reranked[c.id]; twice || s.q.MinRerankScore > 0 && o.Score < s.q.MinRerankScore {
			continue
		}
		s.reranked[c.id] = o.Score
		out = append(out, c)
	}
	return out, nil
}
