package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/offline"
)

// ChunkPolicy says what becomes of a document some of whose chunks could not
// be extracted because the model's answer was unusable.
type ChunkPolicy uint8

const (
	// KeepRest keeps what the other chunks gave; the report counts the failed.
	KeepRest ChunkPolicy = iota
	// FailDocument fails the document; its finished answers stay cached.
	FailDocument
)

// ChunkBy says where documents are cut.
type ChunkBy string

const (
	// ByTokens cuts windows of ChunkTokens that overlap, as LightRAG does. An
	// edit moves every window behind it.
	ByTokens ChunkBy = "tokens"
	// ByParagraphs cuts between paragraphs (at blank lines), at places that
	// depend on the paragraphs near them alone, into chunks of about half of
	// ChunkTokens that do not overlap. Changing, inserting or removing one
	// paragraph makes at most three new chunks (and one more for each of them
	// that must be cut in two because it is longer than ChunkTokens): a Document
	// with Replace asks the model about those only.
	ByParagraphs ChunkBy = "paragraphs"
)

// Options of a DB. The zero value works: the offline pair, no key, no network.
// Where zero means a default, a negative number means none.
type Options struct {
	// Completer extracts, summarises and answers. nil = the offline one.
	Completer llm.Completer
	// ContextWindow is how many tokens the model takes, prompt and answer together.
	// The budgets of a question are made smaller to fit: of what the window holds,
	// a quarter but at most 2048 tokens stay free for the answer. 0 = unknown: when
	// a server refuses a prompt for its length and says how long it may be, the
	// context is made anew within that, once, and the DB remembers it.
	ContextWindow int
	// Reranker orders passages by what it makes of question and text. nil = none.
	Reranker llm.Reranker
	// Embedder makes vectors. nil = the offline one. Its name, dimension and
	// checksum are fixed when the store is created: another one is ErrMismatch,
	// and DB.ReEmbed is the way to change it.
	Embedder llm.Embedder
	// Keywords says who finds the keywords of questions; "" = KeywordsByModel.
	Keywords KeywordsBy
	// Tokenizer is o200k, cl100k or chars4; fixed when the store is created.
	// "" = that of the store, o200k for a new one.
	Tokenizer string

	ChunkBy      ChunkBy // "" = ByTokens
	ChunkTokens  int     // most tokens of a chunk; 0 = 1200
	ChunkOverlap int     // tokens shared by neighbouring windows; 0 = 100, negative = none

	Gleaning         int // further extraction rounds, at most 1 is used, as in LightRAG; 0 = 1, negative = none
	MaxExtractTokens int // gleaning is skipped when its prompt is longer; 0 = 20480, negative = no limit
	EntityTypes      []string
	Language         string // of extracted texts; "" = that of the document
	JSONExtraction   bool   // ask for JSON instead of delimited records
	// Examples are appended to the extraction prompt, to show what is wanted. Of
	// real names in them some will be found in documents that do not hold them:
	// use placeholders.
	Examples    string
	Prompts     llm.Prompts // texts that models are asked with; zero = the default ones
	ChunkPolicy ChunkPolicy

	// ResolveEntities merges, at the end of each Insert, entities whose names
	// differ in case, width, punctuation or spaces alone and whose types do not
	// contradict, into the one with the most sources. All names go on leading to
	// it; each merge is in Changes and can be undone, and is not made again then.
	// What is less certain than that only Duplicates suggests. Which spelling the
	// merged entity has depends on what came first.
	ResolveEntities bool

	// SummaryFragments, SummaryTokens and MaxSources shape what is derived and
	// stay with the store: 0 keeps what it has. Another value derives every
	// record anew when the store is opened.
	SummaryFragments int // distinct descriptions from which a model joins them; new store: 8; negative = never
	SummaryTokens    int // or this many tokens; new store: 1200
	MaxSources       int // sources that feed descriptions and passages; new store: 200; negative = all
	SummaryLength    int // wanted length of a summary in tokens; 0 = 600

	// Concurrency is the number of model calls in flight. 0 = 4.
	Concurrency int

	// ReadOnly leaves the store as it is. Rows of vectors may be in a file beside
	// it that never has a name, where the file system is not read-only too.
	ReadOnly  bool
	MustExist bool // ErrNotFound instead of creating a store

	// Logger receives warnings and, at debug level, storage events. nil = silent.
	Logger *slog.Logger
	// Progress, if set, is called from several goroutines, one call at a time.
	Progress func(Progress)

	Storage Storage

	now          func() time.Time // tests
	exactBelow   int              // tests: vectors of a kind up to which they are not linked
	saveEvery    int              // tests: vectors of a kind linked until it is saved
	refreshEvery int              // tests: chunks from which a run refreshes before its end
	freshIndex   bool             // the index files are not read, the postings are made anew
	stagePage    int              // tests: vectors that ReEmbed writes ahead at a time
}

// Storage tunes the store below the engine. The zero value is right for a
// guest in somebody else's process.
type Storage struct {
	FS            graphstore.FS // nil = the operating system's
	CacheBytes    int64         // block cache; 0 = 64 MiB
	MemTableBytes int64         // 0 = 64 MiB
	SealBytes     int64         // buffered vectors that make a segment; 0 = 16 MiB
}

// Progress is a snapshot of a running Insert, Resume, Retry or import.
type Progress struct {
	Documents, DocumentsDone int       // of the call, and of those taken up from earlier ones
	Chunks, ChunksDone       int       // of the documents that are cut so far
	Usage                    llm.Usage // calls made
	Cached                   int       // calls that the cache answered
	Elapsed                  time.Duration
	// TimeLeft is what the chunks that are left, and an estimate of those that
	// are not cut yet, would take at the pace of those that the model was asked
	// about; 0 = not known yet.
	TimeLeft time.Duration
}

func (o Options) withDefaults() Options {
	if o.Completer == nil {
		o.Completer = offline.NewCompleter()
	}
	if o.Embedder == nil {
		o.Embedder = offline.NewEmbedder()
	}
	def := func(p *int, zero, negative int) {
		switch {
		case *p == 0:
			*p = zero
		case *p < 0:
			*p = negative
		}
	}
	def(&o.ChunkTokens, 1200, -1)
	def(&o.ChunkOverlap, 100, 0)
	def(&o.Gleaning, 1, 0)
	def(&o.MaxExtractTokens, 20480, 0)
	def(&o.SummaryFragments, 8, 0)
	def(&o.SummaryTokens, 1200, 1200)
	def(&o.SummaryLength, 600, 600)
	def(&o.MaxSources, 200, -1)
	def(&o.Concurrency, 4, -1)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	def(&o.exactBelow, defaultExactBelow, defaultExactBelow)
	def(&o.saveEvery, defaultSaveEvery, defaultSaveEvery)
	def(&o.refreshEvery, defaultRefreshEvery, defaultRefreshEvery)
	def(&o.stagePage, embedTexts, embedTexts)
	if o.now == nil {
		o.now = time.Now
	}
	return o
}

func (o Options) validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...))
	}
	if o.ChunkTokens < 1 {
		bad("Options.ChunkTokens must be positive")
	} else if o.ChunkOverlap >= o.ChunkTokens {
		bad("Options.ChunkOverlap %d must be smaller than ChunkTokens %d", o.ChunkOverlap, o.ChunkTokens)
	}
	if o.ContextWindow < 0 || o.ContextWindow > 0 && o.ContextWindow < 256 {
		bad("Options.ContextWindow %d is below 256 tokens", o.ContextWindow)
	}
	if o.Concurrency < 1 {
		bad("Options.Concurrency must be positive")
	}
	if err := o.Keywords.validate(); err != nil {
		bad("Options.Keywords %q is not one of llm, lexical, auto", o.Keywords)
	}
	if info := o.Embedder.Info(); info.Dim < 1 || info.Dim > 65535 {
		bad("Options.Embedder %q has dimension %d; 1 to 65535 are possible", info.Name, info.Dim)
	}
	if err := o.Prompts.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("%w: Options.Prompts: %w", ErrInvalid, err))
	}
	if o.Language != "" && !(o.Prompts.Has("extract_system.txt", "LANGUAGE") && o.Prompts.Has("summary_user.txt", "LANGUAGE")) {
		bad("Options.Language would have no effect: {{LANGUAGE}} is missing in the prompt extract_system.txt or summary_user.txt")
	}
	if len(o.EntityTypes) > 0 && !o.Prompts.Has("extract_system.txt", "TYPES") {
		bad("Options.EntityTypes would have no effect: {{TYPES}} is missing in the prompt extract_system.txt")
	}
	switch o.ChunkBy {
	case "", ByTokens, ByParagraphs:
	default:
		bad("Options.ChunkBy %q is not one of tokens, paragraphs", o.ChunkBy)
	}
	switch o.Tokenizer {
	case "", "o200k", "cl100k", "chars4":
	default:
		bad("Options.Tokenizer %q is not one of o200k, cl100k, chars4", o.Tokenizer)
	}
	return errors.Join(errs...)
}

// extraction is what shapes the extraction prompts.
func (o *Options) extraction() llm.ExtractOptions {
	return llm.ExtractOptions{EntityTypes: o.EntityTypes, Language: o.Language, JSON: o.JSONExtraction, Examples: o.Examples}
}
