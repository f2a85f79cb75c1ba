package format

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// tuple is every part any key has; each codec uses some of them.
type tuple struct {
	root  string // of an alias; "" = root
	a, b  uint32
	kind  Kind
	level uint8
	shard uint16
	seq   uint64
	name  string
	hash  [32]byte
	frag  FragmentKey
}

func (t tuple) uuid() (u [16]byte) { copy(u[:], t.hash[:]); return u }

func drawTuple(t *rapid.T, label string) tuple {
	// Small alphabets make equal parts, and so every later part, matter.
	small := rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32())
	v := tuple{
		a: small.Draw(t, label+"a"), b: small.Draw(t, label+"b"),
		kind:  Kind(rapid.Uint8Range(0, 4).Draw(t, label+"kind")),
		level: rapid.Uint8Range(0, 3).Draw(t, label+"level"),
		shard: rapid.Uint16().Draw(t, label+"shard"),
		seq:   rapid.Uint64().Draw(t, label+"seq"),
		name:  string(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 'a', 'b', 0xff}), 0, 4).Draw(t, label+"name")),
		frag: FragmentKey{
			Doc: DocID(small.Draw(t, label+"doc")), Order: small.Draw(t, label+"order"),
			Pass: rapid.Uint8Range(0, 2).Draw(t, label+"pass"), Index: rapid.Uint16().Draw(t, label+"index"),
		},
	}
	copy(v.hash[:], rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0xff}), 32, 32).Draw(t, label+"hash"))
	return v
}

// keyCodecs lists, for every table, how a tuple becomes a key and back, and
// how tuples compare.
var keyCodecs = []struct {
	table  Table
	encode func([]byte, tuple) []byte
	decode func([]byte) (tuple, error)
	order  func(a, b tuple) int
}{
	{TableDocuments, func(d []byte, v tuple) []byte { return AppendDocumentKey(d, DocID(v.a)) },
		func(k []byte) (v tuple, err error) { id, err := DecodeDocumentKey(k); v.a = uint32(id); return v, err }, byA},
	{TableDocumentNames, func(d []byte, v tuple) []byte { return AppendDocumentNameKey(d, v.name) },
		func(k []byte) (v tuple, err error) { v.name, err = DecodeDocumentNameKey(k); return v, err }, byName},
	{TableOwners, func(d []byte, v tuple) []byte { return AppendOwnersKey(d, DocID(v.a)) },
		func(k []byte) (v tuple, err error) { id, err := DecodeOwnersKey(k); v.a = uint32(id); return v, err }, byA},
	{TableChunks, func(d []byte, v tuple) []byte { return AppendChunkKey(d, DocID(v.a), v.b) },
		func(k []byte) (v tuple, err error) {
			id, order, err := DecodeChunkKey(k)
			v.a, v.b = uint32(id), order
			return v, err
		}, func(a, b tuple) int { return cmp.Or(byA(a, b), cmp.Compare(a.b, b.b)) }},
	{TableChunkRows, func(d []byte, v tuple) []byte { return AppendChunkRowKey(d, ChunkID(v.a)) },
		func(k []byte) (v tuple, err error) { id, err := DecodeChunkRowKey(k); v.a = uint32(id); return v, err }, byA},
	{TableNames, func(d []byte, v tuple) []byte { return AppendNameKey(d, v.name) },
		func(k []byte) (v tuple, err error) { v.name, err = DecodeNameKey(k); return v, err }, byName},
	{TableEntityNames, func(d []byte, v tuple) []byte { return AppendEntityNameKey(d, EntityID(v.a)) },
		func(k []byte) (v tuple, err error) {
			id, err := DecodeEntityNameKey(k)
			v.a = uint32(id)
			return v, err
		}, byA},
	{TableFragments, func(d []byte, v tuple) []byte { return AppendFragmentKey(d, v.kind, v.a, v.frag) },
		func(k []byte) (v tuple, err error) { v.kind, v.a, v.frag, err = DecodeFragmentKey(k); return v, err },
		func(a, b tuple) int { return cmp.Or(byOwner(a, b), a.frag.Compare(b.frag)) }},
	{TableDescriptions, func(d []byte, v tuple) []byte { return AppendDescriptionKey(d, v.kind, v.a, v.uuid(), v.frag) },
		func(k []byte) (v tuple, err error) {
			var h [16]byte
			v.kind, v.a, h, v.frag, err = DecodeDescriptionKey(k)
			copy(v.hash[:], h[:])
			return v, err
		}, func(a, b tuple) int { return cmp.Or(byOwner(a, b), byUUID(a, b), a.frag.Compare(b.frag)) }},
	{TableAggregates, func(d []byte, v tuple) []byte { return AppendAggregateKey(d, v.kind, v.a) },
		func(k []byte) (v tuple, err error) { v.kind, v.a, err = DecodeAggregateKey(k); return v, err }, byOwner},
	{TableRecords, func(d []byte, v tuple) []byte { return AppendRecordKey(d, v.kind, v.a) },
		func(k []byte) (v tuple, err error) { v.kind, v.a, err = DecodeRecordKey(k); return v, err }, byOwner},
	{TableSummaries, func(d []byte, v tuple) []byte { return AppendSummaryKey(d, v.kind, v.a, v.level, v.frag) },
		func(k []byte) (v tuple, err error) {
			v.kind, v.a, v.level, v.frag, err = DecodeSummaryKey(k)
			return v, err
		}, func(a, b tuple) int {
			return cmp.Or(byOwner(a, b), cmp.Compare(a.level, b.level), a.frag.Compare(b.frag))
		}},
	{TableAliases, func(d []byte, v tuple) []byte { return AppendAliasKey(d, v.name) },
		func(k []byte) (v tuple, err error) { v.name, err = DecodeAliasKey(k); return v, err }, byName},
	{TableAliasNames, func(d []byte, v tuple) []byte { return AppendAliasNameKey(d, cmp.Or(v.root, "root"), v.name) },
		func(k []byte) (v tuple, err error) {
			if v.root, v.name, err = DecodeAliasNameKey(k); v.root == "root" {
				v.root = "" // which stands for it
			}
			return v, err
		}, byName},
	{TableOverrides, func(d []byte, v tuple) []byte { return AppendOverrideKey(d, v.kind, v.name) },
		func(k []byte) (v tuple, err error) { v.kind, v.name, err = DecodeOverrideKey(k); return v, err },
		func(a, b tuple) int { return cmp.Or(cmp.Compare(a.kind, b.kind), byName(a, b)) }},
	{TableMembers, func(d []byte, v tuple) []byte { return AppendMemberKey(d, v.kind, v.a) },
		func(k []byte) (v tuple, err error) { v.kind, v.a, err = DecodeMemberKey(k); return v, err }, byOwner},
	{TableGroups, func(d []byte, v tuple) []byte { return AppendGroupKey(d, v.kind, v.a, v.b) },
		func(k []byte) (v tuple, err error) { v.kind, v.a, v.b, err = DecodeGroupKey(k); return v, err },
		func(a, b tuple) int { return cmp.Or(byOwner(a, b), cmp.Compare(a.b, b.b)) }},
	{TableHistory, func(d []byte, v tuple) []byte { return AppendHistoryKey(d, v.a) },
		func(k []byte) (v tuple, err error) { v.a, err = DecodeHistoryKey(k); return v, err }, byA},
	{TableStaged, func(d []byte, v tuple) []byte { return AppendStagedKey(d, v.kind, v.a) },
		func(k []byte) (v tuple, err error) { v.kind, v.a, err = DecodeStagedKey(k); return v, err }, byOwner},
	{TableStale, func(d []byte, v tuple) []byte { return AppendStaleKey(d, v.kind, v.a) },
		func(k []byte) (v tuple, err error) { v.kind, v.a, err = DecodeStaleKey(k); return v, err }, byOwner},
	{TableAdjacency, func(d []byte, v tuple) []byte { return AppendAdjacencyKey(d, EntityID(v.a), v.shard) },
		func(k []byte) (v tuple, err error) {
			id, shard, err := DecodeAdjacencyKey(k)
			v.a, v.shard = uint32(id), shard
			return v, err
		}, func(a, b tuple) int { return cmp.Or(byA(a, b), cmp.Compare(a.shard, b.shard)) }},
	{TableBuffered, func(d []byte, v tuple) []byte { return AppendBufferedKey(d, v.seq) },
		func(k []byte) (v tuple, err error) { v.seq, err = DecodeBufferedKey(k); return v, err },
		func(a, b tuple) int { return cmp.Compare(a.seq, b.seq) }},
	{TableSegments, func(d []byte, v tuple) []byte { return AppendSegmentKey(d, v.uuid()) },
		func(k []byte) (v tuple, err error) {
			u, err := DecodeSegmentKey(k)
			copy(v.hash[:], u[:])
			return v, err
		}, byUUID},
	{TableAnswers, func(d []byte, v tuple) []byte { return AppendAnswerKey(d, v.hash) },
		func(k []byte) (v tuple, err error) { v.hash, err = DecodeAnswerKey(k); return v, err },
		func(a, b tuple) int { return bytes.Compare(a.hash[:], b.hash[:]) }},
	{TablePostings, func(d []byte, v tuple) []byte {
		term := cmp.Or(v.root, "t"+strings.ReplaceAll(v.name, "\x00", "\x01"))
		return AppendPostingsKey(d, v.kind, term, v.b&0xffffff)
	}, func(k []byte) (v tuple, err error) {
		kind, term, shard, err := DecodePostingsKey(k)
		name, ok := strings.CutPrefix(string(term), "t")
		if v.kind, v.b = kind, shard; ok {
			v.name = strings.ReplaceAll(name, "\x01", "\x00")
		} else {
			v.root = string(term)
		}
		return v, err
	}, func(a, b tuple) int {
		return cmp.Or(byName(a, b), cmp.Compare(a.kind, b.kind), cmp.Compare(a.b&0xffffff, b.b&0xffffff))
	}},
	{TableMeta, func(d []byte, v tuple) []byte { return AppendMetaKey(d, v.name) },
		func(k []byte) (v tuple, err error) { v.name, err = DecodeMetaKey(k); return v, err }, byName},
	{TablePairs, func(d []byte, v tuple) []byte { return AppendPairKey(d, EntityID(v.a), EntityID(v.b)) },
		func(k []byte) (v tuple, err error) {
			lo, hi, err := DecodePairKey(k)
			v.a, v.b = uint32(lo), uint32(hi)
			return v, err
		}, func(a, b tuple) int {
			return cmp.Or(cmp.Compare(min(a.a, a.b), min(b.a, b.b)), cmp.Compare(max(a.a, a.b), max(b.a, b.b)))
		}},
}

func byA(a, b tuple) int     { return cmp.Compare(a.a, b.a) }
func byName(a, b tuple) int  { return cmp.Compare(a.name, b.name) }
func byOwner(a, b tuple) int { return cmp.Or(cmp.Compare(a.kind, b.kind), byA(a, b)) }
func byUUID(a, b tuple) int {
	x, y := a.uuid(), b.uuid()
	return bytes.Compare(x[:], y[:])
}

func TestKeysOrderLikeTuples(t *testing.T) {
	for _, c := range keyCodecs {
		t.Run(c.table.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				a, b := drawTuple(t, "1"), drawTuple(t, "2")
				x, y := c.encode(nil, a), c.encode(nil, b)
				if got, want := bytes.Compare(x, y), c.order(a, b); got != want {
					t.Fatalf("%x and %x compare %d, their tuples %d", x, y, got, want)
				}
			})
		})
	}
}

func TestKeysRoundTrip(t *testing.T) {
	for _, c := range keyCodecs {
		t.Run(c.table.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				v := drawTuple(t, "")
				if c.table == TablePairs && v.a == v.b {
					v.b = v.a ^ 1
				}
				key := c.encode([]byte("before"), v)
				if !bytes.HasPrefix(key, []byte("before")) {
					t.Fatal("does not append")
				}
				key = key[len("before"):]
				lower, upper := TableBounds(c.table)
				if bytes.Compare(key, lower) < 0 || bytes.Compare(key, upper) >= 0 {
					t.Fatalf("%x outside of its table", key)
				}
				got, err := c.decode(key)
				if err != nil {
					t.Fatal(err)
				}
				if c.order(got, v) != 0 || !bytes.Equal(c.encode(nil, got), key) {
					t.Fatalf("read %+v, wrote %+v", got, v)
				}
			})
		})
	}
}

func TestKeyDecodersAreStrict(t *testing.T) {
	if len(keyCodecs) != len(Tables()) {
		t.Fatalf("%d codecs, %d tables", len(keyCodecs), len(Tables()))
	}
	v := tuple{a: 1, b: 2, kind: 3, name: "x", seq: 5}
	for _, c := range keyCodecs {
		key := c.encode(nil, v)
		fixed := !slices.Contains([]Table{TableDocumentNames, TableNames, TableMeta, TableAliases, TableAliasNames, TableOverrides}, c.table)
		wrong := map[string][]byte{"empty": nil, "other table": append([]byte{key[0] ^ 1}, key[1:]...)}
		if fixed {
			wrong["short"], wrong["long"] = key[:len(key)-1], append(bytes.Clone(key), 0)
		}
		for name, k := range wrong {
			if _, err := c.decode(k); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s, %s: %v", c.table, name, err)
			}
		}
	}
	if _, _, err := DecodeAliasNameKey([]byte("Lroot")); !errors.Is(err, ErrCorrupt) {
		t.Errorf("alias name without a name: %v", err)
	}
	if _, _, err := DecodeOverrideKey([]byte("v")); !errors.Is(err, ErrCorrupt) {
		t.Errorf("override without a kind: %v", err)
	}
	for _, pair := range [][2]EntityID{{4, 4}, {5, 4}} {
		k := be.AppendUint32(be.AppendUint32([]byte{'p'}, uint32(pair[0])), uint32(pair[1]))
		if _, _, err := DecodePairKey(k); !errors.Is(err, ErrCorrupt) {
			t.Errorf("pair %v: %v", pair, err)
		}
	}
}

func TestPrefixesCoverTheirKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawTuple(t, "")
		cases := []struct{ prefix, key []byte }{
			{AppendFragmentPrefix(nil, v.kind, v.a), AppendFragmentKey(nil, v.kind, v.a, v.frag)},
			{AppendDescriptionPrefix(nil, v.kind, v.a, v.uuid()), AppendDescriptionKey(nil, v.kind, v.a, v.uuid(), v.frag)},
			{AppendSummaryPrefix(nil, v.kind, v.a), AppendSummaryKey(nil, v.kind, v.a, v.level, v.frag)},
			{AppendAdjacencyPrefix(nil, EntityID(v.a)), AppendAdjacencyKey(nil, EntityID(v.a), v.shard)},
			{AppendChunkPrefix(nil, DocID(v.a)), AppendChunkKey(nil, DocID(v.a), v.b)},
			{AppendAliasNamePrefix(nil, "root"), AppendAliasNameKey(nil, "root", v.name)},
			{AppendGroupPrefix(nil, v.kind, v.a), AppendGroupKey(nil, v.kind, v.a, v.b)},
		}
		for _, c := range cases {
			end := PrefixEnd(c.prefix)
			if !bytes.HasPrefix(c.key, c.prefix) || bytes.Compare(c.key, end) >= 0 {
				t.Fatalf("%x not in [%x, %x)", c.key, c.prefix, end)
			}
		}
	})
}

func TestPrefixEnd(t *testing.T) {
	for in, want := range map[string]string{"": "", "a": "b", "a\xff": "b", "\xff\xff": "", "a\xff\x01": "a\xff\x02"} {
		if got := PrefixEnd([]byte(in)); string(got) != want || (want == "") != (got == nil) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestTablesAreDistinct(t *testing.T) {
	seen := map[Table]bool{}
	for _, table := range Tables() {
		if seen[table] {
			t.Errorf("%c twice", table)
		}
		seen[table] = true
	}
	if got := Table(1).String(); got != "table(0x01)" {
		t.Error(got)
	}
}

func TestIDValues(t *testing.T) {
	for _, n := range []uint32{0, 1, 1 << 31, 1<<32 - 1} {
		d, err1 := DecodeDocID(AppendDocID(nil, DocID(n)))
		e, err2 := DecodeEntityID(AppendEntityID(nil, EntityID(n)))
		r, err3 := DecodeRelationID(AppendRelationID(nil, RelationID(n)))
		if uint32(d) != n || uint32(e) != n || uint32(r) != n || err1 != nil || err2 != nil || err3 != nil {
			t.Errorf("%d: %d %d %d %v %v %v", n, d, e, r, err1, err2, err3)
		}
	}
	for _, b := range [][]byte{nil, {1, 2, 3}, {1, 2, 3, 4, 5}} {
		_, err := DecodeRelationID(b)
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
}

func FuzzKeys(f *testing.F) {
	for _, c := range keyCodecs {
		f.Add(c.encode(nil, tuple{a: 1, b: 2, kind: 1, name: "name", frag: FragmentKey{1, 2, 3, 4}}))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, key []byte) {
		accepted := 0
		for _, c := range keyCodecs {
			v, err := c.decode(key)
			if err != nil {
				if !errors.Is(err, ErrCorrupt) {
					t.Fatal(err)
				}
				continue
			}
			accepted++
			if got := c.encode(nil, v); !bytes.Equal(got, key) {
				t.Fatalf("%s: %x read as %+v, written as %x", c.table, key, v, got)
			}
		}
		if accepted > 1 {
			t.Fatal(fmt.Sprintf("%x", key) + " is in two tables")
		}
	})
}
