package format

// Every Decode function sets all fields of v, zero where the bytes say
// nothing. Strings are copied from b. Slices of v are reused as far as their
// capacity goes: whoever keeps a slice from one call to the next gives each
// call its own struct. After an error v holds nothing of use. Errors match
// ErrCorrupt or ErrTooNew.

// DecodeDocument reads what AppendDocument wrote. Metadata is always a fresh
// map, nil if there is none.
func DecodeDocument(b []byte, v *Document) error {
	old := *v
	*v = Document{}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.ID = f.string(old.ID)
		case 2:
			v.Path = f.string(old.Path)
		case 3:
			v.Hash = f.hash()
		case 4:
			v.Status = DocumentStatus(f.uint8())
		case 5:
			v.Generation = f.uint32()
		case 6:
			v.Chunks = f.uint32()
		case 7:
			v.Entities = f.uint32()
		case 8:
			v.Relations = f.uint32()
		case 9:
			v.Malformed = f.uint32()
		case 10:
			v.Removed = f.uint32()
		case 11:
			v.Failed = f.uint32()
		case 12:
			v.Error = f.string(old.Error)
		case 13:
			v.Created = f.int64()
		case 14:
			v.Updated = f.int64()
		case 15:
			v.Metadata = f.stringMap()
		case 16:
			v.Calls = f.uint64()
		case 17:
			v.PromptTokens = f.uint64()
		case 18:
			v.CachedTokens = f.uint64()
		case 19:
			v.CompletionTokens = f.uint64()
		default:
			f.skip()
		}
	}
	return f.close("document")
}

// DecodeChunk reads what AppendChunk wrote.
func DecodeChunk(b []byte, v *Chunk) error {
	old := *v
	*v = Chunk{}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.ID = ChunkID(f.uint32())
		case 2:
			v.Path = f.string(old.Path)
		case 3:
			v.Tokens = f.uint32()
		case 4:
			v.Text = f.string(old.Text)
		default:
			f.skip()
		}
	}
	return f.close("chunk")
}

// DecodeChunkRow reads what AppendChunkRow wrote.
func DecodeChunkRow(b []byte, v *ChunkRow) error {
	failure := v.Failure
	*v = ChunkRow{Keywords: v.Keywords[:0], CacheKeys: v.CacheKeys[:0]}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.Doc = DocID(f.uint32())
		case 2:
			v.Order = f.uint32()
		case 3:
			v.VectorVersion = f.uint32()
		case 4:
			v.LineTokens = f.uint32()
		case 5:
			v.Keywords = f.strings(v.Keywords)
		case 6:
			v.CacheKeys = f.hashes(v.CacheKeys)
		case 7:
			v.Malformed = f.uint32()
		case 8:
			v.Failure = f.string(failure)
		default:
			f.skip()
		}
	}
	return f.close("chunk row")
}

// DecodeFragment reads what AppendFragment wrote.
func DecodeFragment(b []byte, v *Fragment) error {
	old := *v
	*v = Fragment{Keywords: old.Keywords[:0]}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.Class = Class(f.uint8())
		case 2:
			v.Chunk = ChunkID(f.uint32())
		case 3:
			v.Type = f.string(old.Type)
		case 4:
			v.Description = f.string(old.Description)
		case 5:
			v.Keywords = f.strings(v.Keywords)
		case 6:
			v.Weight = f.int64()
		case 7:
			v.Relation = RelationID(f.uint32())
		default:
			f.skip()
		}
	}
	return f.close("fragment")
}

// DecodeAggregate reads what AppendAggregate wrote.
func DecodeAggregate(b []byte, v *Aggregate) error {
	*v = Aggregate{Types: v.Types[:0], Keywords: v.Keywords[:0]}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.Mentions = f.uint32()
		case 2:
			v.Extracted = f.uint32()
		case 3:
			v.Weight = f.int64()
		case 4:
			v.Types = f.counts(v.Types)
		case 5:
			v.Keywords = f.counts(v.Keywords)
		case 6:
			v.Distinct = f.uint32()
		case 7:
			v.Tokens = f.uint64()
		case 8:
			v.LastSeq = f.uint64()
		default:
			f.skip()
		}
	}
	return f.close("aggregate")
}

// DecodeRecord reads what AppendRecord wrote.
func DecodeRecord(b []byte, v *Record) error {
	old := *v
	*v = Record{Keywords: old.Keywords[:0]}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.Type = f.string(old.Type)
		case 2:
			v.Description = f.string(old.Description)
		case 3:
			v.Keywords = f.strings(v.Keywords)
		case 4:
			v.Weight = f.int64()
		case 5:
			v.LineTokens = f.uint32()
		case 6:
			v.TextHash = f.fixed8()
		case 7:
			v.VectorVersion = f.uint32()
		case 8:
			v.VectorHash = f.fixed8()
		case 9:
			v.Pending = f.bool()
		case 10:
			v.Curated = Fields(f.uint32())
		case 11:
			v.Sole = DocID(f.uint32())
		default:
			f.skip()
		}
	}
	return f.close("record")
}

// DecodeSummary reads what AppendSummary wrote.
func DecodeSummary(b []byte, v *Summary) error {
	old := *v
	*v = Summary{}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.Last = f.fragmentKey()
		case 2:
			v.Input = f.hash()
		case 3:
			v.Model = f.string(old.Model)
		case 4:
			v.Text = f.string(old.Text)
		default:
			f.skip()
		}
	}
	return f.close("summary")
}

// DecodeOverride reads what AppendOverride wrote.
func DecodeOverride(b []byte, v *Override) error {
	old := *v
	*v = Override{Keywords: old.Keywords[:0]}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.Mask = Fields(f.uint32())
		case 2:
			v.Type = f.string(old.Type)
		case 3:
			v.Description = f.string(old.Description)
		case 4:
			v.Keywords = f.strings(v.Keywords)
		case 5:
			v.Weight = f.int64()
		case 6:
			v.Copied = Fields(f.uint32())
		default:
			f.skip()
		}
	}
	return f.close("override")
}

// DecodeAnswer reads what AppendAnswer wrote.
func DecodeAnswer(b []byte, v *Answer) error {
	old := *v
	*v = Answer{}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.Text = f.string(old.Text)
		case 2:
			v.PromptTokens = f.uint32()
		case 3:
			v.CachedTokens = f.uint32()
		case 4:
			v.CompletionTokens = f.uint32()
		case 5:
			v.Task = f.uint8()
		case 6:
			v.Created = f.int64()
		default:
			f.skip()
		}
	}
	return f.close("answer")
}

// DecodeCounters reads what AppendCounters wrote.
func DecodeCounters(b []byte, v *Counters) error {
	*v = Counters{}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.Commit = f.uint64()
		case 2:
			v.NextDoc = DocID(f.uint32())
		case 3:
			v.NextChunk = ChunkID(f.uint32())
		case 4:
			v.NextEntity = EntityID(f.uint32())
		case 5:
			v.NextRelation = RelationID(f.uint32())
		case 6:
			v.NextVersion = f.uint32()
		case 7:
			v.NextBuffered = f.uint64()
		case 8:
			v.Documents = f.uint64()
		case 9:
			v.Chunks = f.uint64()
		case 10:
			v.Entities = f.uint64()
		case 11:
			v.Relations = f.uint64()
		case 12:
			v.Fragments = f.uint64()
		case 13:
			v.Segments = f.uint64()
		case 14:
			v.Sum = f.fixed8()
		case 15:
			v.Names = f.uint64()
		case 16:
			v.Pairs = f.uint64()
		case 17:
			v.Aliases = f.uint64()
		case 18:
			v.Overrides = f.uint64()
		case 19:
			v.Members = f.uint64()
		case 20:
			v.Changes = f.uint64()
		case 21:
			v.NextChange = f.uint32()
		default:
			f.skip()
		}
	}
	return f.close("counters")
}

// DecodeIdentity reads what AppendIdentity wrote.
func DecodeIdentity(b []byte, v *Identity) error {
	old := *v
	*v = Identity{}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.Embedder = f.string(old.Embedder)
		case 2:
			v.Dim = f.uint32()
		case 3:
			v.Checksum = f.string(old.Checksum)
		case 4:
			v.Tokenizer = f.string(old.Tokenizer)
		case 5:
			v.Created = f.int64()
		default:
			f.skip()
		}
	}
	return f.close("identity")
}
