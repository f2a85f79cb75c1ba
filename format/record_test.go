package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// recordCodec hides the type of one record from tests that treat all alike.
type recordCodec struct {
	name   string
	sample any                            // pointer to a struct with every field set
	fresh  func() any                     // pointer to a zero struct
	append func(dst []byte, v any) []byte // v as fresh returns it
	decode func(b []byte, v any) error    // v as fresh returns it
	draw   func(t *rapid.T) any           // random value
	equal  func(got, want any) bool       // bit-exact
}

func codecOf[T any](name string, sample T, enc func([]byte, *T) []byte, dec func([]byte, *T) error, draw func(*rapid.T) T) recordCodec {
	return recordCodec{
		name:   name,
		sample: &sample,
		fresh:  func() any { return new(T) },
		append: func(dst []byte, v any) []byte { return enc(dst, v.(*T)) },
		decode: func(b []byte, v any) error { return dec(b, v.(*T)) },
		draw:   func(t *rapid.T) any { v := draw(t); return &v },
		equal:  func(got, want any) bool { return sameValue(reflect.ValueOf(got), reflect.ValueOf(want)) },
	}
}

// sameValue is reflect.DeepEqual, but nil and empty lists are the same and
// floats compare by their bits.
func sameValue(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer:
		return sameValue(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if !sameValue(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !sameValue(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		return a.Len() == 0 && b.Len() == 0 || reflect.DeepEqual(a.Interface(), b.Interface())
	case reflect.Float32:
		return math.Float32bits(a.Interface().(float32)) == math.Float32bits(b.Interface().(float32))
	}
	return a.Equal(b)
}

var (
	hash1 = [32]byte{0: 1, 31: 9}
	hash2 = [32]byte{0xff, 0xfe}
	nan   = math.Float32frombits(0x7fa00001) // signalling, with a payload
)

var recordCodecs = []recordCodec{
	codecOf("document", Document{ID: "doc-1", Path: "a/b.txt", Hash: hash1, Status: StatusFailed, Generation: 2, Chunks: 3, Entities: 4,
		Relations: 5, Malformed: 6, Removed: 7, Failed: 8, Error: "no answer", Created: 1700000000, Updated: -1,
		Metadata: map[string]string{"lang": "de", "": "empty key", "author": ""},
		Calls:    9, PromptTokens: 1 << 40, CachedTokens: 10, CompletionTokens: 11}, AppendDocument, DecodeDocument, draw[Document]),
	codecOf("chunk", Chunk{ID: 7, Path: "p", Tokens: 300, Text: "Text with \x00 and \xff."}, AppendChunk, DecodeChunk, draw[Chunk]),
	codecOf("chunk row", ChunkRow{Doc: 1, Order: 2, VectorVersion: 3, LineTokens: 4, Keywords: []string{"a", "", "b"},
		CacheKeys: [][32]byte{hash1, {}, hash2}, Malformed: 5, Failure: "no records"}, AppendChunkRow, DecodeChunkRow, draw[ChunkRow]),
	codecOf("fragment", Fragment{Class: ClassExtracted, Chunk: 9, Type: "person", Description: "A person.", Keywords: []string{"k1", "k2"},
		Weight: -1500000, Relation: 77}, AppendFragment, DecodeFragment, draw[Fragment]),
	codecOf("aggregate", Aggregate{Mentions: 10, Extracted: 8, Weight: 12 * WeightScale, Types: []Count{{"org", 3}, {"person", 5}},
		Keywords: []Count{{"", 0}, {"x", 1 << 31}}, Distinct: 4, Tokens: 1 << 40, LastSeq: 1<<64 - 1}, AppendAggregate, DecodeAggregate, draw[Aggregate]),
	codecOf("record", Record{Type: "person", Description: "A long description of the entity.", Keywords: []string{"power", "trade"}, Weight: 3 * WeightScale,
		LineTokens: 55, TextHash: 0xdeadbeef12345678, VectorVersion: 12, VectorHash: 1, Pending: true, Curated: FieldType | FieldWeight, Sole: 3},
		AppendRecord, DecodeRecord, draw[Record]),
	codecOf("document owners", DocumentOwners{Fragments: []OwnerFragment{
		{KindEntity, 0, FragmentKey{5, 0, 0, 0}}, {KindEntity, 0, FragmentKey{5, 0, 1, 3}}, {KindEntity, 300, FragmentKey{5, 17, 0, 65535}},
		{KindEntity, 300, FragmentKey{6, 2, 0, 0}}, {KindRelation, 2, FragmentKey{5, 1<<32 - 1, 255, 1}}, {Kind(200), 1<<32 - 1, FragmentKey{5, 1, 0, 2}},
	}}, AppendDocumentOwners, DecodeDocumentOwners, drawOwners),
	codecOf("summary", Summary{Last: FragmentKey{1, 2, 3, 4}, Input: hash2, Model: "m", Text: "All of it."}, AppendSummary, DecodeSummary, draw[Summary]),
	codecOf("override", Override{Mask: 15, Copied: FieldDescription, Type: "t", Description: "d", Keywords: []string{"k"}, Weight: 5}, AppendOverride, DecodeOverride, draw[Override]),
	codecOf("member", Member{Root: 7, Hidden: true, Lo: 1, Hi: 300}, AppendMember, DecodeMember, draw[Member]),
	codecOf("change", Change{Kind: ChangeMerge, Of: KindEntity, Names: []string{"A", "B"}, Created: 1700000000, Undone: -1,
		Aliases:   []AliasEdit{{"A", "", "B"}, {"a", "A", "B"}},
		Overrides: []OverrideEdit{{KindRelation, "B\x00C", "", "\x01row"}}, Made: true, Reads: []string{"r", ""}, Writes: []string{"w"}},
		AppendChange, DecodeChange, draw[Change]),
	codecOf("stale", Stale{Vector: true, Summary: true}, AppendStale, DecodeStale, draw[Stale]),
	codecOf("buffered vector", BufferedVector{Kind: KindChunk, Owner: 4, Version: 5, Vector: []float32{0, 1, -1, nan, float32(math.Inf(-1)), math.SmallestNonzeroFloat32,
		math.Float32frombits(1 << 31)}}, AppendBufferedVector, DecodeBufferedVector, draw[BufferedVector]),
	codecOf("staged vector", StagedVector{TextHash: 1 << 63, Vector: []float32{0, -1, nan}}, AppendStagedVector, DecodeStagedVector, draw[StagedVector]),
	codecOf("segment row", SegmentRow{Rows: 1000, Dim: 768, Length: 1 << 33, FooterCRC: 0xabcdef01}, AppendSegmentRow, DecodeSegmentRow, draw[SegmentRow]),
	codecOf("answer", Answer{Text: "answer", PromptTokens: 1, CachedTokens: 2, CompletionTokens: 3, Task: 4, Created: 5}, AppendAnswer, DecodeAnswer, draw[Answer]),
	codecOf("counters", Counters{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}, AppendCounters, DecodeCounters, draw[Counters]),
	codecOf("identity", Identity{Embedder: "e", Dim: 384, Checksum: "c", Tokenizer: "t", Created: 99}, AppendIdentity, DecodeIdentity, draw[Identity]),
}

// draw makes a random T, with many zero fields.
func draw[T any](t *rapid.T) T { return rapid.Make[T]().Draw(t, "value") }

func drawOwners(t *rapid.T) DocumentOwners {
	small := rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32())
	list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) OwnerFragment {
		return OwnerFragment{
			Kind: Kind(rapid.Uint8Range(0, 4).Draw(t, "kind")), Owner: small.Draw(t, "owner"),
			Key: FragmentKey{DocID(small.Draw(t, "doc")), small.Draw(t, "order"), rapid.Uint8Range(0, 2).Draw(t, "pass"), uint16(small.Draw(t, "index"))},
		}
	}), 0, 40).Draw(t, "list")
	slices.SortFunc(list, compareOwnerFragment)
	return DocumentOwners{Fragments: slices.Compact(list)}
}

func TestRecordsRoundTrip(t *testing.T) {
	for _, c := range recordCodecs {
		t.Run(c.name, func(t *testing.T) {
			reused := c.fresh()
			rapid.Check(t, func(t *rapid.T) {
				v := c.draw(t)
				b := c.append([]byte("before"), v)
				if !bytes.HasPrefix(b, []byte("before")) {
					t.Fatal("does not append")
				}
				b = b[len("before"):]
				in := bytes.Clone(b)
				for _, got := range []any{c.fresh(), reused} {
					if err := c.decode(in, got); err != nil {
						t.Fatalf("%v: %x", err, b)
					}
					if !c.equal(got, v) {
						t.Fatalf("wrote %+v\nread  %+v", v, got)
					}
				}
				if !bytes.Equal(c.append(nil, reused), b) {
					t.Fatal("second encoding differs")
				}
				for i := range in {
					in[i] = 0xaa // the result must not change with its input
				}
				if !c.equal(reused, v) {
					t.Fatal("result aliases its input")
				}
			})
		})
	}
}

func TestSamplesSetEveryField(t *testing.T) {
	for _, c := range recordCodecs {
		v := reflect.ValueOf(c.sample).Elem()
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("%s: %s is zero in the sample", c.name, v.Type().Field(i).Name)
			}
		}
		if got := c.append(nil, c.fresh()); !bytes.Equal(got, []byte{RecordVersion}) {
			t.Errorf("%s: zero value is %x", c.name, got)
		}
	}
}

// TestRecordTruncations cuts every sample at every byte: the rest is either
// refused or reads as a value that encodes to just those bytes.
func TestRecordTruncations(t *testing.T) {
	for _, c := range recordCodecs {
		b := c.append(nil, c.sample)
		for n := range b {
			v := c.fresh()
			if err := c.decode(b[:n], v); err == nil {
				if !bytes.Equal(c.append(nil, v), b[:n]) {
					t.Errorf("%s: first %d bytes read as another value", c.name, n)
				}
			} else if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

func TestUnknownFieldsAreSkipped(t *testing.T) {
	for _, c := range recordCodecs {
		b := c.append(nil, c.sample)
		b = binary.AppendUvarint(appendTag(b, 30, wireVarint), 12345)
		b = le.AppendUint64(appendTag(b, 31, wireFixed8), 1)
		b = appendText(appendTag(b, 40, wireBytes), "later")
		v := c.fresh()
		if err := c.decode(b, v); err != nil || !c.equal(v, c.sample) {
			t.Errorf("%s: %v, %+v", c.name, err, v)
		}
		for _, bad := range []struct {
			name string
			tail []byte
		}{
			{"duplicate", []byte{40<<3&0x7f | 0x80, 40 >> 4, 0}},
			{"descending", []byte{0x08, 1}},
			{"cut short", appendTag(nil, 41, wireFixed8)},
			{"unknown wire", append(appendTag(nil, 41, 6), 1)},
			{"field 0", []byte{0}},
		} {
			tail := bad.tail
			if bad.name == "duplicate" {
				tail = appendText(appendTag(nil, 40, wireBytes), "")
			}
			if err := c.decode(append(bytes.Clone(b), tail...), c.fresh()); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s, %s: %v", c.name, bad.name, err)
			}
		}
	}
}

func TestRecordVersions(t *testing.T) {
	for _, c := range recordCodecs {
		b := c.append(nil, c.sample)
		b[0] = RecordVersion + 1
		var newer *TooNewError
		if err := c.decode(b, c.fresh()); !errors.Is(err, ErrTooNew) || errors.Is(err, ErrCorrupt) || !errors.As(err, &newer) || newer.Need != 2 {
			t.Errorf("%s: %v", c.name, err)
		}
		b[0] = 0
		if err := c.decode(b, c.fresh()); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := c.decode(nil, c.fresh()); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestCorruptRecords(t *testing.T) {
	long := strings.Repeat("\xff", 9) + "\x01" // 2^64-1
	for _, c := range []struct {
		name string
		into any
		in   string
	}{
		{"zero field", new(SegmentRow), "\x01\x08\x00"},
		{"padded varint", new(SegmentRow), "\x01\x08\x81\x00"},
		{"value over 32 bits", new(SegmentRow), "\x01\x08" + long},
		{"overlong varint", new(Aggregate), "\x01\x38" + strings.Repeat("\xff", 10) + "\x01"},
		{"wrong wire type", new(SegmentRow), "\x01\x0a\x01a"},
		{"empty string", new(Chunk), "\x01\x12\x00"},
		{"huge string", new(Chunk), "\x01\x12" + long},
		{"bool of 2", new(Stale), "\x01\x08\x02"},
		{"huge list", new(Fragment), "\x01\x2a\x0a" + long},
		{"empty list", new(Fragment), "\x01\x2a\x01\x00"},
		{"bytes after list", new(Fragment), "\x01\x2a\x03\x01\x00x"},
		{"hash too short", new(Summary), "\x01\x12\x02ab"},
		{"half a float", new(BufferedVector), "\x01\x22\x03abc"},
		{"half a cache key", new(ChunkRow), "\x01\x32\x05abcde"},
		{"map keys twice", new(Document), "\x01\x7a\x07\x02\x01a\x00\x01a\x00"},
		{"change: two thirds of an edit", new(Change), "\x01\x32\x05\x02\x01a\x01b"},
		{"change: override of no kind", new(Change), "\x01\x3a\x06\x03\x00\x01a\x01b"},
		{"owners: base too low", new(DocumentOwners), "\x01\x0a\x0a\x01\x00\x01\x01\x01\x00\x01\x02\x01\x00"},
		{"owners: total too high", new(DocumentOwners), "\x01\x0a\x09\x02\x00\x01\x01\x01\x00\x01\x00\x00"},
		{"owners: key repeated", new(DocumentOwners), "\x01\x0a\x0b\x02\x00\x01\x01\x01\x00\x02\x00\x00\x00\x00"},
	} {
		for _, codec := range recordCodecs {
			if reflect.TypeOf(codec.sample) != reflect.TypeOf(c.into) {
				continue
			}
			if err := codec.decode([]byte(c.in), c.into); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %v, %+v", c.name, err, c.into)
			}
		}
	}
}

func TestDocumentOwnersSortsAndCompacts(t *testing.T) {
	a := OwnerFragment{KindEntity, 1, FragmentKey{1, 1, 0, 0}}
	b := OwnerFragment{KindRelation, 0, FragmentKey{0, 9, 1, 0}}
	in := DocumentOwners{Fragments: []OwnerFragment{b, a, b, a}}
	enc := AppendDocumentOwners(nil, &in)
	if in.Fragments[0] != b {
		t.Fatal("the argument was changed")
	}
	var out DocumentOwners
	if err := DecodeDocumentOwners(enc, &out); err != nil || !slices.Equal(out.Fragments, []OwnerFragment{a, b}) {
		t.Fatal(err, out)
	}
}

// bigOwners is what a document of 2,000 chunks with 60 records each writes.
func bigOwners() *DocumentOwners {
	v := &DocumentOwners{}
	for owner := range uint32(12_000) {
		for i := range uint32(10) {
			v.Fragments = append(v.Fragments, OwnerFragment{KindEntity + Kind(owner/6000), owner % 6000 * 3, FragmentKey{812, i*150 + owner%150, 0, uint16(owner % 60)}})
		}
	}
	return v
}

func TestDocumentOwnersAreCompact(t *testing.T) {
	v := bigOwners()
	b := AppendDocumentOwners(nil, v)
	if per := float64(len(b)) / float64(len(v.Fragments)); per > 5 {
		t.Errorf("%.1f bytes per fragment", per)
	}
}

func TestDecodeReusesMemory(t *testing.T) {
	for _, c := range recordCodecs {
		if c.name == "document" || c.name == "change" {
			continue // Metadata is always a fresh map, and changes are read rarely
		}
		b, v := c.append(nil, c.sample), c.fresh()
		if n := testing.AllocsPerRun(20, func() {
			if err := c.decode(b, v); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

func FuzzDecodeRecord(f *testing.F) {
	for i, c := range recordCodecs {
		b := c.append(nil, c.sample)
		f.Add(uint8(i), b)
		f.Add(uint8(i), b[:len(b)/2])
		f.Add(uint8(i), binary.AppendUvarint(appendTag(bytes.Clone(b), 30, wireVarint), 7))
	}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		c := recordCodecs[int(which)%len(recordCodecs)]
		v := c.fresh()
		if err := c.decode(b, v); err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooNew) {
				t.Fatal(err)
			}
			return
		}
		again, w := c.append(nil, v), c.fresh()
		if err := c.decode(again, w); err != nil || !c.equal(w, v) {
			t.Fatalf("%v: %+v became %+v", err, v, w)
		}
		if len(again) > len(b) || len(again) == len(b) && !bytes.Equal(again, b) {
			t.Fatalf("%x was accepted, its value is written as %x", b, again)
		}
	})
}

func BenchmarkDecodeRecord(b *testing.B) {
	for _, c := range recordCodecs {
		enc := c.append(nil, c.sample)
		b.Run(strings.ReplaceAll(c.name, " ", "-"), func(b *testing.B) {
			b.ReportAllocs()
			v := c.fresh()
			for b.Loop() {
				if err := c.decode(enc, v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("document-owners/n=120000", func(b *testing.B) {
		enc, v := AppendDocumentOwners(nil, bigOwners()), &DocumentOwners{}
		b.SetBytes(int64(len(enc)))
		b.ReportAllocs()
		for b.Loop() {
			if err := DecodeDocumentOwners(enc, v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
