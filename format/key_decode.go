package format

import (
	"bytes"
	"strings"
)

// Decoders of keys are strict: the table byte and the length must be right.
// Their errors match ErrCorrupt.

// DecodeDocumentKey is the inverse of AppendDocumentKey.
func DecodeDocumentKey(key []byte) (DocID, error) {
	id, err := decodeID(key, TableDocuments)
	return DocID(id), err
}

// DecodeDocumentNameKey is the inverse of AppendDocumentNameKey.
func DecodeDocumentNameKey(key []byte) (string, error) {
	return decodeName(key, TableDocumentNames)
}

// DecodeOwnersKey is the inverse of AppendOwnersKey.
func DecodeOwnersKey(key []byte) (DocID, error) {
	id, err := decodeID(key, TableOwners)
	return DocID(id), err
}

// DecodeChunkKey is the inverse of AppendChunkKey.
func DecodeChunkKey(key []byte) (doc DocID, order uint32, err error) {
	b, err := keyBody(key, TableChunks, 8)
	if err != nil {
		return 0, 0, err
	}
	return DocID(be.Uint32(b)), be.Uint32(b[4:]), nil
}

// DecodeChunkRowKey is the inverse of AppendChunkRowKey.
func DecodeChunkRowKey(key []byte) (ChunkID, error) {
	id, err := decodeID(key, TableChunkRows)
	return ChunkID(id), err
}

// DecodeNameKey is the inverse of AppendNameKey.
func DecodeNameKey(key []byte) (string, error) {
	return decodeName(key, TableNames)
}

// DecodeEntityNameKey is the inverse of AppendEntityNameKey.
func DecodeEntityNameKey(key []byte) (EntityID, error) {
	id, err := decodeID(key, TableEntityNames)
	return EntityID(id), err
}

// DecodePairKey is the inverse of AppendPairKey; lo < hi.
func DecodePairKey(key []byte) (lo, hi EntityID, err error) {
	b, err := keyBody(key, TablePairs, 8)
	if err != nil {
		return 0, 0, err
	}
	lo, hi = EntityID(be.Uint32(b)), EntityID(be.Uint32(b[4:]))
	if lo >= hi {
		return 0, 0, corruptf("key of %s: %d, %d not ascending", TablePairs, lo, hi)
	}
	return lo, hi, nil
}

// DecodeFragmentKey is the inverse of AppendFragmentKey.
func DecodeFragmentKey(key []byte) (kind Kind, owner uint32, frag FragmentKey, err error) {
	b, err := keyBody(key, TableFragments, ownerSize+fragmentSize)
	if err != nil {
		return 0, 0, FragmentKey{}, err
	}
	return Kind(b[0]), be.Uint32(b[1:]), decodeFragmentKey(b[ownerSize:]), nil
}

// DecodeDescriptionKey is the inverse of AppendDescriptionKey.
func DecodeDescriptionKey(key []byte) (kind Kind, owner uint32, hash [16]byte, frag FragmentKey, err error) {
	b, err := keyBody(key, TableDescriptions, ownerSize+16+fragmentSize)
	if err != nil {
		return 0, 0, hash, FragmentKey{}, err
	}
	copy(hash[:], b[ownerSize:])
	return Kind(b[0]), be.Uint32(b[1:]), hash, decodeFragmentKey(b[ownerSize+16:]), nil
}

// DecodeAggregateKey is the inverse of AppendAggregateKey.
func DecodeAggregateKey(key []byte) (kind Kind, root uint32, err error) {
	return decodeOwner(key, TableAggregates)
}

// DecodeRecordKey is the inverse of AppendRecordKey.
func DecodeRecordKey(key []byte) (kind Kind, root uint32, err error) {
	return decodeOwner(key, TableRecords)
}

// DecodeSummaryKey is the inverse of AppendSummaryKey.
func DecodeSummaryKey(key []byte) (kind Kind, root uint32, level uint8, first FragmentKey, err error) {
	b, err := keyBody(key, TableSummaries, ownerSize+1+fragmentSize)
	if err != nil {
		return 0, 0, 0, FragmentKey{}, err
	}
	return Kind(b[0]), be.Uint32(b[1:]), b[ownerSize], decodeFragmentKey(b[ownerSize+1:]), nil
}

// DecodeAliasKey is the inverse of AppendAliasKey.
func DecodeAliasKey(key []byte) (name string, err error) {
	return decodeName(key, TableAliases)
}

// DecodeAliasNameKey is the inverse of AppendAliasNameKey.
func DecodeAliasNameKey(key []byte) (root, name string, err error) {
	s, err := decodeName(key, TableAliasNames)
	if err != nil {
		return "", "", err
	}
	root, name, ok := strings.Cut(s, "\x00")
	if !ok || root == "" {
		return "", "", keyError(key, TableAliasNames)
	}
	return root, name, nil
}

// DecodeOverrideKey is the inverse of AppendOverrideKey.
func DecodeOverrideKey(key []byte) (kind Kind, owner string, err error) {
	s, err := decodeName(key, TableOverrides)
	if err == nil && s == "" {
		err = keyError(key, TableOverrides)
	}
	if err != nil {
		return 0, "", err
	}
	return Kind(s[0]), s[1:], nil
}

// DecodeMemberKey is the inverse of AppendMemberKey.
func DecodeMemberKey(key []byte) (kind Kind, raw uint32, err error) {
	return decodeOwner(key, TableMembers)
}

// DecodeGroupKey is the inverse of AppendGroupKey.
func DecodeGroupKey(key []byte) (kind Kind, root, raw uint32, err error) {
	b, err := keyBody(key, TableGroups, ownerSize+4)
	if err != nil {
		return 0, 0, 0, err
	}
	return Kind(b[0]), be.Uint32(b[1:]), be.Uint32(b[ownerSize:]), nil
}

// DecodeHistoryKey is the inverse of AppendHistoryKey.
func DecodeHistoryKey(key []byte) (change uint32, err error) {
	return decodeID(key, TableHistory)
}

// DecodeStagedKey is the inverse of AppendStagedKey.
func DecodeStagedKey(key []byte) (kind Kind, owner uint32, err error) {
	return decodeOwner(key, TableStaged)
}

// DecodeStaleKey is the inverse of AppendStaleKey.
func DecodeStaleKey(key []byte) (kind Kind, root uint32, err error) {
	return decodeOwner(key, TableStale)
}

// DecodeAdjacencyKey is the inverse of AppendAdjacencyKey.
func DecodeAdjacencyKey(key []byte) (entity EntityID, shard uint16, err error) {
	b, err := keyBody(key, TableAdjacency, 6)
	if err != nil {
		return 0, 0, err
	}
	return EntityID(be.Uint32(b)), be.Uint16(b[4:]), nil
}

// DecodeBufferedKey is the inverse of AppendBufferedKey.
func DecodeBufferedKey(key []byte) (seq uint64, err error) {
	b, err := keyBody(key, TableBuffered, 8)
	if err != nil {
		return 0, err
	}
	return be.Uint64(b), nil
}

// DecodeSegmentKey is the inverse of AppendSegmentKey.
func DecodeSegmentKey(key []byte) (uuid [16]byte, err error) {
	b, err := keyBody(key, TableSegments, 16)
	copy(uuid[:], b)
	return uuid, err
}

// DecodeAnswerKey is the inverse of AppendAnswerKey.
func DecodeAnswerKey(key []byte) (hash [32]byte, err error) {
	b, err := keyBody(key, TableAnswers, 32)
	copy(hash[:], b)
	return hash, err
}

// DecodePostingsKey is the inverse of AppendPostingsKey. The term aliases key.
func DecodePostingsKey(key []byte) (kind Kind, term []byte, shard uint32, err error) {
	end := len(key) - 5 // of the term: a NUL, the kind and the shard follow
	if end < 2 || end > 1+MaxTermBytes || key[0] != byte(TablePostings) || bytes.IndexByte(key[1:], 0) != end-1 {
		return 0, nil, 0, keyError(key, TablePostings)
	}
	return Kind(key[end+1]), key[1:end], uint32(key[end+2])<<16 | uint32(be.Uint16(key[end+3:])), nil
}

// DecodeMetaKey is the inverse of AppendMetaKey.
func DecodeMetaKey(key []byte) (string, error) {
	return decodeName(key, TableMeta)
}

// keyBody returns what follows the table byte, which must be size bytes.
func keyBody(key []byte, t Table, size int) ([]byte, error) {
	if len(key) != 1+size || key[0] != byte(t) {
		return nil, keyError(key, t)
	}
	return key[1:], nil
}

func decodeID(key []byte, t Table) (uint32, error) {
	b, err := keyBody(key, t, 4)
	if err != nil {
		return 0, err
	}
	return be.Uint32(b), nil
}

func decodeOwner(key []byte, t Table) (Kind, uint32, error) {
	b, err := keyBody(key, t, ownerSize)
	if err != nil {
		return 0, 0, err
	}
	return Kind(b[0]), be.Uint32(b[1:]), nil
}

func decodeName(key []byte, t Table) (string, error) {
	if len(key) == 0 || key[0] != byte(t) {
		return "", keyError(key, t)
	}
	return string(key[1:]), nil
}

// decodeFragmentKey reads fragmentSize bytes, which the caller has checked.
func decodeFragmentKey(b []byte) FragmentKey {
	_ = b[fragmentSize-1]
	return FragmentKey{
		Doc:   DocID(be.Uint32(b)),
		Order: be.Uint32(b[4:]),
		Pass:  b[8],
		Index: be.Uint16(b[9:]),
	}
}

func keyError(key []byte, t Table) error {
	if len(key) == 0 {
		return corruptf("key of %s: empty", t)
	}
	return corruptf("key of %s: first byte %#02x, %d bytes", t, key[0], len(key))
}
