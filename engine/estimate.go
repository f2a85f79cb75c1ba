package engine

import (
	"context"
	"fmt"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// Estimate is what indexing one document would ask of a language model. The
// prompts are counted, in tokens of the store's tokenizer; answers that are not
// known are guessed: the first one about a chunk to be as long as the chunk, a
// gleaning one a quarter of that. Summaries depend on what is found and are
// not part of it.
type Estimate struct {
	ID, Path string
	// Status is StatusPending for a document that would be indexed, else what
	// Insert would report, and nothing is asked.
	Status           DocumentStatus
	Original         string // StatusDuplicate: the id that holds this text
	Chunks           int
	Tokens           int // of the chunks
	KnownChunks      int // taken over from the text that is replaced, or from an earlier attempt
	Calls            int // that would be made
	CachedCalls      int // that the cache would answer
	PromptTokens     int
	CompletionTokens int
}

// Estimator finds out what Insert would cost without storing anything and
// without asking a model. It remembers what it has seen, as Insert does. One
// goroutine may use it.
type Estimator struct {
	opts  Options
	tok   llm.Tokenizer
	db    *DB // nil: nothing is stored yet
	ids   map[string]struct{}
	texts map[[32]byte]string
	asked map[answerKey]struct{}
}

// NewEstimator estimates for a DB with these options. db is the open store, at
// best read-only; nil stands for a store that does not exist yet. Of its own
// options only the tokenizer counts.
func NewEstimator(o Options, db *DB) (*Estimator, error) {
	name := o.Tokenizer
	if name == "" {
		name = defaultTokenizer
		if db != nil {
			name = db.Identity().Tokenizer
		}
	}
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("lightrag: estimate: %w", within(err))
	}
	tok, err := llm.NewTokenizer(name)
	if err != nil {
		return nil, fmt.Errorf("lightrag: estimate: %w", within(err))
	}
	return &Estimator{
		opts: o, tok: tok, db: db,
		ids: make(map[string]struct{}), texts: make(map[[32]byte]string), asked: make(map[answerKey]struct{}),
	}, nil
}

// Tokenizer returns the name of what counts.
func (e *Estimator) Tokenizer() string { return e.tok.Name() }

// Document estimates one document. The error is what Insert would refuse it
// for, or that the store could not be read.
func (e *Estimator) Document(ctx context.Context, d *Document) (Estimate, error) {
	n, err := nameDocument(d)
	if err != nil {
		return Estimate{ID: n.ID, Path: n.Path}, fmt.Errorf("lightrag: estimate: %w", within(err))
	}
	if _, twice := e.ids[n.ID]; twice {
		return Estimate{ID: n.ID, Path: n.Path}, fmt.Errorf("lightrag: estimate: %w: two documents have the id %q", ErrInvalid, n.ID)
	}
	e.ids[n.ID] = struct{}{}
	cutDocument(e.tok, &e.opts, d, &n)
	out := Estimate{ID: n.ID, Path: n.Path, Chunks: len(n.Chunks)}
	for i := range n.Chunks {
		out.Tokens += int(n.Chunks[i].Tokens)
	}
	if err := e.count(ctx, &n, &out); err != nil {
		return out, fmt.Errorf("lightrag: estimate document %q: %w", n.ID, within(err))
	}
	return out, nil
}

func (e *Estimator) count(ctx context.Context, n *graphstore.NewDocument, out *Estimate) error {
	known, err := e.status(ctx, n, out)
	if err != nil || out.Status != StatusPending {
		return err
	}
	for i := range n.Chunks {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		c := &n.Chunks[i]
		if _, ok := known[i]; ok {
			out.KnownChunks++
			continue
		}
		if blank(c.Text) {
			continue
		}
		if err := e.chunk(c.Text, int(c.Tokens), out); err != nil {
			return err
		}
	}
	return nil
}

// status settles what Insert would make of a document, and which chunks it
// would take over.
func (e *Estimator) status(ctx context.Context, n *graphstore.NewDocument, out *Estimate) (map[int]chunkResult, error) {
	out.Status = StatusPending
	original, held := e.texts[n.Hash]
	if !held {
		e.texts[n.Hash] = n.ID
	}
	if e.db == nil {
		if held {
			out.Status, out.Original = StatusDuplicate, original
		}
		return nil, nil
	}
	view, err := e.db.store.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	_, row, stored, err := view.FindDocument(n.ID)
	if err != nil {
		return nil, err
	}
	if !stored {
		if !held {
			if original, held, err = e.db.store.TextHolder(n.Hash); err != nil {
				return nil, err
			}
		}
		if held {
			out.Status, out.Original = StatusDuplicate, original
		}
		return nil, nil
	}
	switch {
	case row.Hash == n.Hash && row.Status == format.StatusProcessed:
		out.Status = StatusUnchanged
		return nil, nil
	case row.Hash != n.Hash && !n.Replace:
		if holder, ok, err := e.db.store.TextHolder(n.Hash); err != nil || !ok || holder != n.ID { // else it waits to replace the other
			out.Status = StatusConflict
			return nil, err
		}
	}
	chunks := make([]graphstore.Chunk, len(n.Chunks))
	for i := range n.Chunks {
		chunks[i].Text = n.Chunks[i].Text
	}
	return takeOver(ctx, view, n.ID, chunks)
}

// chunk adds the calls about one chunk of n tokens.
func (e *Estimator) chunk(text string, n int, out *Estimate) error {
	first, ok, err := e.ask(e.opts.extractRequest(text), n, out)
	if err != nil || e.opts.Gleaning == 0 {
		return err
	}
	extra := 0
	if !ok { // the gleaning prompt repeats an answer that is not known yet
		extra = n
	}
	req := e.opts.gleanRequest(text, first)
	if limit := e.opts.MaxExtractTokens; limit > 0 && !fits(e.tok, req.Messages, max(limit-extra, 1)) {
		return nil
	}
	if !ok {
		if _, again := e.asked[requestKey(e.opts.Completer.Model(), &req)]; !again {
			out.PromptTokens += extra
		}
	}
	_, _, err = e.ask(req, n/4, out)
	return err
}

// ask adds one call, unless its answer is known; that is returned if it is
// stored.
func (e *Estimator) ask(req llm.Request, answer int, out *Estimate) (text string, stored bool, err error) {
	key := requestKey(e.opts.Completer.Model(), &req)
	if e.db != nil {
		a, ok, err := e.db.store.Answer(key)
		if err != nil {
			return "", false, err
		}
		if ok {
			out.CachedCalls++
			return a.Text, true, nil
		}
	}
	if _, twice := e.asked[key]; twice {
		out.CachedCalls++
		return "", false, nil
	}
	e.asked[key] = struct{}{}
	out.Calls++
	for i := range req.Messages {
		out.PromptTokens += e.tok.Count(req.Messages[i].Content)
	}
	out.CompletionTokens += answer
	return "", false, nil
}
