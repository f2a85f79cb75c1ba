package engine

import (
	"fmt"
	"time"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/llm"
)

// DocumentInfo is a stored document.
type DocumentInfo struct {
	ID        string
	Path      string
	Status    DocumentStatus
	Chunks    int
	Entities  int
	Relations int
	Malformed int
	Removed   int
	Failed    int            // chunks without a usable answer
	Failures  []ChunkFailure // these chunks, by order; of processed documents, from Document only
	Error     string
	Created   time.Time
	Updated   time.Time
	Metadata  map[string]string
	Usage     llm.Usage // model calls for it so far, over all attempts; summaries belong to no document
}

// Documents returns all documents in the order they were accepted.
func (db *DB) Documents() ([]DocumentInfo, error) {
	v, err := db.store.View()
	if err != nil {
		return nil, fmt.Errorf("lightrag: documents: %w", within(err))
	}
	defer v.Close()
	var out []DocumentInfo
	err = v.Documents(func(id format.DocID, d format.Document) error {
		out = append(out, db.documentInfo(id, &d))
		return nil
	})
	return out, err
}

// Document returns one document and the ids and texts of its chunks.
func (db *DB) Document(id string) (*DocumentInfo, []ChunkHit, error) {
	v, err := db.store.View()
	if err != nil {
		return nil, nil, fmt.Errorf("lightrag: document %q: %w", id, within(err))
	}
	defer v.Close()
	doc, d, ok, err := v.FindDocument(id)
	if err == nil && !ok {
		err = ErrNotFound
	}
	if err != nil {
		return nil, nil, fmt.Errorf("lightrag: document %q: %w", id, within(err))
	}
	rows, err := v.DocumentChunks(doc)
	if err != nil {
		return nil, nil, fmt.Errorf("lightrag: document %q: %w", id, within(err))
	}
	chunks := make([]ChunkHit, len(rows))
	for i := range rows {
		c := &rows[i]
		chunks[i] = ChunkHit{
			ID: fmt.Sprintf("%s#%d", id, c.Order), Doc: id, Path: c.Path, Order: int(c.Order), Content: c.Text,
		}
	}
	info := db.documentInfo(doc, &d)
	info.Failures = storedFailures(rows)
	return &info, chunks, nil
}

func (db *DB) documentInfo(id format.DocID, d *format.Document) DocumentInfo {
	status := map[format.DocumentStatus]DocumentStatus{
		format.StatusPending:    StatusPending,
		format.StatusProcessing: StatusProcessing,
		format.StatusProcessed:  StatusProcessed,
		format.StatusFailed:     StatusFailed,
	}[d.Status]
	if status == StatusPending && db.processing(id) {
		status = StatusProcessing
	}
	return DocumentInfo{
		ID: d.ID, Path: d.Path, Status: status, Chunks: int(d.Chunks), Entities: int(d.Entities),
		Relations: int(d.Relations), Malformed: int(d.Malformed), Removed: int(d.Removed), Failed: int(d.Failed),
		Error: d.Error, Created: time.Unix(d.Created, 0).UTC(), Updated: time.Unix(d.Updated, 0).UTC(), Metadata: d.Metadata,
		Usage: llm.Usage{
			Calls: int(d.Calls), PromptTokens: int(d.PromptTokens), CachedTokens: int(d.CachedTokens), CompletionTokens: int(d.CompletionTokens),
		},
	}
}
