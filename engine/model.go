package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/llm"
)

// answerKey identifies a cached answer.
type answerKey = [sha256.Size]byte

// requestKey hashes everything that could change the answer: prompt version,
// task, model, output form and every message. Each part is preceded by its
// length, so that no two requests share their bytes.
func requestKey(model string, req *llm.Request) answerKey {
	h := sha256.New()
	writePart(h, llm.PromptVersion)
	writePart(h, req.Task.String())
	writePart(h, model)
	form := "text"
	if req.JSON {
		form = "json"
	}
	if req.MaxTokens > 0 {
		form += fmt.Sprintf(" of %d tokens", req.MaxTokens)
	}
	writePart(h, form)
	for i := range req.Messages {
		writePart(h, req.Messages[i].Role)
		writePart(h, req.Messages[i].Content)
	}
	return answerKey(h.Sum(nil))
}

func writePart(h hash.Hash, s string) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
	h.Write(n[:])
	h.Write([]byte(s))
}

// reply is an answer and where it came from.
type reply struct {
	text      string
	key       answerKey
	usage     llm.Usage
	cached    bool
	truncated bool
}

// cached says which answers to a request are worth keeping; nil neither reads
// nor writes the cache. What cannot be used is not kept, so that asking again
// asks the model again.
type cached func(text string) bool

func always(string) bool { return true }

// complete answers req from the cache or from the model; calls for documents
// hold one of the Concurrency slots. A finished answer is durable before it is returned;
// a truncated one is never cached.
func (db *DB) complete(ctx context.Context, req llm.Request, worth cached) (reply, error) {
	r := reply{key: requestKey(db.opts.Completer.Model(), &req)}
	if db.offline { // as fast as a cache, and deterministic
		worth = nil
	}
	if worth != nil {
		a, ok, err := db.store.Answer(r.key)
		if err != nil {
			return r, err
		}
		if ok {
			r.text, r.cached = a.Text, true
			if req.Stream != nil {
				err = req.Stream(a.Text)
			}
			return r, err
		}
	}
	question := req.Task > llm.TaskSummary
	if !question { // a question never waits for a document
		select {
		case db.calls <- struct{}{}:
			defer func() { <-db.calls }()
		case <-ctx.Done():
			return r, context.Cause(ctx)
		}
	}
	res, err := db.opts.Completer.Complete(ctx, req)
	db.ledger.add(req.Task, db.opts.Completer.Model(), res.Usage)
	r.text, r.usage, r.truncated = res.Text, res.Usage, res.Truncated
	if err != nil {
		return r, fmt.Errorf("lightrag: %s call: %w", req.Task, within(err))
	}
	if worth == nil || res.Truncated || db.opts.ReadOnly || !worth(res.Text) {
		return r, nil
	}
	err = db.store.PutAnswer(r.key, format.Answer{
		Text:             res.Text,
		PromptTokens:     uint32(res.Usage.PromptTokens),
		CachedTokens:     uint32(res.Usage.CachedTokens),
		CompletionTokens: uint32(res.Usage.CompletionTokens),
		Task:             uint8(req.Task),
		Created:          db.opts.now().Unix(),
	})
	if err != nil && question { // a store that cannot be written can still be questioned
		db.opts.Logger.Warn("lightrag: an answer was not cached", "task", req.Task.String(), "error", err)
		err = nil
	}
	return r, err
}

// embedTexts is how many texts an embedder is handed at a time; what it sends
// at a time is its own business.
const embedTexts = 1024

// blankText is embedded for a text of white space, which models refuse.
const blankText = "blank"

// embed turns texts into vectors, cut to what the model takes. It returns
// exactly one finite vector of the store's dimension per text, or an error.
func (db *DB) embed(ctx context.Context, texts []string, purpose llm.Purpose) ([][]float32, error) {
	return db.embedWith(ctx, db.opts.Embedder, int(db.store.Identity().Dim), texts, purpose)
}

// embedWith is embed with an embedder of dimension dim.
func (db *DB) embedWith(ctx context.Context, e llm.Embedder, dim int, texts []string, purpose llm.Purpose) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	texts = slices.Clone(texts)
	for i, t := range texts {
		if strings.TrimSpace(t) == "" {
			texts[i] = blankText
		}
	}
	if limit := e.Info().MaxTokens; limit > 0 {
		for i, t := range texts {
			if len(t) > limit { // a token is at least one byte
				texts[i] = db.tok.Cut(t, limit)
			}
		}
	}
	vecs := make([][]float32, 0, len(texts))
	for batch := range slices.Chunk(texts, embedTexts) {
		v, err := e.Embed(ctx, batch, purpose)
		if err != nil {
			return nil, fmt.Errorf("lightrag: embed %d texts: %w", len(texts), err)
		}
		if len(v) != len(batch) {
			return nil, fmt.Errorf("lightrag: embed: %w: the embedder returned %d vectors for %d texts", llm.ErrBadResponse, len(v), len(batch))
		}
		vecs = append(vecs, v...)
	}
	for i, v := range vecs {
		if err := checkVector(v, dim); err != nil {
			return nil, fmt.Errorf("lightrag: embed text %d of %d: %w", i+1, len(texts), err)
		}
	}
	return vecs, nil
}

func checkVector(v []float32, dim int) error {
	if len(v) != dim {
		return &MismatchError{Field: "embedding dimension", Have: fmt.Sprint(dim), Want: fmt.Sprint(len(v))}
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	switch {
	case sum-sum != 0: // NaN or Inf
		return fmt.Errorf("%w: the vector holds NaN or Inf", ErrInvalid)
	case sum < 1e-30:
		return fmt.Errorf("%w: the vector is zero", ErrInvalid)
	}
	return nil
}
