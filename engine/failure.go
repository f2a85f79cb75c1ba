package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lightctl/lightrag/graphstore"
)

const (
	failureBytes = 300 // of the reason that is stored with a chunk
	namedOrders  = 20  // chunks that an error lists
)

// ChunkFailure says why nothing could be extracted from one chunk. Its text is
// stored and found all the same; Retry asks for it again, and for it alone.
type ChunkFailure struct {
	Order int
	Err   error
}

// failure is what is stored of the reason.
func (r *chunkResult) failure() string {
	if r.failed == nil {
		return ""
	}
	return cutBytes(r.failed.Error(), failureBytes)
}

// failures lists the chunks without a usable answer, in their order.
func failures(chunks []graphstore.Chunk, results []chunkResult) []ChunkFailure {
	var out []ChunkFailure
	for i := range results {
		if err := results[i].failed; err != nil {
			out = append(out, ChunkFailure{int(chunks[i].Order), err})
		}
	}
	return out
}

// storedFailures is failures of a committed document.
func storedFailures(chunks []graphstore.Chunk) []ChunkFailure {
	var out []ChunkFailure
	for i := range chunks {
		if why := chunks[i].Failure; why != "" {
			out = append(out, ChunkFailure{int(chunks[i].Order), errors.New(why)})
		}
	}
	return out
}

// failedDocument is the error of a document that fails because of its chunks.
func failedDocument(list []ChunkFailure, chunks int) error {
	var orders []string
	for i := range list {
		if i == namedOrders {
			orders = append(orders, "...")
			break
		}
		orders = append(orders, fmt.Sprint(list[i].Order))
	}
	return fmt.Errorf("lightrag: %d of %d chunks could not be extracted (%s): %w", len(list), chunks, strings.Join(orders, ", "), list[0].Err)
}
