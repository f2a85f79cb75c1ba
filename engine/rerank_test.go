package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

// byLength ranks the shortest text first; it notes what it was asked.
type byLength struct {
	mu    sync.Mutex
	query string
	texts []string
	topN  int
	calls int
	fail  error
	bad   bool // ranks a document that there is not
	nan   bool // gives a score that is no number
}

func (b *byLength) Model() string { return "by length" }

func (b *byLength) Rerank(ctx context.Context, query string, documents []string, topN int) ([]llm.Reranked, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.query, b.texts, b.topN, b.calls = query, slices.Clone(documents), topN, b.calls+1
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if b.fail != nil {
		return nil, b.fail
	}
	if b.bad {
		return []llm.Reranked{{Index: len(documents), Score: 1}}, nil
	}
	if b.nan {
		return []llm.Reranked{{Index: 0, Score: math.NaN()}}, nil
	}
	out := make([]llm.Reranked, len(documents))
	for i := range documents {
		out[i] = llm.Reranked{Index: i, Score: 1 / float64(len(documents[i]))}
	}
	slices.SortStableFunc(out, func(x, y llm.Reranked) int { return len(documents[x.Index]) - len(documents[y.Index]) })
	return out[:min(topN, len(out))], nil
}

// passagesOf makes a store of passages of growing length, all about mars.
func passagesOf(t *testing.T, n int, edit func(*Options)) (*DB, *fakeModel) {
	m := &fakeModel{}
	o := testOptions(m)
	if edit != nil {
		edit(&o)
	}
	db := opened(t, "store", o)
	d := Document{ID: "d", Path: "d.md"}
	for i := range n {
		// The longer, the nearer to the question.
		d.Chunks = append(d.Chunks, Chunk{Order: i, Content: "about " + strings.Repeat("mars ", i+1)})
	}
	d.Chunks = append(d.Chunks, Chunk{Order: n, Content: "@e|Mars|planet|Mars is red.\n" + strings.Repeat("padding that is long ", 20)})
	inserted(t, db, d)
	return db, m
}

func orders(r *Result) (out []int) {
	for _, c := range r.Chunks {
		out = append(out, c.Order)
	}
	return out
}

func TestRerankOrdersWhatAllStagesFound(t *testing.T) {
	b := &byLength{}
	db, _ := passagesOf(t, 6, func(o *Options) { o.Reranker = b })
	for _, mode := range []Mode{Naive, Local, Mix} {
		q := Query{Text: " mars ", Mode: mode, LowLevel: []string{"mars"}, HighLevel: []string{"mars"}, ChunkTopK: 3, CosineThreshold: -1}
		q.Rerank = RerankOff
		plain := retrieved(t, db, q)
		if b.calls != 0 {
			t.Fatalf("%s: reranked although that is off", mode)
		}
		q.Rerank = RerankAuto
		r := retrieved(t, db, q)
		if b.calls != 1 || b.query != "mars" || b.topN != 3 || len(b.texts) != r.ChunksFound {
			t.Errorf("%s: asked %q, %d texts, top %d", mode, b.query, len(b.texts), b.topN)
		}
		want := make([]string, len(r.Chunks))
		for i, c := range r.Chunks {
			want[i] = c.Content
			if c.RerankScore != 1/float64(len(c.Content)) {
				t.Errorf("%s: score %v of %q", mode, c.RerankScore, c.Content)
			}
		}
		if !slices.IsSortedFunc(want, func(a, b string) int { return len(a) - len(b) }) || len(want) > 3 {
			t.Errorf("%s: %q", mode, want)
		}
		if mode == Naive && slices.Equal(orders(plain), orders(r)) {
			t.Errorf("%s: the order is that without reranking", mode)
		}
		if !strings.Contains(r.Context, r.Chunks[0].Content[:10]) || r.Timings.Rerank <= 0 || r.Timings.Rerank > r.Timings.Context {
			t.Errorf("%s: %+v", mode, r.Timings)
		}
		// The budget cuts the reranked order.
		q.MaxChunkTokens = 30
		if cut := retrieved(t, db, q); mode != Local && len(cut.Chunks) == 0 || len(cut.Chunks) > 0 && cut.Chunks[0].ID != r.Chunks[0].ID || len(cut.Chunks) > len(r.Chunks) {
			t.Errorf("%s: under a budget %v", mode, orders(cut))
		}
		b.calls = 0
	}
}

func TestMinRerankScoreDropsPassages(t *testing.T) {
	b := &byLength{}
	db, _ := passagesOf(t, 6, func(o *Options) { o.Reranker = b })
	q := Query{Text: "mars", Mode: Naive, CosineThreshold: -1, MinRerankScore: 1.0 / 20}
	if r := retrieved(t, db, q); !slices.Equal(orders(r), []int{0, 1}) { // of 11 and 16 bytes; the next has 21
		t.Errorf("%v", orders(r))
	}
	q.MinRerankScore = 2
	if r := retrieved(t, db, q); r.Found || len(r.Chunks) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestAFailingRerankerCostsTheOrderOnly(t *testing.T) {
	l := &logged{}
	b := &byLength{}
	db, m := passagesOf(t, 4, func(o *Options) { o.Reranker, o.Logger = b, slogOf(l) })
	q := Query{Text: "mars", Mode: Naive, Rerank: RerankOff}
	plain := orders(retrieved(t, db, q))
	for name, fail := range map[string]func(){
		"error":              func() { b.fail = fmt.Errorf("%w: down", llm.ErrUnavailable) },
		"index out of range": func() { b.fail, b.bad, b.nan = nil, true, false },
		"no number":          func() { b.fail, b.bad, b.nan = nil, false, true },
	} {
		fail()
		q.Rerank = RerankAuto
		r := asked(t, db, q)
		if !slices.Equal(orders(r), plain) || r.Answer == "" || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "rerank") {
			t.Errorf("%s: %v, %q", name, orders(r), r.Warnings)
		}
		before := m.count(llm.TaskAnswer)
		q.Rerank = RerankRequired
		if _, err := db.Query(t.Context(), q); err == nil || b.fail != nil && !errors.Is(err, llm.ErrUnavailable) || m.count(llm.TaskAnswer) != before {
			t.Errorf("%s: required: %v", name, err)
		}
	}
	if !strings.Contains(l.String(), "not reranked") {
		t.Errorf("logged %q", l.String())
	}
	// A caller who is gone wants no fall-back.
	b.fail, b.bad, b.nan = nil, false, false
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("gone")
	db.opts.Reranker = cancelling{b, func() { cancel(why) }}
	q.Rerank = RerankAuto
	if _, err := db.Retrieve(ctx, q); !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
	db.opts.Reranker = nil
	q.Rerank = RerankRequired
	if _, err := db.Retrieve(t.Context(), q); !errors.Is(err, ErrInvalid) {
		t.Errorf("required without a Reranker: %v", err)
	}
}

type cancelling struct {
	llm.Reranker
	cancel func()
}

func (c cancelling) Rerank(ctx context.Context, q string, d []string, n int) ([]llm.Reranked, error) {
	c.cancel()
	return c.Reranker.Rerank(ctx, q, d, n)
}
