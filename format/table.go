package format

import "fmt"

// Table is the first byte of every key: one table, one contiguous range.
type Table byte

// The tables of a store. The comment gives the rest of the key and the value.
const (
	TableDocuments     Table = 'd' // doc -> Document
	TableDocumentNames Table = 'D' // caller's id -> DocID
	TableOwners        Table = 'o' // doc -> DocumentOwners
	TableChunks        Table = 'c' // doc, order -> Chunk
	TableChunkRows     Table = 'C' // chunk -> ChunkRow
	TableNames         Table = 'n' // name -> EntityID
	TableEntityNames   Table = 'N' // entity -> name
	TablePairs         Table = 'p' // lo, hi -> RelationID
	TableFragments     Table = 'f' // kind, owner, fragment key -> Fragment
	TableDescriptions  Table = 'x' // kind, owner, hash, fragment key -> empty
	TableAggregates    Table = 'a' // kind, root -> Aggregate
	TableRecords       Table = 'r' // kind, root -> Record
	TableSummaries     Table = 's' // kind, root, level, first fragment key -> Summary
	TableAliases       Table = 'l' // name -> name of its root
	TableAliasNames    Table = 'L' // name of a root, name -> empty
	TableOverrides     Table = 'v' // kind, name or pair of names -> Override
	TableMembers       Table = 'y' // kind, raw owner -> Member
	TableGroups        Table = 'Y' // kind, root, raw owner -> empty
	TableHistory       Table = 'h' // change -> Change
	TableStale         Table = 'z' // kind, root -> Stale
	TableAdjacency     Table = 'g' // entity, shard -> adjacency shard
	TableBuffered      Table = 'b' // sequence -> BufferedVector
	TableSegments      Table = 'S' // uuid -> SegmentRow
	TableStaged        Table = 'w' // kind, owner -> StagedVector
	TableAnswers       Table = 'q' // hash -> Answer
	TablePostings      Table = 'i' // term, kind, shard -> postings
	TableMeta          Table = 'm' // name -> Counters, Identity, versions
)

var tableNames = [...]struct {
	table Table
	name  string
}{
	{TableDocuments, "documents"}, {TableDocumentNames, "document names"}, {TableOwners, "owners"},
	{TableChunks, "chunks"}, {TableChunkRows, "chunk rows"}, {TableNames, "names"},
	{TableEntityNames, "entity names"}, {TablePairs, "pairs"}, {TableFragments, "fragments"},
	{TableDescriptions, "descriptions"}, {TableAggregates, "aggregates"}, {TableRecords, "records"},
	{TableSummaries, "summaries"}, {TableAliases, "aliases"}, {TableAliasNames, "alias names"},
	{TableOverrides, "overrides"}, {TableMembers, "members"}, {TableGroups, "groups"}, {TableHistory, "history"},
	{TableStale, "stale"}, {TableAdjacency, "adjacency"}, {TableBuffered, "buffered vectors"},
	{TableSegments, "segments"}, {TableStaged, "staged vectors"}, {TableAnswers, "answers"},
	{TablePostings, "postings"}, {TableMeta, "meta"},
}

// Tables returns every table of this version, in the order of the list above.
func Tables() []Table {
	out := make([]Table, len(tableNames))
	for i, t := range tableNames {
		out[i] = t.table
	}
	return out
}

// String returns the table's name for messages and statistics.
func (t Table) String() string {
	for _, n := range tableNames {
		if n.table == t {
			return n.name
		}
	}
	return fmt.Sprintf("table(%#02x)", byte(t))
}

// TableBounds returns the range lower <= key < upper of one table, in fresh
// slices.
func TableBounds(t Table) (lower, upper []byte) {
	lower = []byte{byte(t)}
	return lower, PrefixEnd(lower)
}

// PrefixEnd returns the first key after every key that begins with prefix, in
// a fresh slice; nil (no upper bound) if prefix is empty or all 0xff.
func PrefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			end := append([]byte(nil), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}
