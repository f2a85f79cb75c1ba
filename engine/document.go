package engine

import (
	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/llm"
)

// Document is one text to be indexed.
type Document struct {
	// ID is the caller's name for the document; "" = Path. One line, valid
	// UTF-8, at most 1024 bytes.
	ID string
	// Path is shown in references.
	Path string
	Text string
	// Chunks, when set, replace Text: the document is indexed exactly as cut
	// by the caller.
	Chunks   []Chunk
	Metadata map[string]string
	// Replace lets a new text take the place of an older one under this ID, as
	// one atomic change. Without it that is a conflict. Chunks whose text is, byte
	// for byte, that of a chunk of the older text are not extracted again; what
	// was extracted from them is taken over, without a model call. A text that
	// another document holds takes the place too, and is then held by both: the
	// ID must not go on naming what its owner has replaced.
	Replace bool
}

// Chunk is one piece of a pre-chunked document. Its content is never trimmed,
// re-split or refused for its length.
type Chunk struct {
	Order   int    // position; distinct within the document, gaps allowed
	Path    string // "" = that of the document
	Content string
}

// DocumentStatus is the outcome of one document of an Insert, or the state of
// a stored one.
type DocumentStatus string

const (
	StatusPending    DocumentStatus = "pending"
	StatusProcessing DocumentStatus = "processing"
	StatusProcessed  DocumentStatus = "processed"
	StatusFailed     DocumentStatus = "failed"
	StatusUnchanged  DocumentStatus = "unchanged" // same id, same text: nothing to do
	StatusConflict   DocumentStatus = "conflict"  // same id, other text, no Replace
	StatusDuplicate  DocumentStatus = "duplicate" // a new id, but another document holds this text
)

// DocumentReport says what became of one document.
type DocumentReport struct {
	ID, Path     string
	Status       DocumentStatus
	Chunks       int // of StatusUnchanged, as the following, those that are stored
	Entities     int // distinct entities it contributes to
	Relations    int
	Malformed    int            // records that no rule could recover
	Removed      int            // NUL bytes and invalid UTF-8 sequences taken out
	FailedChunks int            // without a usable answer; skipped under KeepRest
	Failures     []ChunkFailure // these chunks, by order, as far as this call met them
	Original     string         // StatusDuplicate: the id that holds this text
	Err          error          // StatusFailed, StatusConflict
}

// stored sets the counts of a document that is in the graph.
func (r *DocumentReport) stored(d *format.Document) {
	r.Chunks, r.Entities, r.Relations = int(d.Chunks), int(d.Entities), int(d.Relations)
	r.Malformed, r.FailedChunks = int(d.Malformed), int(d.Failed)
}

// Report is the outcome of an Insert, Resume or Retry: one row per document in
// the order given, those taken up from earlier calls last.
type Report struct {
	Documents []DocumentReport
	Usage     llm.Usage // calls made
	Cached    int       // calls that the cache answered
	Stale     int       // roots whose vector or summary is still to be made
	StaleErr  error     // why, if it was tried
	Merged    int       // entities that Options.ResolveEntities merged into others
}

// Count returns the number of documents with that status.
func (r *Report) Count(s DocumentStatus) int {
	n := 0
	for i := range r.Documents {
		if r.Documents[i].Status == s {
			n++
		}
	}
	return n
}

// DeleteReport is the outcome of DeleteDocuments.
type DeleteReport struct {
	Deleted  []string
	NotFound []string
	Answers  int // cached answers about committed chunks that went with them
	Stale    int // roots whose vector or summary is still to be made
}
