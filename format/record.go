package format

// Scale of fixed-point weights: a Weight of 1 is stored as 1,000,000. Sums of
// integers can be undone exactly; sums of floats cannot.
const WeightScale = 1_000_000

// DocumentStatus is where a document is in its life.
type DocumentStatus uint8

const (
	StatusPending    DocumentStatus = 1 // chunks are durable, nothing is extracted yet
	StatusProcessing DocumentStatus = 2 // extraction has begun
	StatusProcessed  DocumentStatus = 3 // committed to the graph
	StatusFailed     DocumentStatus = 4 // see Document.Error
)

// Document is the row of one document (table d).
type Document struct {
	ID         string   // the caller's id
	Path       string   // shown in references; may be empty
	Hash       [32]byte // SHA-256 of the cleaned text (or of the pre-chunked content)
	Status     DocumentStatus
	Generation uint32 // commits of this document's contribution, for replace and retry
	Chunks     uint32
	Entities   uint32 // distinct roots this document contributes to
	Relations  uint32
	Malformed  uint32 // records no parser could recover
	Removed    uint32 // NUL bytes and invalid UTF-8 sequences taken out of the text
	Failed     uint32 // chunks whose extraction failed and was skipped by policy
	Error      string // why Status is failed
	Created    int64  // Unix seconds
	Updated    int64
	Metadata   map[string]string

	// What its model calls cost so far, over all attempts.
	Calls, PromptTokens, CachedTokens, CompletionTokens uint64
}

// Chunk is the text of one chunk (table c), written when its document is
// registered and invisible until a ChunkRow names it.
type Chunk struct {
	ID     ChunkID
	Path   string // empty = the document's path
	Tokens uint32
	Text   string
}

// ChunkRow makes a chunk visible (table C), written when its document commits.
type ChunkRow struct {
	Doc           DocID
	Order         uint32
	VectorVersion uint32     // 0 = no vector
	LineTokens    uint32     // tokens of its context line
	Keywords      []string   // content keywords, when the model gave some
	CacheKeys     [][32]byte // extraction answers this chunk was made from
	Malformed     uint32     // records no parser could recover
	Failure       string     // why nothing could be extracted; empty = nothing went wrong
}

// Fragment is what one record of one answer says about one owner (table f).
type Fragment struct {
	Class       Class
	Chunk       ChunkID
	Type        string     // entities; empty = no vote
	Description string     // empty = contributes none
	Keywords    []string   // relations: trimmed, distinct, sorted
	Weight      int64      // relations, in 1/WeightScale
	Relation    RelationID // ClassImplied: the relation whose record implied it
}

// Count is one value and how many fragments hold it.
type Count struct {
	Value string
	N     uint32
}

// Aggregate is the running sum of an owner's fragments (table a). One more or
// one fewer fragment changes it without reading the others.
type Aggregate struct {
	Mentions  uint32 // fragments
	Extracted uint32 // fragments that are not implied
	Weight    int64
	Types     []Count // sorted by value
	Keywords  []Count // sorted by value
	Distinct  uint32  // distinct non-empty descriptions
	Tokens    uint64  // of the distinct descriptions
	LastSeq   uint64  // commit sequence of the last change
}

// Record is what readers see of a root owner (table r): a pure function of its
// surviving fragments, overlays and summaries.
type Record struct {
	Type          string
	Description   string
	Keywords      []string // relations, sorted
	Weight        int64
	LineTokens    uint32 // tokens of its context line
	TextHash      uint64 // of the embedded text
	VectorVersion uint32 // 0 = no vector yet
	VectorHash    uint64 // TextHash the vector was made from
	Pending       bool   // a summary is still to be made
	Curated       Fields // those that an override holds
	Sole          DocID  // the only contributing document; 0 = several, or none
}

// DocumentOwners lists what one document contributed (table o), so that
// deleting it never scans.
type DocumentOwners struct {
	Fragments []OwnerFragment // sorted by kind, owner, key
}

// OwnerFragment addresses one fragment.
type OwnerFragment struct {
	Kind  Kind
	Owner uint32
	Key   FragmentKey
}

// Summary is a paid-for text that stands for a run of descriptions (table s).
type Summary struct {
	Last  FragmentKey // last fragment it covers; the first is in the key
	Input [32]byte    // SHA-256 of the covered texts and the model's name
	Model string
	Text  string
}

// Fields is a set of fields of a record.
type Fields uint32

const (
	FieldType        Fields = 1
	FieldDescription Fields = 2
	FieldKeywords    Fields = 4
	FieldWeight      Fields = 8
)

// Override holds the curated values of a root owner (table v). It is kept by
// name: it survives the owner, and applies again when the owner is back. That
// of a relation is stored under both orders of its names.
type Override struct {
	Mask        Fields // which fields hold
	Copied      Fields // those that a merge has made of what documents say
	Type        string
	Description string
	Keywords    []string
	Weight      int64
}

// Member says to which root a raw owner with fragments belongs that is not a
// root itself (table y).
type Member struct {
	Root   uint32
	Hidden bool     // a relation whose ends are both the entity Root
	Lo, Hi EntityID // raw ends of a relation
}

// ChangeKind says what a person did to the graph.
type ChangeKind uint8

const (
	ChangeCreate ChangeKind = 1
	ChangeEdit   ChangeKind = 2
	ChangeRename ChangeKind = 3
	ChangeMerge  ChangeKind = 4
	ChangeDelete ChangeKind = 5
)

// String returns the verb.
func (k ChangeKind) String() string {
	switch k {
	case ChangeCreate:
		return "create"
	case ChangeEdit:
		return "edit"
	case ChangeRename:
		return "rename"
	case ChangeMerge:
		return "merge"
	case ChangeDelete:
		return "delete"
	}
	return "unknown"
}

// AliasEdit is what a change did to the alias of a name; "" = none.
type AliasEdit struct{ Name, Before, After string }

// OverrideEdit is what a change did to an override, as encoded rows; "" = none.
type OverrideEdit struct {
	Kind          Kind
	Owner         string // as in the key
	Before, After string
}

// Change is one curation, as it is remembered and can be undone (table h).
type Change struct {
	Kind      ChangeKind
	Of        Kind     // what was changed
	Names     []string // of the owners, as the caller gave them; pairs joined by PairName
	Created   int64    // Unix seconds
	Undone    int64    // when it was undone; 0 = it stands
	Aliases   []AliasEdit
	Overrides []OverrideEdit
	Made      bool     // a curated fragment of order id was added to Names[0]
	Reads     []string // what it builds upon
	Writes    []string // what may build upon it
}

// Stale marks derived data that is to be re-made (table z).
type Stale struct {
	Vector  bool
	Summary bool
}

// BufferedVector is a vector that is not yet in a segment (table b).
type BufferedVector struct {
	Kind    Kind
	Owner   uint32
	Version uint32
	Vector  []float32
}

// StagedVector is a vector of the embedder that the store is to change to,
// written ahead (table w).
type StagedVector struct {
	TextHash uint64 // of the text it was made from
	Vector   []float32
}

// SegmentRow names one segment file (table S). A file without a row is
// garbage; a row without its file is corruption.
type SegmentRow struct {
	Rows      uint32
	Dim       uint32
	Length    uint64 // bytes
	FooterCRC uint32
}

// Answer is one cached completion (table q), keyed by the SHA-256 of
// everything that could change it.
type Answer struct {
	Text             string
	PromptTokens     uint32
	CachedTokens     uint32
	CompletionTokens uint32
	Task             uint8
	Created          int64
}

// Counters is the row that opens a store (table m).
type Counters struct {
	Commit       uint64 // sequence of the last commit
	NextDoc      DocID
	NextChunk    ChunkID
	NextEntity   EntityID
	NextRelation RelationID
	NextVersion  uint32 // of vectors
	NextBuffered uint64
	Documents    uint64 // rows that exist, verified when the store opens
	Chunks       uint64
	Entities     uint64 // roots
	Relations    uint64
	Fragments    uint64
	Segments     uint64
	Sum          uint64 // additive hash of the counted rows
	Names        uint64 // of raw entities
	Pairs        uint64 // of raw relations
	Aliases      uint64
	Overrides    uint64
	Members      uint64
	Changes      uint64
	NextChange   uint32
}

// Identity is fixed when a store is created (table m).
type Identity struct {
	Embedder  string
	Dim       uint32
	Checksum  string
	Tokenizer string
	Created   int64
}
