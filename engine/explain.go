package engine

import (
	"strconv"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// Explain says how a result came about: what each stage found, by which scores,
// and what cut it. It is made when Query.Explain asks for it.
type Explain struct {
	Commit    uint64                `json:"commit"` // the question was put to this state of the store
	Index     map[string]IndexStats `json:"index"`  // by kind; exact: every vector is compared
	Keywords  string                `json:"keywords"`
	TopK      int                   `json:"top_k"`
	ChunkTopK int                   `json:"chunk_top_k"`
	Threshold float32               `json:"cosine_threshold"` // -2 = none
	Match     string                `json:"match"`            // fused, vectors, lexical

	ContextWindow int `json:"context_window,omitempty"` // tokens; 0 = unknown
	AnswerReserve int `json:"answer_reserve,omitempty"` // of them, left free

	Filter    *FilterExplained `json:"filter,omitempty"`
	Entities  StageExplained   `json:"entities"`
	Relations StageExplained   `json:"relations"`
	Chunks    ChunksExplained  `json:"chunks"`
	Rerank    *RerankExplained `json:"rerank,omitempty"`
}

// Where the keywords of Explain.Keywords come from.
const (
	KeywordsGiven    = "given"
	KeywordsCached   = "cache"
	KeywordsModel    = "model"
	KeywordsRules    = "rules"    // the offline pair, which stands for a model
	KeywordsLexical  = "lexical"  // the store's postings
	KeywordsQuestion = "question" // none were found: the question stands for them
	KeywordsNone     = "none"
)

// FilterExplained is a filter and how much it lets through.
type FilterExplained struct {
	Documents []string `json:"documents,omitempty"`
	Types     []string `json:"types,omitempty"`
	// Of the documents, before types; without documents they are all.
	Entities     uint64 `json:"entities"`
	Relations    uint64 `json:"relations"`
	AllEntities  uint64 `json:"all_entities"`
	AllRelations uint64 `json:"all_relations"`
}

// BudgetExplained is a token budget and the tokens before and after the cut.
type BudgetExplained struct {
	Limit  int `json:"limit"`
	Before int `json:"before"`
	After  int `json:"after"`
}

// StageExplained is what became of entities or relations.
type StageExplained struct {
	Searched bool     `json:"searched"` // keywords were matched against them
	Matched  int      `json:"matched"`  // by vector, by words or both
	Near     *float32 `json:"best_below_threshold,omitempty"`
	MatchExplained
	Found int `json:"found"` // with those that came by one hop
	Kept  int `json:"kept"`
	// Shortened says that the first one alone was over the budget and was cut.
	Shortened  bool            `json:"shortened,omitempty"`
	Budget     BudgetExplained `json:"budget"`
	Candidates []Candidate     `json:"candidates"`        // in their final order, at most 500
	Omitted    int             `json:"omitted,omitempty"` // candidates beyond them
}

// ChunksExplained is what became of the passages. A passage that came in several
// ways counts for each.
type ChunksExplained struct {
	Searched     bool     `json:"searched"`
	Near         *float32 `json:"best_below_threshold,omitempty"`
	FromQuestion int      `json:"from_question"` // by vector, by words or both
	MatchExplained
	FromEntities int             `json:"from_entities"`
	FromRelation int             `json:"from_relations"`
	FromWalk     int             `json:"from_walk,omitempty"`
	Found        int             `json:"found"` // distinct
	AfterTopK    int             `json:"after_top_k"`
	Kept         int             `json:"kept"`
	Budget       BudgetExplained `json:"budget"`
	Candidates   []Candidate     `json:"candidates"`
	Omitted      int             `json:"omitted,omitempty"`
}

// Candidate is an entity, a relation or a passage that was found.
type Candidate struct {
	Name   string  `json:"name"`
	Origin string  `json:"origin"` // question, entity, relation, keywords, walk
	Score  float32 `json:"score"`  // cosine; 0 = none was computed
	MatchRanks
	Walk   float64  `json:"walk,omitempty"` // of all that walked, the part that stayed here
	Rerank *float64 `json:"rerank_score,omitempty"`
	Degree int      `json:"degree,omitempty"` // entity; of a relation the sum of its ends
	Weight float64  `json:"weight,omitempty"`
	Tokens int      `json:"tokens"`
	Kept   bool     `json:"kept"`
}

// RerankExplained is what a Reranker did.
type RerankExplained struct {
	Model      string  `json:"model"`
	Candidates int     `json:"candidates"`
	Returned   int     `json:"returned"`
	Below      int     `json:"below_min_score"`
	MinScore   float64 `json:"min_score"`
	Error      string  `json:"error,omitempty"`
}

const explainMost = 500

func (r *Result) keywordsFrom(origin string) {
	if r.Explain != nil {
		r.Explain.Keywords = origin
	}
}

// explainSearch notes what was searched and found by vector, and the best of
// what the threshold kept out.
func (s *search) explainSearch(r *Result) error {
	if !s.q.Explain {
		return nil
	}
	counts := s.view.Counts()
	x := r.Explain
	x.Commit, x.Index = s.view.Seq(), s.db.index.stats()
	x.TopK, x.ChunkTopK, x.Threshold, x.Match = s.q.TopK, s.q.ChunkTopK, s.q.CosineThreshold, s.q.Match.String()
	if x.ContextWindow = s.q.window; s.q.window > 0 {
		x.AnswerReserve = answerReserve(s.q.window)
	}
	if f := s.filter; f != nil {
		x.Filter = &FilterExplained{
			Documents: s.q.Documents, Types: s.q.EntityTypes,
			AllEntities: counts.Entities, AllRelations: counts.Relations, Entities: counts.Entities, Relations: counts.Relations,
		}
		if f.docs != nil {
			x.Filter.Entities, x.Filter.Relations = uint64(f.owners[0].count()), uint64(f.owners[1].count())
		}
	}
	x.Entities.Matched, x.Relations.Matched = len(s.near.entities), len(s.near.relations)
	x.Entities.Searched, x.Relations.Searched, x.Chunks.Searched = s.want.low != "", s.want.high != "", s.want.passages
	x.Entities.MatchExplained = s.matches[format.KindEntity-1].summary()
	x.Relations.MatchExplained = s.matches[format.KindRelation-1].summary()
	x.Chunks.MatchExplained = s.matches[format.KindChunk-1].summary()
	var err error
	near := func(kind format.Kind, q []float32, k int) *float32 {
		m := s.matches[kind-1]
		if err != nil || q == nil || m == nil || m.near >= k {
			return nil
		}
		var hits []hit
		hits, err = s.db.index.search(s.view, kind, q, m.near+1, -2, s.filter)
		if len(hits) <= m.near {
			return nil
		}
		return &hits[m.near].score
	}
	v := &s.want.vectors
	x.Entities.Near = near(format.KindEntity, v.low, s.most(format.KindEntity))
	x.Relations.Near = near(format.KindRelation, v.high, s.most(format.KindRelation))
	x.Chunks.Near = near(format.KindChunk, v.query, s.most(format.KindChunk))
	return err
}

// explainEntities notes the candidates before they are cut.
func (s *search) explainEntities(r *Result) {
	if !s.q.Explain {
		return
	}
	explainOwners(s, &r.Explain.Entities, format.KindEntity, s.entities, s.q.MaxEntityTokens, s.via("relation"), func(id format.EntityID) Candidate {
		return Candidate{Name: s.view.EntityName(id), Degree: s.view.Degree(id)}
	})
}

// explainRelations is explainEntities for relations.
func (s *search) explainRelations(r *Result) {
	if !s.q.Explain {
		return
	}
	explainOwners(s, &r.Explain.Relations, format.KindRelation, s.relations, s.q.MaxRelationTokens, s.via("entity"), func(id format.RelationID) Candidate {
		a, b := s.view.Ends(id)
		weight := s.view.Weight(id)
		if s.filter.byDocuments() {
			weight = s.filter.excerpt(format.KindRelation, uint32(id)).Weight
		}
		return Candidate{
			Name: s.view.EntityName(a) + " - " + s.view.EntityName(b), Degree: s.view.Degree(a) + s.view.Degree(b),
			Weight: float64(weight) / format.WeightScale,
		}
	})
}

// explainOwners notes ranked owners of a kind and what their lines cost. Those
// without a score came by way of the other kind, via; describe begins the
// candidate of one.
func explainOwners[T ~uint32](s *search, x *StageExplained, kind format.Kind, list []ranked[T], limit int, via string, describe func(T) Candidate) {
	m := s.db.cost
	x.Found, x.Budget.Limit = len(list), limit
	sum := 0
	for i, e := range list {
		line := lineTokens(s, kind, list, i)
		if sum += line; i >= explainMost {
			x.Omitted++
			continue
		}
		c := describe(e.id)
		c.Origin, c.Score, c.Tokens = via, e.score, m.cost(line, 1)
		c.Walk = s.walked.mass[node{kind, uint32(e.id)}]
		ranks, matched := s.matches[kind-1].ranks(uint32(e.id))
		if c.MatchRanks = ranks; matched {
			c.Origin = "keywords"
		}
		x.Candidates = append(x.Candidates, c)
	}
	x.Budget.Before = m.cost(sum, len(list))
}

// via says how an owner came that the keywords did not match.
func (s *search) via(hop string) string {
	if s.q.Mode == Walk {
		return "walk"
	}
	return hop
}

// kept notes how many candidates the budget left, and their tokens.
func (x *StageExplained) kept(n, tokens int, shortened bool) {
	x.Kept, x.Budget.After, x.Shortened = n, tokens, shortened
	for i := range x.Candidates[:min(n, len(x.Candidates))] {
		x.Candidates[i].Kept = true
	}
}

// chunkOrigins notes which lists the passages come from.
func (s *search) chunkOrigins(direct, fromEntities, fromRelations []ranked[format.ChunkID]) {
	if !s.q.Explain {
		return
	}
	s.origins = make(map[format.ChunkID]string)
	for i, list := range [...][]ranked[format.ChunkID]{direct, fromEntities, fromRelations} {
		for _, c := range list {
			if s.origins[c.id] == "" {
				s.origins[c.id] = [...]string{"question", "entity", "relation"}[i]
			}
		}
	}
	s.listed = [3]int{len(direct), len(fromEntities), len(fromRelations)}
}

// walkOrigins does the same after a walk.
func (s *search) walkOrigins(found []ranked[format.ChunkID]) {
	if !s.q.Explain {
		return
	}
	s.origins = make(map[format.ChunkID]string, len(found))
	for i, c := range found {
		s.origins[c.id] = "question"
		if i < len(s.walked.passages) {
			s.origins[c.id] = "walk"
		}
	}
	for _, h := range s.near.chunks {
		s.origins[format.ChunkID(h.id)] = "question"
	}
	s.listed[0] = len(s.near.chunks) + len(found) - len(s.walked.passages)
}

// explainChunks notes what became of the passages found: chosen of them came
// through reranking and ChunkTopK, the first kept of these through the budget.
func (s *search) explainChunks(r *Result, found, chosen []ranked[format.ChunkID], budget int) error {
	if !s.q.Explain {
		return nil
	}
	x, m := &r.Explain.Chunks, s.db.cost
	x.FromQuestion, x.FromEntities, x.FromRelation, x.FromWalk = s.listed[0], s.listed[1], s.listed[2], len(s.walked.passages)
	x.Found, x.AfterTopK, x.Kept, x.Budget.Limit = len(found), len(chosen), len(r.Chunks), budget
	at := make(map[format.ChunkID]struct{}, len(chosen))
	var list []ranked[format.ChunkID]
	sum, keptSum := 0, 0
	for i, c := range chosen {
		at[c.id] = struct{}{}
		sum += s.view.LineTokens(format.KindChunk, uint32(c.id))
		if list = append(list, c); i < x.Kept {
			keptSum = sum
		}
	}
	for _, c := range found {
		if _, done := at[c.id]; !done {
			list = append(list, c)
		}
	}
	x.Budget.Before, x.Budget.After = m.cost(sum, len(chosen)), m.cost(keptSum, x.Kept)
	x.Omitted = max(len(list)-explainMost, 0)
	list = list[:len(list)-x.Omitted]
	ids := make([]format.ChunkID, len(list))
	for i, c := range list {
		ids[i] = c.id
	}
	rows, err := s.view.Chunks(ids, make([]graphstore.Chunk, 0, len(ids)))
	if err != nil {
		return err
	}
	for i, c := range list {
		cand := Candidate{
			Name: rows[i].DocID + "#" + strconv.Itoa(int(rows[i].Order)), Origin: s.origins[c.id], Score: c.score,
			Tokens: m.cost(s.view.LineTokens(format.KindChunk, uint32(c.id)), 1), Kept: i < x.Kept,
		}
		cand.Walk = s.walked.mass[node{format.KindChunk, uint32(c.id)}]
		cand.MatchRanks, _ = s.matches[format.KindChunk-1].ranks(uint32(c.id))
		if score, ok := s.reranked[c.id]; ok {
			cand.Rerank = &score
		}
		x.Candidates = append(x.Candidates, cand)
	}
	return nil
}

func (s *search) explainRerank(model string, candidates int, order []llm.Reranked, err error) {
	if !s.q.Explain {
		return
	}
	x := &RerankExplained{Model: model, Candidates: candidates, Returned: len(order), MinScore: s.q.MinRerankScore}
	for _, o := range order {
		if s.q.MinRerankScore > 0 && o.Score < s.q.MinRerankScore {
			x.Below++
		}
	}
	if err != nil {
		x.Error = err.Error()
	}
	s.rerankNote = x
}
