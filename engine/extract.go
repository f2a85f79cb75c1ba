package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// chunkResult is what the model said about one chunk.
type chunkResult struct {
	records llm.MergedExtraction
	// mentions are what a person's deletions left of a chunk that is taken over:
	// entities that it names without a word about them.
	mentions []graphstore.EntityFragment
	keys     []answerKey // cached answers it was made from
	usage    llm.Usage
	cached   int
	failed   error // the answer was unusable; the chunk's text is kept
}

// extract asks for the entities and relations of one chunk, and once more for
// what was missed (arXiv 2410.05779, section 3.1). An error means that the
// model could not be asked; an unusable answer is chunkResult.failed.
func (db *DB) extract(ctx context.Context, text string) (chunkResult, error) {
	var res chunkResult
	if strings.TrimSpace(text) == "" {
		return res, nil
	}
	req := db.opts.extractRequest(text)
	first, err := db.complete(ctx, req, usableAnswer)
	res.add(first)
	if err != nil {
		if unusable(err) {
			res.failed = err
			return res, nil
		}
		return res, err
	}
	parsed := llm.ParseExtraction(first.text)
	if err := unusableAnswer(first, &parsed); err != nil {
		res.failed = err
	}

	var gleaned llm.Extraction
	if db.opts.Gleaning > 0 && !db.offline {
		req := db.opts.gleanRequest(text, first.text)
		if fits(db.tok, req.Messages, db.opts.MaxExtractTokens) {
			glean, err := db.complete(ctx, req, always)
			res.add(glean)
			switch {
			case err == nil:
				gleaned = llm.ParseExtraction(glean.text)
			case !unusable(err):
				return res, err
			}
			if len(gleaned.Entities)+len(gleaned.Relations) > 0 {
				res.failed = nil
			}
		}
	}
	res.records = llm.MergeGleaning(parsed, gleaned)
	return res, nil
}

// extractRequest asks for the entities and relations of a text.
func (o *Options) extractRequest(text string) llm.Request {
	x := o.extraction()
	return llm.Request{
		Task:     llm.TaskExtract,
		Messages: o.Prompts.Extract(text, x),
		JSON:     x.JSON,
		Input:    llm.Input{Text: text, Language: x.Language},
	}
}

// gleanRequest asks for what the first answer missed.
func (o *Options) gleanRequest(text, first string) llm.Request {
	req := o.extractRequest(text)
	req.Task = llm.TaskGlean
	req.Messages = o.Prompts.Glean(text, o.extraction(), first)
	return req
}

func (r *chunkResult) add(a reply) {
	r.usage = r.usage.Add(a.usage)
	if a.cached {
		r.cached++
	}
	if a.text != "" && !a.truncated {
		r.keys = append(r.keys, a.key)
	}
}

// unusable reports whether err is about one answer, not about the model as a
// whole: asking for the next chunk may well succeed.
func unusable(err error) bool {
	for _, cause := range [...]error{llm.ErrBadResponse, llm.ErrContextLength, llm.ErrRefused, llm.ErrTruncated} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

var (
	errNoRecords = errors.New("the answer holds no records and does not say that there are none")
	errCutShort  = errors.New("the answer was cut short before its first record")
)

func unusableAnswer(a reply, x *llm.Extraction) error {
	if len(x.Entities)+len(x.Relations) > 0 || x.Complete {
		return nil
	}
	if a.truncated {
		return errCutShort
	}
	if x.Format == "json" {
		return nil
	}
	return errNoRecords
}

func usableAnswer(text string) bool {
	x := llm.ParseExtraction(text)
	return unusableAnswer(reply{text: text}, &x) == nil
}

// fits reports whether the messages hold at most limit tokens; 0 = any number.
func fits(tok llm.Tokenizer, messages []llm.Message, limit int) bool {
	if limit == 0 {
		return true
	}
	size := 0
	for i := range messages {
		size += len(messages[i].Content)
	}
	if size <= limit { // a token is at least one byte
		return true
	}
	n := 0
	for i := range messages {
		n += tok.Count(messages[i].Content)
	}
	return n <= limit
}

// contribution puts the records of all chunks of a document into the canonical
// order of their chunks, whatever order the answers came in.
func contribution(doc format.DocID, chunks []graphstore.Chunk, results []chunkResult) graphstore.Contribution {
	c := graphstore.Contribution{Doc: doc}
	for i := range chunks {
		chunk, res := &chunks[i], &results[i]
		c.Chunks = append(c.Chunks, graphstore.ChunkContribution{
			ID: chunk.ID, Order: chunk.Order, Keywords: res.records.Keywords, CacheKeys: res.keys,
			Malformed: uint32(res.records.Malformed), Failure: res.failure(),
		})
		c.Malformed += uint32(res.records.Malformed)
		if res.failed != nil {
			c.Failed++
		}
		c.Usage.Calls += uint64(res.usage.Calls)
		c.Usage.PromptTokens += uint64(res.usage.PromptTokens)
		c.Usage.CachedTokens += uint64(res.usage.CachedTokens)
		c.Usage.CompletionTokens += uint64(res.usage.CompletionTokens)
		key := format.FragmentKey{Doc: doc, Order: chunk.Order}
		for j := range res.records.Entities {
			e := &res.records.Entities[j]
			key.Pass, key.Index = e.Pass, uint16(e.Index)
			c.Entities = append(c.Entities, graphstore.EntityFragment{
				Name: e.Name, Chunk: chunk.ID, Key: key, Type: e.Type, Description: e.Description,
			})
		}
		for j := range res.mentions {
			m := &res.mentions[j]
			key.Pass, key.Index = m.Key.Pass, m.Key.Index
			c.Entities = append(c.Entities, graphstore.EntityFragment{Mention: true, Name: m.Name, Chunk: chunk.ID, Key: key})
		}
		for j := range res.records.Relations {
			r := &res.records.Relations[j]
			key.Pass, key.Index = r.Pass, uint16(r.Index)
			c.Relations = append(c.Relations, graphstore.RelationFragment{
				Src: r.Source, Tgt: r.Target, Chunk: chunk.ID, Key: key,
				Description: r.Description, Keywords: r.Keywords, Weight: r.Weight,
			})
		}
	}
	return c
}
