package graphstore

import (
	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/columns"
)

// NewDocument is a document to be registered. Its chunks are stored as they
// are.
type NewDocument struct {
	ID       string   // the caller's name for it; not blank
	Path     string   // shown in references; may be empty
	Hash     [32]byte // of the text; equal hash means equal text
	Chunks   []NewChunk
	Removed  uint32 // bytes and sequences taken out of the text
	Metadata map[string]string
	// Replace lets new text stand in for a document of the same id: its
	// contribution goes in the commit of the new one.
	Replace bool
	// Copy stores the document even if it is new and another one holds its text.
	Copy bool
}

// NewChunk is one chunk of a NewDocument. Orders are distinct; gaps are fine.
type NewChunk struct {
	Order  uint32
	Path   string // empty = the document's
	Text   string
	Tokens uint32
}

// RegisterStatus says what Register made of a document.
type RegisterStatus uint8

const (
	Registered RegisterStatus = 1 // stored, pending
	Resumed    RegisterStatus = 2 // known, same text, not processed yet: pending again
	Unchanged  RegisterStatus = 3 // known, same text, processed
	Conflict   RegisterStatus = 4 // known, other text, and Replace was not set
	Duplicate  RegisterStatus = 5 // another document holds this text, and the id is new; nothing was stored
)

// String returns the lower-case name used in reports.
func (s RegisterStatus) String() string {
	switch s {
	case Registered:
		return "registered"
	case Resumed:
		return "resumed"
	case Unchanged:
		return "unchanged"
	case Conflict:
		return "conflict"
	case Duplicate:
		return "duplicate"
	}
	return "unknown"
}

// RegisterResult is what became of one document.
type RegisterResult struct {
	Doc      DocID // Duplicate: of the original; Conflict: of the document that has the id
	Status   RegisterStatus
	Original string // Duplicate: the id of the document that holds the text
}

// EntityFragment is what one record says about an entity. Key.Doc and
// Key.Order must be those of Chunk.
type EntityFragment struct {
	// Mention says that the chunk names the entity and says nothing about it:
	// what is left at an end of a relation that a person deleted.
	Mention           bool
	Name              string // normalised
	Chunk             ChunkID
	Key               FragmentKey
	Type, Description string // either may be empty
}

// RelationFragment is what one record says about a pair of entities, which
// have no order and must differ.
type RelationFragment struct {
	Src, Tgt    string // normalised
	Chunk       ChunkID
	Key         FragmentKey
	Description string
	Keywords    []string // trimmed; sorted and made distinct by Prepare
	Weight      int64    // in 1/format.WeightScale
}

// ChunkContribution makes one registered chunk visible.
type ChunkContribution struct {
	ID        ChunkID
	Order     uint32
	Keywords  []string
	CacheKeys [][32]byte
	Vector    []float32 // nil: the chunk becomes stale
	Malformed uint32    // records that no parser could recover
	Failure   string    // why nothing could be extracted; empty = nothing went wrong
}

// Usage is what model calls cost.
type Usage struct {
	Calls, PromptTokens, CachedTokens, CompletionTokens uint64
}

// add counts u towards a document.
func (u *Usage) add(row *format.Document) {
	row.Calls += u.Calls
	row.PromptTokens += u.PromptTokens
	row.CachedTokens += u.CachedTokens
	row.CompletionTokens += u.CompletionTokens
}

// Attempt is what became of a document that was worked on and not committed.
type Attempt struct {
	Status format.DocumentStatus // not StatusProcessed
	Cause  string                // why Status is failed
	Failed uint32                // chunks without a usable answer
	Usage  Usage                 // what it cost; counts towards the document
}

// Contribution is everything one document adds to the graph. Fragments of one
// answer must have distinct keys per owner.
type Contribution struct {
	Doc               DocID
	Chunks            []ChunkContribution
	Entities          []EntityFragment
	Relations         []RelationFragment
	Malformed, Failed uint32 // for the document's row
	Usage             Usage  // what it cost; counts towards the document
	// ListedSources says that the fragments of an entity list all its sources,
	// as in a graph taken over from elsewhere: a relation then implies nothing
	// about an entity that has fragments of its own.
	ListedSources bool
}

// Root is an owner whose text a contribution makes or changes.
type Root struct {
	Kind     Kind
	Name     string // entity
	Src, Tgt string // relation, Src < Tgt by code point
	New      bool
	Text     string // to embed
	TextHash uint64 // of Text
	// Vector is set by the caller before Commit. When it is nil the root
	// becomes stale, unless its old vector was made from the same text.
	Vector []float32
}

// CommitInfo says what a commit did.
type CommitInfo struct {
	Seq          uint64
	Documents    []Contributed // as prepared
	NewEntities  int
	NewRelations int
	Touched      int // roots whose fragments changed
	Stale        int // touched roots that are stale now
	Vectors      int // vectors stored
}

// Contributed counts the owners that a document contributes to.
type Contributed struct{ Entities, Relations int }

// DeleteOptions says what goes with a document.
type DeleteOptions struct {
	Answers bool // the cached extraction answers of its chunks too
}

// DeleteInfo says what a delete did.
type DeleteInfo struct {
	Seq       uint64
	Deleted   []DocID
	Unknown   []DocID
	Chunks    int
	Entities  int // entities that are gone
	Relations int // relations that are gone
	Changed   int // roots that remain, with fewer fragments
	Stale     int // touched roots that are stale now
	Answers   int
}

// StaleRoot is an owner with derived data to be re-made.
type StaleRoot struct {
	Kind       Kind
	Owner      uint32
	Seq        uint64 // of the last commit that changed its fragments; 0 for a chunk
	Text       string // to embed
	TextHash   uint64
	NeedVector bool
	Summaries  []SummaryJob
}

// SummaryJob asks for one summary of two to sixteen texts.
type SummaryJob struct {
	Kind        Kind
	Owner       uint32
	Name        string // of the entity, or "(a, b)"
	Level       uint8
	First, Last FragmentKey
	Input       [32]byte
	Texts       []string
}

// DoneSummary answers a SummaryJob.
type DoneSummary struct {
	Job   SummaryJob
	Text  string
	Model string // who wrote it; "" = SummaryPolicy.Model
}

// Refreshed carries re-made data of one owner: a vector of the text with that
// hash (or nil), and summaries.
type Refreshed struct {
	Kind      Kind
	Owner     uint32
	TextHash  uint64
	Vector    []float32
	Summaries []DoneSummary
	// Outdated says that the vector is to be stored although its text, of that
	// hash, is not the owner's any more: the owner has a vector and is stale.
	Outdated bool
}

// RefreshInfo counts vectors and summaries that still fitted, and those that
// a later change had overtaken.
type RefreshInfo struct {
	Applied    int
	Superseded int
}

// Neighbor is one end of a relation, seen from the other.
type Neighbor = columns.Neighbor

// Chunk is a chunk with the names of its document.
type Chunk struct {
	ID       ChunkID
	Doc      DocID
	Order    uint32
	DocID    string // the caller's id of the document
	Path     string
	Text     string
	Tokens   uint32
	Keywords []string
	Failure  string // why nothing could be extracted from it
}

// Counts of what a view holds; documents of every status.
type Counts struct {
	Documents, Chunks, Entities, Relations, Fragments uint64
}

// AnswerStats describes the answer cache.
type AnswerStats struct {
	Answers uint64
	Bytes   uint64 // of their rows
}

// Finding is one thing that Check found wrong.
type Finding struct {
	Row string // names the row or file
	Err error
}

// String returns the finding in one line.
func (f Finding) String() string { return f.Row + ": " + f.Err.Error() }

// Stats describes a store.
type Stats struct {
	Counts
	Identity       format.Identity
	Seq            uint64 // newest published commit
	Stale          uint64 // owners with derived data to be re-made
	Segments       int
	SegmentBytes   uint64
	BufferedBytes  uint64 // of vectors that are not in a segment yet
	MemoryBytes    int64  // of the columns
	Views          int    // open handles and running reads
	OldestView     uint64 // sequence of the oldest open view
	LiveViewStates int    // snapshots that are held
	DiskBytes      uint64 // of the key-value store
	WALBytes       uint64
	MemTableBytes  uint64
	CacheBytes     int64
	CacheHits      int64
	CacheMisses    int64
	CompactionDebt uint64
	// PostingsBytes is what the postings take on disk, without what is still
	// in the log; PostingsWritten, the bytes of the rows of postings that
	// commits have written since the store was opened.
	PostingsBytes   uint64
	PostingsWritten uint64
	KV              string // the key-value store's own report
}
