package format

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
)

// Encoded records are a version byte, then the fields that are not zero in
// ascending order of their numbers. The same struct always gives the same
// bytes. Numbers are never reused; 30 and 31 are kept in every record for the
// time during which a fact holds (valid_from, valid_to).

// AppendDocument appends the encoding of v to dst.
func AppendDocument(dst []byte, v *Document) []byte {
	dst = append(dst, RecordVersion)
	dst = appendString(dst, 1, v.ID)
	dst = appendString(dst, 2, v.Path)
	dst = appendHash(dst, 3, &v.Hash)
	dst = appendUint(dst, 4, uint64(v.Status))
	dst = appendUint(dst, 5, uint64(v.Generation))
	dst = appendUint(dst, 6, uint64(v.Chunks))
	dst = appendUint(dst, 7, uint64(v.Entities))
	dst = appendUint(dst, 8, uint64(v.Relations))
	dst = appendUint(dst, 9, uint64(v.Malformed))
	dst = appendUint(dst, 10, uint64(v.Removed))
	dst = appendUint(dst, 11, uint64(v.Failed))
	dst = appendString(dst, 12, v.Error)
	dst = appendInt(dst, 13, v.Created)
	dst = appendInt(dst, 14, v.Updated)
	dst = appendStringMap(dst, 15, v.Metadata)
	dst = appendUint(dst, 16, v.Calls)
	dst = appendUint(dst, 17, v.PromptTokens)
	dst = appendUint(dst, 18, v.CachedTokens)
	return appendUint(dst, 19, v.CompletionTokens)
}

func appendStringMap(dst []byte, field int, m map[string]string) []byte {
	if len(m) == 0 {
		return dst
	}
	keys := slices.Sorted(maps.Keys(m))
	size := uvarintLen(uint64(len(keys)))
	for _, k := range keys {
		size += textLen(k) + textLen(m[k])
	}
	dst = appendBytesHead(dst, field, size)
	dst = binary.AppendUvarint(dst, uint64(len(keys)))
	for _, k := range keys {
		dst = appendText(appendText(dst, k), m[k])
	}
	return dst
}

// AppendChunk appends the encoding of v to dst.
func AppendChunk(dst []byte, v *Chunk) []byte {
	dst = append(dst, RecordVersion)
	dst = appendUint(dst, 1, uint64(v.ID))
	dst = appendString(dst, 2, v.Path)
	dst = appendUint(dst, 3, uint64(v.Tokens))
	return appendString(dst, 4, v.Text)
}

// AppendChunkRow appends the encoding of v to dst.
func AppendChunkRow(dst []byte, v *ChunkRow) []byte {
	dst = append(dst, RecordVersion)
	dst = appendUint(dst, 1, uint64(v.Doc))
	dst = appendUint(dst, 2, uint64(v.Order))
	dst = appendUint(dst, 3, uint64(v.VectorVersion))
	dst = appendUint(dst, 4, uint64(v.LineTokens))
	dst = appendStrings(dst, 5, v.Keywords)
	if len(v.CacheKeys) > 0 {
		dst = appendBytesHead(dst, 6, 32*len(v.CacheKeys))
		for i := range v.CacheKeys {
			dst = append(dst, v.CacheKeys[i][:]...)
		}
	}
	dst = appendUint(dst, 7, uint64(v.Malformed))
	return appendString(dst, 8, v.Failure)
}

// AppendFragment appends the encoding of v to dst.
func AppendFragment(dst []byte, v *Fragment) []byte {
	dst = append(dst, RecordVersion)
	dst = appendUint(dst, 1, uint64(v.Class))
	dst = appendUint(dst, 2, uint64(v.Chunk))
	dst = appendString(dst, 3, v.Type)
	dst = appendString(dst, 4, v.Description)
	dst = appendStrings(dst, 5, v.Keywords)
	dst = appendInt(dst, 6, v.Weight)
	return appendUint(dst, 7, uint64(v.Relation))
}

// AppendAggregate appends the encoding of v to dst.
func AppendAggregate(dst []byte, v *Aggregate) []byte {
	dst = append(dst, RecordVersion)
	dst = appendUint(dst, 1, uint64(v.Mentions))
	dst = appendUint(dst, 2, uint64(v.Extracted))
	dst = appendInt(dst, 3, v.Weight)
	dst = appendCounts(dst, 4, v.Types)
	dst = appendCounts(dst, 5, v.Keywords)
	dst = appendUint(dst, 6, uint64(v.Distinct))
	dst = appendUint(dst, 7, v.Tokens)
	return appendUint(dst, 8, v.LastSeq)
}

// AppendRecord appends the encoding of v to dst.
func AppendRecord(dst []byte, v *Record) []byte {
	dst = append(dst, RecordVersion)
	dst = appendString(dst, 1, v.Type)
	dst = appendString(dst, 2, v.Description)
	dst = appendStrings(dst, 3, v.Keywords)
	dst = appendInt(dst, 4, v.Weight)
	dst = appendUint(dst, 5, uint64(v.LineTokens))
	dst = appendFixed8(dst, 6, v.TextHash)
	dst = appendUint(dst, 7, uint64(v.VectorVersion))
	dst = appendFixed8(dst, 8, v.VectorHash)
	dst = appendBool(dst, 9, v.Pending)
	dst = appendUint(dst, 10, uint64(v.Curated))
	return appendUint(dst, 11, uint64(v.Sole))
}

// AppendSummary appends the encoding of v to dst.
func AppendSummary(dst []byte, v *Summary) []byte {
	dst = append(dst, RecordVersion)
	if v.Last != (FragmentKey{}) {
		dst = appendFragment(appendBytesHead(dst, 1, fragmentSize), v.Last)
	}
	dst = appendHash(dst, 2, &v.Input)
	dst = appendString(dst, 3, v.Model)
	return appendString(dst, 4, v.Text)
}

// AppendOverride appends the encoding of v to dst.
func AppendOverride(dst []byte, v *Override) []byte {
	dst = append(dst, RecordVersion)
	dst = appendUint(dst, 1, uint64(v.Mask))
	dst = appendString(dst, 2, v.Type)
	dst = appendString(dst, 3, v.Description)
	dst = appendStrings(dst, 4, v.Keywords)
	dst = appendInt(dst, 5, v.Weight)
	return appendUint(dst, 6, uint64(v.Copied))
}

// AppendStale appends the encoding of v to dst.
func AppendStale(dst []byte, v *Stale) []byte {
	dst = append(dst, RecordVersion)
	dst = appendBool(dst, 1, v.Vector)
	return appendBool(dst, 2, v.Summary)
}

// AppendBufferedVector appends the encoding of v to dst. The bits of every
// float are kept, those of NaNs too.
func AppendBufferedVector(dst []byte, v *BufferedVector) []byte {
	dst = append(dst, RecordVersion)
	dst = appendUint(dst, 1, uint64(v.Kind))
	dst = appendUint(dst, 2, uint64(v.Owner))
	dst = appendUint(dst, 3, uint64(v.Version))
	return appendFloats(dst, 4, v.Vector)
}

// AppendStagedVector appends the encoding of v to dst, with every bit of its
// floats.
func AppendStagedVector(dst []byte, v *StagedVector) []byte {
	dst = append(dst, RecordVersion)
	dst = appendFixed8(dst, 1, v.TextHash)
	return appendFloats(dst, 2, v.Vector)
}

func appendFloats(dst []byte, field int, v []float32) []byte {
	if len(v) == 0 {
		return dst
	}
	dst = appendBytesHead(dst, field, 4*len(v))
	dst = slices.Grow(dst, 4*len(v))
	for _, x := range v {
		dst = le.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

// AppendSegmentRow appends the encoding of v to dst.
func AppendSegmentRow(dst []byte, v *SegmentRow) []byte {
	dst = append(dst, RecordVersion)
	dst = appendUint(dst, 1, uint64(v.Rows))
	dst = appendUint(dst, 2, uint64(v.Dim))
	dst = appendUint(dst, 3, v.Length)
	return appendUint(dst, 4, uint64(v.FooterCRC))
}

// AppendAnswer appends the encoding of v to dst.
func AppendAnswer(dst []byte, v *Answer) []byte {
	dst = append(dst, RecordVersion)
	dst = appendString(dst, 1, v.Text)
	dst = appendUint(dst, 2, uint64(v.PromptTokens))
	dst = appendUint(dst, 3, uint64(v.CachedTokens))
	dst = appendUint(dst, 4, uint64(v.CompletionTokens))
	dst = appendUint(dst, 5, uint64(v.Task))
	return appendInt(dst, 6, v.Created)
}

// AppendCounters appends the encoding of v to dst.
func AppendCounters(dst []byte, v *Counters) []byte {
	dst = append(dst, RecordVersion)
	dst = appendUint(dst, 1, v.Commit)
	dst = appendUint(dst, 2, uint64(v.NextDoc))
	dst = appendUint(dst, 3, uint64(v.NextChunk))
	dst = appendUint(dst, 4, uint64(v.NextEntity))
	dst = appendUint(dst, 5, uint64(v.NextRelation))
	dst = appendUint(dst, 6, uint64(v.NextVersion))
	dst = appendUint(dst, 7, v.NextBuffered)
	dst = appendUint(dst, 8, v.Documents)
	dst = appendUint(dst, 9, v.Chunks)
	dst = appendUint(dst, 10, v.Entities)
	dst = appendUint(dst, 11, v.Relations)
	dst = appendUint(dst, 12, v.Fragments)
	dst = appendUint(dst, 13, v.Segments)
	dst = appendFixed8(dst, 14, v.Sum)
	dst = appendUint(dst, 15, v.Names)
	dst = appendUint(dst, 16, v.Pairs)
	dst = appendUint(dst, 17, v.Aliases)
	dst = appendUint(dst, 18, v.Overrides)
	dst = appendUint(dst, 19, v.Members)
	dst = appendUint(dst, 20, v.Changes)
	return appendUint(dst, 21, uint64(v.NextChange))
}

// AppendIdentity appends the encoding of v to dst.
func AppendIdentity(dst []byte, v *Identity) []byte {
	dst = append(dst, RecordVersion)
	dst = appendString(dst, 1, v.Embedder)
	dst = appendUint(dst, 2, uint64(v.Dim))
	dst = appendString(dst, 3, v.Checksum)
	dst = appendString(dst, 4, v.Tokenizer)
	return appendInt(dst, 5, v.Created)
}

func appendCounts(dst []byte, field int, list []Count) []byte {
	if len(list) == 0 {
		return dst
	}
	size := uvarintLen(uint64(len(list)))
	for i := range list {
		size += textLen(list[i].Value) + uvarintLen(uint64(list[i].N))
	}
	dst = appendBytesHead(dst, field, size)
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for i := range list {
		dst = binary.AppendUvarint(appendText(dst, list[i].Value), uint64(list[i].N))
	}
	return dst
}
