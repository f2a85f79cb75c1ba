package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// promptReserve is left free for what the token counts cannot see.
const promptReserve = 200

// compose cuts the candidates to their budgets, picks passages and writes the
// context.
func (s *search) compose(ctx context.Context, r *Result) error {
	r.EntitiesFound, r.RelationsFound = len(s.entities), len(s.relations)
	var entityCost, relationCost int
	var err error
	s.explainEntities(r)
	s.explainRelations(r)
	if r.Entities, entityCost, err = s.cutEntities(); err != nil {
		return err
	}
	if r.Relations, relationCost, err = s.cutRelations(); err != nil {
		return err
	}
	if s.q.Explain {
		m := s.db.cost
		r.Explain.Entities.kept(len(r.Entities), m.cost(entityCost, len(r.Entities)), len(r.Entities) > 0 && len(s.entities) == 0)
		r.Explain.Relations.kept(len(r.Relations), m.cost(relationCost, len(r.Relations)), len(r.Relations) > 0 && len(s.relations) == 0)
	}
	found, err := s.passages()
	if err != nil {
		return err
	}
	r.ChunksFound = len(found)
	chunks, err := s.rerank(ctx, r, found)
	if err != nil {
		return err
	}
	chunks = chunks[:min(len(chunks), s.q.ChunkTopK)]

	budget := s.q.MaxChunkTokens
	if budget == 0 || s.q.window > 0 {
		m := s.db.cost
		left := s.chunkBudget(chunks, m.cost(entityCost, len(r.Entities))+m.cost(relationCost, len(r.Relations)))
		if budget == 0 || left < budget {
			budget = left
		}
	}
	if r.Chunks, err = s.cutChunks(chunks, budget); err != nil {
		return err
	}
	if err := s.filter.failed(); err != nil {
		return err
	}
	if err := s.explainChunks(r, found, chunks, budget); err != nil {
		return err
	}
	if s.q.Explain {
		r.Explain.Rerank = s.rerankNote
	}
	r.References = refer(r.Chunks)
	r.Found = len(r.Entities)+len(r.Relations)+len(r.Chunks) > 0
	if r.Found {
		r.Context = contextText(r)
	}
	return nil
}

// chunkBudget is what prompt, question and knowledge leave of the total. The
// tokenizer runs only when their bytes, which are at least as many as their
// tokens, do not leave enough for all chunks.
func (s *search) chunkBudget(chunks []ranked[format.ChunkID], knowledge int) int {
	left := s.q.MaxTotalTokens - promptReserve - knowledge
	need := 0
	for _, c := range chunks {
		need += s.view.LineTokens(format.KindChunk, uint32(c.id)) + 1
	}
	frame := s.db.promptFrame(s.q.answerOptions())
	if room := left - frame.bytes - len(s.q.Text); room > need {
		return room
	}
	return left - frame.tokens() - s.db.tok.Count(s.q.Text)
}

// promptFrame is what prompt and context cost without question and content.
type promptFrame struct {
	options llm.AnswerOptions
	bytes   int
	tokens  func() int // counted when it is first asked for
}

// promptFrame returns the frame of a prompt. Nearly all queries have the same
// one, so the last is kept.
func (db *DB) promptFrame(o llm.AnswerOptions) *promptFrame {
	if last := db.prompt.Load(); last != nil && last.options == o {
		return last
	}
	system := db.opts.Prompts.Answer("", o)
	f := &promptFrame{o, len(system) + len(contextFrame), sync.OnceValue(func() int {
		return db.tok.Count(system) + db.tok.Count(contextFrame)
	})}
	db.prompt.Store(f)
	return f
}

func (q *Query) answerOptions() llm.AnswerOptions {
	return llm.AnswerOptions{ResponseType: q.ResponseType, UserPrompt: q.UserPrompt, NoReferences: q.NoReferences}
}

// cutChunks keeps the passages that fit budget, whole ones only, and fetches
// their texts.
func (s *search) cutChunks(chunks []ranked[format.ChunkID], budget int) ([]ChunkHit, error) {
	m := s.db.cost
	fit, sum := m.prefix(len(chunks), budget, func(i int) int {
		return s.view.LineTokens(format.KindChunk, uint32(chunks[i].id))
	})
	if fit == 1 && m.cost(sum, 1) >= budget {
		fit = 0
	}
	ids := make([]format.ChunkID, fit)
	for i := range ids {
		ids[i] = chunks[i].id
	}
	rows, err := s.view.Chunks(ids, make([]graphstore.Chunk, 0, fit))
	if err != nil {
		return nil, err
	}
	hits := make([]ChunkHit, fit)
	for i := range hits {
		c := &rows[i]
		hits[i] = ChunkHit{
			ID: c.DocID + "#" + strconv.Itoa(int(c.Order)), Doc: c.DocID, Path: c.Path, Order: int(c.Order),
			Content: c.Text, Score: chunks[i].score, RerankScore: s.reranked[chunks[i].id],
		}
	}
	return hits, nil
}

// refer numbers the paths of chunks: by number of chunks, then by first
// appearance. Chunks without a path have no reference.
func refer(chunks []ChunkHit) []Reference {
	type group struct {
		path  string
		count int
	}
	var groups []group
	at := make(map[string]int)
	for i := range chunks {
		p := chunks[i].Path
		if p == "" {
			continue
		}
		g, ok := at[p]
		if !ok {
			g = len(groups)
			at[p] = g
			groups = append(groups, group{path: p})
		}
		groups[g].count++
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(b.count, a.count) })
	refs := make([]Reference, len(groups))
	for i, g := range groups {
		refs[i] = Reference{ID: strconv.Itoa(i + 1), Path: g.path}
		at[g.path] = i
	}
	for i := range chunks {
		if p := chunks[i].Path; p != "" {
			chunks[i].ReferenceID = refs[at[p]].ID
		}
	}
	return refs
}

const (
	entityHeading    = "Entities, one JSON object a line:\n\n"
	relationHeading  = "Relations between entities, one JSON object a line:\n\n"
	chunkHeading     = "Passages, one JSON object a line; reference_id names an entry of the reference list:\n\n"
	referenceHeading = "Reference list:\n\n"
	contextFrame     = entityHeading + relationHeading + chunkHeading + referenceHeading
)

// contextText writes what the model is given.
func contextText(r *Result) string {
	size := len(contextFrame)
	for i := range r.Entities {
		size += len(r.Entities[i].Name) + len(r.Entities[i].Description) + 80
	}
	for i := range r.Relations {
		size += len(r.Relations[i].Src) + len(r.Relations[i].Tgt) + len(r.Relations[i].Description) + 80
	}
	for i := range r.Chunks {
		size += len(r.Chunks[i].Content) + len(r.Chunks[i].Content)/16 + 64 // for what is escaped
	}
	for i := range r.References {
		size += len(r.References[i].Path) + 16
	}
	b := make([]byte, 0, size)
	if len(r.Entities) > 0 {
		b = append(b, entityHeading...)
		for i := range r.Entities {
			e := &r.Entities[i]
			b = append(appendEntityLine(b, e.Name, e.Type, e.Description), '\n')
		}
		b = append(b, '\n')
	}
	if len(r.Relations) > 0 {
		b = append(b, relationHeading...)
		for i := range r.Relations {
			e := &r.Relations[i]
			b = append(appendRelationLine(b, e.Src, e.Tgt, e.Description), '\n')
		}
		b = append(b, '\n')
	}
	if len(r.Chunks) > 0 {
		b = append(b, chunkHeading...)
		for i := range r.Chunks {
			b = append(appendChunkLine(b, r.Chunks[i].ReferenceID, r.Chunks[i].Content), '\n')
		}
		b = append(b, '\n')
	}
	if len(r.References) > 0 {
		b = append(b, referenceHeading...)
		for _, ref := range r.References {
			b = fmt.Appendf(b, "[%s] %s\n", ref.ID, ref.Path)
		}
	}
	return strings.TrimSuffix(string(b), "\n")
}
