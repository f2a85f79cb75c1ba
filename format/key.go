package format

import "encoding/binary"

// Keys sort, as bytes, like the tuples they are made of: a table byte, then
// big-endian integers of fixed width. A string stands raw; one that is not the
// last part holds no NUL and ends with one. Every Append function appends one key to
// dst and returns the extended slice; none fails.

var be = binary.BigEndian

// AppendDocumentKey appends the key of a Document row.
func AppendDocumentKey(dst []byte, doc DocID) []byte {
	return be.AppendUint32(append(dst, byte(TableDocuments)), uint32(doc))
}

// AppendDocumentNameKey appends the key that maps a caller's id to a DocID.
func AppendDocumentNameKey(dst []byte, id string) []byte {
	return append(append(dst, byte(TableDocumentNames)), id...)
}

// AppendOwnersKey appends the key of a DocumentOwners row.
func AppendOwnersKey(dst []byte, doc DocID) []byte {
	return be.AppendUint32(append(dst, byte(TableOwners)), uint32(doc))
}

// AppendChunkKey appends the key of a Chunk row; order counts from 0 within
// the document.
func AppendChunkKey(dst []byte, doc DocID, order uint32) []byte {
	return be.AppendUint32(AppendChunkPrefix(dst, doc), order)
}

// AppendChunkPrefix appends the common prefix of a document's Chunk rows.
func AppendChunkPrefix(dst []byte, doc DocID) []byte {
	return be.AppendUint32(append(dst, byte(TableChunks)), uint32(doc))
}

// AppendChunkRowKey appends the key of a ChunkRow.
func AppendChunkRowKey(dst []byte, chunk ChunkID) []byte {
	return be.AppendUint32(append(dst, byte(TableChunkRows)), uint32(chunk))
}

// AppendNameKey appends the key that maps a normalised name to an EntityID.
func AppendNameKey(dst []byte, name string) []byte {
	return append(append(dst, byte(TableNames)), name...)
}

// AppendEntityNameKey appends the key that maps an entity to its name.
func AppendEntityNameKey(dst []byte, entity EntityID) []byte {
	return be.AppendUint32(append(dst, byte(TableEntityNames)), uint32(entity))
}

// AppendPairKey appends the key that maps a pair of entities to a RelationID.
// A relation has no direction: the ids are put in ascending order. There are
// no self loops, and DecodePairKey refuses the key of one.
func AppendPairKey(dst []byte, lo, hi EntityID) []byte {
	if lo > hi {
		lo, hi = hi, lo
	}
	dst = be.AppendUint32(append(dst, byte(TablePairs)), uint32(lo))
	return be.AppendUint32(dst, uint32(hi))
}

// AppendFragmentKey appends the key of a Fragment row.
func AppendFragmentKey(dst []byte, kind Kind, owner uint32, key FragmentKey) []byte {
	return appendFragment(AppendFragmentPrefix(dst, kind, owner), key)
}

// AppendFragmentPrefix appends the common prefix of an owner's Fragment rows,
// which sort in canonical order.
func AppendFragmentPrefix(dst []byte, kind Kind, owner uint32) []byte {
	return appendOwner(dst, TableFragments, kind, owner)
}

// AppendDescriptionKey appends the key of one use of one description; hash is
// 128 bits of the description's text.
func AppendDescriptionKey(dst []byte, kind Kind, owner uint32, hash [16]byte, key FragmentKey) []byte {
	return appendFragment(AppendDescriptionPrefix(dst, kind, owner, hash), key)
}

// AppendDescriptionPrefix appends the common prefix of the uses of one
// description by one owner.
func AppendDescriptionPrefix(dst []byte, kind Kind, owner uint32, hash [16]byte) []byte {
	return append(appendOwner(dst, TableDescriptions, kind, owner), hash[:]...)
}

// AppendAggregateKey appends the key of an Aggregate row.
func AppendAggregateKey(dst []byte, kind Kind, root uint32) []byte {
	return appendOwner(dst, TableAggregates, kind, root)
}

// AppendRecordKey appends the key of a Record row.
func AppendRecordKey(dst []byte, kind Kind, root uint32) []byte {
	return appendOwner(dst, TableRecords, kind, root)
}

// AppendSummaryKey appends the key of a Summary row; first is the first
// fragment that it covers.
func AppendSummaryKey(dst []byte, kind Kind, root uint32, level uint8, first FragmentKey) []byte {
	return appendFragment(append(AppendSummaryPrefix(dst, kind, root), level), first)
}

// AppendSummaryPrefix appends the common prefix of an owner's Summary rows,
// which sort by level and then by first fragment.
func AppendSummaryPrefix(dst []byte, kind Kind, root uint32) []byte {
	return appendOwner(dst, TableSummaries, kind, root)
}

// AppendAliasKey appends the key that maps the name of a merged or renamed
// entity to the name of its root.
func AppendAliasKey(dst []byte, name string) []byte {
	return append(append(dst, byte(TableAliases)), name...)
}

// AppendAliasNameKey appends the key that says that name is an alias of root,
// which holds no NUL.
func AppendAliasNameKey(dst []byte, root, name string) []byte {
	return append(AppendAliasNamePrefix(dst, root), name...)
}

// AppendAliasNamePrefix appends the common prefix of the aliases of a root.
func AppendAliasNamePrefix(dst []byte, root string) []byte {
	return append(append(append(dst, byte(TableAliasNames)), root...), 0)
}

// AppendOverrideKey appends the key of an Override row. The owner is the name
// of an entity, or the two names of a relation as PairName joins them.
func AppendOverrideKey(dst []byte, kind Kind, owner string) []byte {
	return append(append(dst, byte(TableOverrides), byte(kind)), owner...)
}

// PairName joins two names with a NUL, which neither holds.
func PairName(a, b string) string { return a + "\x00" + b }

// AppendMemberKey appends the key of a Member row.
func AppendMemberKey(dst []byte, kind Kind, raw uint32) []byte {
	return appendOwner(dst, TableMembers, kind, raw)
}

// AppendGroupKey appends the key that says that a raw owner belongs to a root.
// The kind HiddenKind lists, under an entity, the relations that have become
// relations of the entity with itself.
func AppendGroupKey(dst []byte, kind Kind, root, raw uint32) []byte {
	return be.AppendUint32(AppendGroupPrefix(dst, kind, root), raw)
}

// AppendGroupPrefix appends the common prefix of the raw owners of a root.
func AppendGroupPrefix(dst []byte, kind Kind, root uint32) []byte {
	return appendOwner(dst, TableGroups, kind, root)
}

// HiddenKind stands in group keys for relations without a root.
const HiddenKind Kind = 0

// AppendHistoryKey appends the key of a Change row.
func AppendHistoryKey(dst []byte, change uint32) []byte {
	return be.AppendUint32(append(dst, byte(TableHistory)), change)
}

// AppendStagedKey appends the key of a StagedVector.
func AppendStagedKey(dst []byte, kind Kind, owner uint32) []byte {
	return appendOwner(dst, TableStaged, kind, owner)
}

// AppendStaleKey appends the key of a Stale row.
func AppendStaleKey(dst []byte, kind Kind, root uint32) []byte {
	return appendOwner(dst, TableStale, kind, root)
}

// AppendAdjacencyKey appends the key of the shard that holds those neighbours
// of entity whose high 16 bits are shard.
func AppendAdjacencyKey(dst []byte, entity EntityID, shard uint16) []byte {
	return be.AppendUint16(AppendAdjacencyPrefix(dst, entity), shard)
}

// AppendAdjacencyPrefix appends the common prefix of an entity's shards.
func AppendAdjacencyPrefix(dst []byte, entity EntityID) []byte {
	return be.AppendUint32(append(dst, byte(TableAdjacency)), uint32(entity))
}

// AppendBufferedKey appends the key of a BufferedVector row.
func AppendBufferedKey(dst []byte, seq uint64) []byte {
	return be.AppendUint64(append(dst, byte(TableBuffered)), seq)
}

// AppendSegmentKey appends the key of a SegmentRow.
func AppendSegmentKey(dst []byte, uuid [16]byte) []byte {
	return append(append(dst, byte(TableSegments)), uuid[:]...)
}

// AppendAnswerKey appends the key of an Answer row.
func AppendAnswerKey(dst []byte, hash [32]byte) []byte {
	return append(append(dst, byte(TableAnswers)), hash[:]...)
}

// MaxTermBytes is the length of the longest term that a postings key holds.
const MaxTermBytes = 255

// AppendPostingsKey appends the key of the row that says which owners of a
// shard, as PostingsShard numbers them, have a term: 1 to MaxTermBytes bytes
// without NUL.
func AppendPostingsKey(dst []byte, kind Kind, term string, shard uint32) []byte {
	return be.AppendUint16(append(AppendPostingsPrefix(dst, kind, term), byte(shard>>16)), uint16(shard))
}

// AppendPostingsPrefix appends the common prefix of the rows of a term among
// owners of a kind. The kind comes after the term: a document has most of its
// terms in owners of several kinds, and rows side by side are written and read
// together.
func AppendPostingsPrefix(dst []byte, kind Kind, term string) []byte {
	return append(append(append(dst, byte(TablePostings)), term...), 0, byte(kind))
}

// AppendMetaKey appends the key of a named row of the meta table.
func AppendMetaKey(dst []byte, name string) []byte {
	return append(append(dst, byte(TableMeta)), name...)
}

const (
	ownerSize    = 5  // kind, owner
	fragmentSize = 11 // doc, order, pass, index
)

func appendOwner(dst []byte, t Table, kind Kind, owner uint32) []byte {
	return be.AppendUint32(append(dst, byte(t), byte(kind)), owner)
}

func appendFragment(dst []byte, k FragmentKey) []byte {
	dst = be.AppendUint32(dst, uint32(k.Doc))
	dst = be.AppendUint32(dst, k.Order)
	return be.AppendUint16(append(dst, k.Pass), k.Index)
}
