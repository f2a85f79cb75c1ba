package engine

import (
	"fmt"
	"time"

	"github.com/lightctl/lightrag/llm"
)

// Mode is a way to retrieve: one of LightRAG's modes (arXiv 2410.05779, section
// 3.2), or Walk.
type Mode string

// The modes. The zero Mode is Mix.
const (
	Naive  Mode = "naive"  // passages nearest to the question
	Local  Mode = "local"  // entities of the low-level keywords, one hop
	Global Mode = "global" // relations of the high-level keywords and their ends
	Hybrid Mode = "hybrid" // Local and Global, merged round-robin
	Mix    Mode = "mix"    // Hybrid and Naive
	// Walk ranks what the question matches, and what facts lead to from there, by a
	// walk over entities, relations and passages. It finds passages that answer the
	// second half of a question whose first half another passage answers. No model is
	// asked for keywords; those that are given take the place of the question where
	// entities and relations are matched. Types of a filter limit what is found, not
	// what is walked through.
	Walk   Mode = "walk"
	Bypass Mode = "bypass" // no retrieval: the question goes to the model
)

// ParseMode returns the mode of that name; "" is Mix.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case "":
		return Mix, nil
	case Naive, Local, Global, Hybrid, Mix, Walk, Bypass:
		return m, nil
	}
	return "", fmt.Errorf("%w: mode %q is not one of naive, local, global, hybrid, mix, walk, bypass", ErrInvalid, s)
}

// Query is one question. Zero fields have LightRAG's defaults; where zero is a
// default, a negative number means none.
type Query struct {
	Text string
	Mode Mode // "" = Mix

	TopK              int     // entities and relations; 0 = 40
	ChunkTopK         int     // passages; 0 = 20
	MaxEntityTokens   int     // 0 = 6000
	MaxRelationTokens int     // 0 = 8000
	MaxTotalTokens    int     // 0 = 30000
	MaxChunkTokens    int     // 0 = what the other budgets leave
	CosineThreshold   float32 // vector hits below it are dropped; 0 = 0.2, negative = none

	Match Match // by vectors, by words or both; 0 = MatchFused

	// HighLevel and LowLevel keywords. If either is given no model is asked
	// for keywords.
	HighLevel, LowLevel []string
	Keywords            KeywordsBy // who finds them if none are given; "" = Options.Keywords

	History      []llm.Message // earlier turns; for the answer only, never for retrieval
	UserPrompt   string        // further instructions for the answer
	ResponseType string        // "" = "Multiple Paragraphs"
	NoReferences bool          // the answer lists and cites no documents; Result.References stay
	Language     string        // of the keywords; "" = that of the question

	ContextOnly bool // retrieve, no answer
	PromptOnly  bool // retrieve and show the prompt, no answer; wins over ContextOnly
	NoCache     bool // neither read nor write cached answers and keywords

	// Documents limits everything to what these documents say: hits, passages,
	// and the description, type, keywords and weight of each hit, which are those
	// of a store without the other documents and without summaries, with the first
	// 8 descriptions of each. Ids are the caller's; one that does not exist is
	// ErrNotFound. Scores and degrees are still those of all documents: tenants
	// that must not influence one another belong in stores of their own.
	Documents []string
	// EntityTypes limits hits to entities of these types, whatever their case, and
	// relations between them. A type that no entity has finds nothing.
	EntityTypes []string

	Walk WalkOptions // of mode Walk

	Pick PickMethod // how passages of entities and relations are picked

	Rerank         RerankUse // of passages, by Options.Reranker
	MinRerankScore float64   // reranked passages below it are dropped; 0 = none

	Explain bool // fill Result.Explain; costs time

	// Stream receives the answer while it is made: references first, then
	// text, then usage. An error it returns ends the query. References come once
	// more, before any text, if the model refuses the context for its length and
	// a smaller one takes its place: the later ones count.
	Stream func(Event) error

	window int // the model's context window, if budgets were fitted into it
}

// PickMethod chooses the passages of the retrieved entities and relations.
type PickMethod uint8

const (
	PickVector PickMethod = iota // nearest to the question by stored vector
	PickWeight                   // by how many entities or relations name them
)

// EventType says what an Event carries.
type EventType uint8

const (
	EventReferences EventType = iota + 1
	EventText
	EventDone
)

// Event is one step of a streamed answer.
type Event struct {
	Type       EventType
	References []Reference // EventReferences
	Text       string      // EventText
	Usage      llm.Usage   // EventDone
	Timings    Timings     // EventDone
}

// Result is what was retrieved, in the order it stands in the context, and,
// after Query, the answer.
type Result struct {
	Query      string
	Mode       Mode
	HighLevel  []string
	LowLevel   []string
	Entities   []EntityHit
	Relations  []RelationHit
	Chunks     []ChunkHit
	References []Reference
	Context    string // the context text; empty when nothing was found
	Prompt     string // with PromptOnly: system prompt and question
	Found      bool
	Answer     string
	Usage      llm.Usage // of all calls that the question made, refused ones too
	Cached     bool      // the answer came from the cache
	Truncated  bool      // the answer ended at a length limit
	Timings    Timings
	Warnings   []string // what did not go as wished, for people
	Explain    *Explain // with Query.Explain
	Models     Models   // that made the store, and that answers

	// What the budgets cut, for explaining a result.
	EntitiesFound, RelationsFound, ChunksFound int

	want wanted
}

// EntityHit is a retrieved entity.
type EntityHit struct {
	Name, Type, Description string
	Score                   float32 // cosine with the low-level keywords; 0 = came by a relation or a walk, or none was computed
}

// RelationHit is a retrieved relation; Src < Tgt by code point.
type RelationHit struct {
	Src, Tgt    string
	Keywords    []string
	Description string
	Weight      float64
	Score       float32 // cosine with the high-level keywords; 0 = came by an entity, or none was computed
}

// ChunkHit is a retrieved passage.
type ChunkHit struct {
	ID          string // doc#order
	Doc         string
	Path        string
	Order       int
	Content     string
	ReferenceID string
	Score       float32 // cosine with the question; 0 = not computed
	RerankScore float64 // of the Reranker; 0 = not reranked
}

// Reference is a cited path. IDs are "1", "2", ... by number of passages, then
// first appearance.
type Reference struct {
	ID   string
	Path string
}

// Timings are wall times of the stages of a query.
type Timings struct {
	Keywords, Embed, Search, Expand, Context, Answer, Total time.Duration
	Rerank                                                  time.Duration // part of Context
}
