package graphstore

import (
	"github.com/cespare/xxhash/v2"

	"github.com/lightctl/lightrag/format"
)

// The counters row holds, beside the number of rows, the sum of the hashes of
// all rows that are read when a store opens: documents, chunk rows, entity
// names, pairs, records and overlays by key and value, fragments by key. Every batch
// changes the sum by what it writes. A table file that went missing without a
// trace shows as a sum that does not match.

// rowSum returns what a row counts for.
func rowSum(key, value []byte) uint64 {
	return xxhash.Sum64(key)*0x9e3779b97f4a7c15 ^ xxhash.Sum64(value)
}

// keySum returns what a row counts for whose value is not part of the sum.
func keySum(key []byte) uint64 { return xxhash.Sum64(key) }

// summed says whether rows of the table count, and whether by value.
func summed(t format.Table) (counts, byValue bool) {
	switch t {
	case format.TableDocuments, format.TableChunkRows, format.TableEntityNames, format.TablePairs, format.TableRecords,
		format.TableAliases, format.TableOverrides, format.TableMembers, format.TableHistory:
		return true, true
	case format.TableFragments:
		return true, false
	}
	return false, false
}
