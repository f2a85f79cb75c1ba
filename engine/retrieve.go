package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// Retrieve finds what the store knows about a question: entities, relations,
// passages and the context text made of them. Unless keywords are given and
// the mode needs them, the model is asked for keywords, once, cached. It takes
// no lock and allocates nothing in proportion to the store.
//
// A blank question is ErrInvalid. When nothing is found the error is nil and
// Result.Found is false.
func (db *DB) Retrieve(ctx context.Context, q Query) (*Result, error) {
	if db.closed.Load() {
		return nil, fmt.Errorf("lightrag: retrieve: %w", ErrClosed)
	}
	start := time.Now()
	r, err := db.retrieve(ctx, &q)
	r.Timings.Total = time.Since(start)
	db.recordQuery(&q, r.Usage)
	if err != nil {
		return nil, fmt.Errorf("lightrag: retrieve: %w", within(err))
	}
	return r, nil
}

// retrieve fills a Result up to its context. It normalises q in place. With an
// error, the Result says what was spent.
func (db *DB) retrieve(ctx context.Context, q *Query) (*Result, error) {
	r := new(Result)
	if err := q.normalise(); err != nil {
		return r, err
	}
	if q.Rerank == RerankRequired && db.opts.Reranker == nil {
		return r, fmt.Errorf("%w: reranking is required and there is no Options.Reranker", ErrInvalid)
	}
	r.Query, r.Mode, r.Models = q.Text, q.Mode, db.Models()
	if q.Explain {
		r.Explain = &Explain{Keywords: KeywordsNone}
	}
	if q.Mode == Bypass {
		return r, nil
	}
	start := time.Now()
	if err := db.keywords(ctx, q, r); err != nil {
		return r, err
	}
	start = lap(start, &r.Timings.Keywords)
	if err := db.vectors(ctx, q, r); err != nil {
		return r, err
	}
	lap(start, &r.Timings.Embed)
	return r, db.gather(ctx, q, r)
}

// gather fills a Result whose keywords and vectors are there.
func (db *DB) gather(ctx context.Context, q *Query, r *Result) error {
	if r.want.nothing() { // no keywords for this mode
		return nil
	}
	fitted := *q
	if err := db.fit(&fitted); err != nil {
		return err
	}
	start := time.Now()
	s, err := db.newSearch(&fitted, r)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.match(); err != nil {
		return err
	}
	start = lap(start, &r.Timings.Search)
	s.expand()
	start = lap(start, &r.Timings.Expand)
	if err := s.explainSearch(r); err != nil {
		return err
	}
	err = s.compose(ctx, r)
	lap(start, &r.Timings.Context)
	return err
}

func lap(start time.Time, d *time.Duration) time.Time {
	now := time.Now()
	*d = now.Sub(start)
	return now
}

// normalise checks a query and fills its defaults.
func (q *Query) normalise() error {
	q.Text = strings.TrimSpace(q.Text)
	text, _ := llm.SanitizeText(q.Text)
	q.Text = norm.NFC.String(text) // as names are
	if q.Text == "" {
		return fmt.Errorf("%w: blank query", ErrInvalid)
	}
	var err error
	if q.Mode, err = ParseMode(string(q.Mode)); err != nil {
		return err
	}
	if err := q.Keywords.validate(); err != nil {
		return err
	}
	if q.Match > MatchLexical {
		return fmt.Errorf("%w: %s is not one of MatchFused, MatchVectors, MatchLexical", ErrInvalid, q.Match)
	}
	def := func(p *int, zero int) {
		if *p == 0 {
			*p = zero
		}
		*p = max(*p, 0)
	}
	def(&q.TopK, 40)
	def(&q.ChunkTopK, 20)
	def(&q.MaxEntityTokens, 6000)
	def(&q.MaxRelationTokens, 8000)
	def(&q.MaxTotalTokens, 30000)
	switch {
	case q.CosineThreshold != q.CosineThreshold || q.CosineThreshold > 1:
		return fmt.Errorf("%w: cosine threshold %v is not at most 1", ErrInvalid, q.CosineThreshold)
	case q.CosineThreshold == 0:
		q.CosineThreshold = 0.2
	case q.CosineThreshold < 0:
		q.CosineThreshold = -2
	}
	if err := q.Walk.normalise(); err != nil {
		return err
	}
	if q.ResponseType == "" {
		q.ResponseType = "Multiple Paragraphs"
	}
	return nil
}

// search is one retrieval on one view.
type search struct {
	db     *DB
	q      *Query
	view   *graphstore.View
	filter *filter // nil = everything

	want  *wanted
	low   []string // low-level keywords
	words *wordMatch

	near struct { // what matched, the best first
		entities, relations, chunks []hit
	}
	entities  []ranked[format.EntityID]
	relations []ranked[format.RelationID]
	walked    walked

	reranked map[format.ChunkID]float64 // nil = not reranked

	// For Result.Explain only.
	matches    [indexKinds]*matchNote
	origins    map[format.ChunkID]string
	listed     [3]int // passages by origin
	rerankNote *RerankExplained
}

// ranked is a candidate in its final order; score is the cosine of its vector, 0
// when it did not match itself.
type ranked[ID comparable] struct {
	id    ID
	score float32
}

// vectors notes what the mode matches and embeds it in one call. Where words can
// stand in, an embedder that fails is a warning.
func (db *DB) vectors(ctx context.Context, q *Query, r *Result) error {
	a := &r.want
	if q.Mode != Global && q.Mode != Naive {
		a.low = strings.Join(r.LowLevel, ", ")
	}
	if q.Mode != Local && q.Mode != Naive {
		a.high = strings.Join(r.HighLevel, ", ")
	}
	a.passages = q.Mode == Naive || q.Mode == Mix || q.Mode == Walk
	if q.Mode == Walk {
		a.low, a.high = cmp.Or(a.low, q.Text), cmp.Or(a.high, q.Text)
	}
	if a.nothing() || q.Match == MatchLexical {
		return nil
	}
	texts := []string{q.Text}
	if a.low != "" && a.low != q.Text {
		texts = append(texts, a.low)
	}
	if a.high != "" && a.high != q.Text {
		texts = append(texts, a.high)
	}
	vecs, err := db.embed(ctx, texts, llm.PurposeQuery)
	if err != nil {
		if q.Match == MatchVectors || ctx.Err() != nil {
			return err
		}
		db.opts.Logger.Warn("lightrag: a question is matched by words alone", "error", err)
		a.warning = "matched by words alone, without vectors: " + err.Error()
		r.Warnings = append(r.Warnings, a.warning)
		return nil
	}
	for i, v := range vecs {
		vecs[i] = unit(v)
	}
	a.vectors.query = vecs[0]
	vecs = vecs[1:]
	take := func(text string) (v []float32) {
		switch text {
		case "":
		case q.Text:
			v = a.vectors.query
		default:
			v, vecs = vecs[0], vecs[1:]
		}
		return v
	}
	a.vectors.low, a.vectors.high = take(a.low), take(a.high)
	return nil
}

// newSearch pins a view.
func (db *DB) newSearch(q *Query, r *Result) (*search, error) {
	s := &search{db: db, q: q, want: &r.want, low: r.LowLevel, words: wordMatches.Get().(*wordMatch)}
	var err error
	if s.view, err = db.store.View(); err != nil {
		return nil, err
	}
	if s.filter, err = db.newFilter(s.view, q); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *search) close() {
	s.words.release()
	s.view.Close()
}
