package format

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

const inShard3 = 3 << shardBits

// postingSamples has one list of each form, and the edges between them. All
// are of shard 3.
func postingSamples() map[string][]Posting {
	upto := func(n, step uint32) (out []Posting) {
		for i := range n {
			out = append(out, Posting{inShard3 + i*step, uint8(1 + i%255)})
		}
		return out
	}
	return map[string][]Posting{
		"none": nil, "one": {{inShard3 + 77, 1}}, "list": {{inShard3, 1}, {inShard3 + 2, 255}, {inShard3 + 4095, 7}},
		"full list": upto(256, 3), "words": upto(257, 3), "all": upto(4096, 1),
	}
}

// decodePostings reads a row of shard 3.
func decodePostings(b []byte) ([]Posting, error) {
	owners, counts, err := DecodePostings([]uint32{42}, []uint8{43}, 3, b)
	if len(owners) != len(counts) || owners[0] != 42 || counts[0] != 43 {
		return nil, errors.New("does not append")
	}
	var out []Posting
	for i := 1; i < len(owners); i++ {
		out = append(out, Posting{owners[i], counts[i]})
	}
	if err != nil && len(out) > 0 {
		return nil, errors.New("an error and postings")
	}
	return out, err
}

func TestPostingsRoundTrip(t *testing.T) {
	for name, list := range postingSamples() {
		b, err := AppendPostings([]byte{9}, list)
		if err != nil || b[0] != 9 || len(b)-1 > MaxPostingsSize {
			t.Fatalf("%s: %v, %d bytes", name, err, len(b))
		}
		got, err := decodePostings(b[1:])
		if err != nil || !slices.Equal(got, list) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPostingsRefuseBadLists(t *testing.T) {
	for _, list := range [][]Posting{{{2, 1}, {1, 1}}, {{1, 1}, {1, 1}}, {{1, 1}, {4096, 1}}} {
		if _, err := AppendPostings(nil, list); !errors.Is(err, ErrInvalid) {
			t.Errorf("%v: %v", list, err)
		}
	}
}

func TestPostingsOfAnEditAreNotARow(t *testing.T) {
	b, err := AppendPostings(nil, []Posting{{1, 1}, {2, 0}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodePostings(b); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

func TestDamagedPostingsNeverPanic(t *testing.T) {
	var m PostingsMerge
	for name, list := range postingSamples() {
		b, _ := AppendPostings(nil, list)
		check := func(what string, c []byte) {
			got, err := decodePostings(c)
			m.Newer(c)
			m.Older(b)
			_, after := decodePostings(m.Append(nil, true))
			_, damage := checkPostings(c)
			if (damage != nil) != (after != nil) || damage != nil && !errors.Is(after, ErrCorrupt) {
				t.Errorf("%s, %s: %v, merged: %v", name, what, damage, after)
			}
			if err != nil {
				if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooNew) {
					t.Errorf("%s, %s: %v", name, what, err)
				}
				return
			}
			if again, err := AppendPostings(nil, got); err != nil || !bytes.Equal(again, c) {
				t.Errorf("%s, %s: has two encodings, %v", name, what, err)
			}
		}
		for n := range min(len(b), 100) {
			check("cut", b[:n:n])
			for bit := range 8 {
				c := bytes.Clone(b)
				c[n] ^= 1 << bit
				check("bit", c)
			}
		}
		check("longer", append(bytes.Clone(b), 1))
	}
	if _, err := decodePostings([]byte{3, 0, 0, 1}); !errors.Is(err, ErrTooNew) {
		t.Error(err)
	}
}

// mergeOracle is a map: what the newest edit says of each owner.
type mergeOracle map[uint32]uint8

func (o mergeOracle) newer(list []Posting) {
	for _, p := range list {
		o[p.Owner] = p.Count
	}
}

func (o mergeOracle) row() (out []Posting) {
	for _, owner := range slices.Sorted(maps.Keys(o)) {
		if o[owner] > 0 {
			out = append(out, Posting{owner, o[owner]})
		}
	}
	return out
}

// mergeAll merges operands, the oldest first, in the order that rng chooses:
// neighbours before others, from either side.
func mergeAll(rng *rand.Rand, operands [][]byte) []byte {
	var m PostingsMerge // one for all: it must forget
	merge := func(part [][]byte, base bool) []byte {
		if rng.IntN(2) == 0 {
			m.Newer(part[0])
			for _, b := range part[1:] {
				m.Newer(b)
			}
		} else {
			for i := len(part) - 1; i >= 0; i-- {
				m.Older(part[i])
			}
		}
		return m.Append(nil, base)
	}
	for len(operands) > 1 && rng.IntN(4) > 0 {
		from := rng.IntN(len(operands))
		to := from + 1 + rng.IntN(len(operands)-from)
		made := merge(operands[from:to], from == 0 && rng.IntN(2) == 0)
		operands = slices.Concat(operands[:from], [][]byte{made}, operands[to:])
	}
	return merge(operands, true)
}

func TestPostingsMergeIsAssociative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		oracle := mergeOracle{}
		var operands [][]byte
		for range rapid.IntRange(1, 8).Draw(t, "operands") {
			var list []Posting
			gone := rapid.IntRange(0, 3).Draw(t, "one in so many is gone")
			for i, start := range rapid.SliceOfNDistinct(rapid.Uint16Range(0, 12), 1, 5, rapid.ID[uint16]).Draw(t, "starts") {
				for j := range rapid.SampledFrom([]uint32{1, 2, 3, 70, 300}).Draw(t, "length") {
					p := Posting{inShard3 + (uint32(start)*311+j)%shardOwners, uint8(1 + (i+int(j))%255)}
					if gone > 0 && j%uint32(gone) == 0 {
						p.Count = 0
					}
					list = append(list, p)
				}
			}
			slices.SortFunc(list, func(a, b Posting) int { return int(a.Owner) - int(b.Owner) })
			list = slices.CompactFunc(list, func(a, b Posting) bool { return a.Owner == b.Owner })
			b, err := AppendPostings(nil, list)
			if err != nil {
				t.Fatal(err)
			}
			operands = append(operands, b)
			oracle.newer(list)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for range 3 {
			got, err := decodePostings(mergeAll(rng, operands))
			if want := oracle.row(); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%v: %d postings, want %d", err, len(got), len(want))
			}
		}
	})
}

// FuzzPostings cuts bytes into operands and merges them in two orders.
func FuzzPostings(f *testing.F) {
	var all []byte
	for _, name := range []string{"one", "list", "words"} {
		b, _ := AppendPostings(nil, postingSamples()[name])
		f.Add(uint64(1), append([]byte{byte(len(b)), byte(len(b) >> 8)}, b...))
		all = append(append(all, byte(len(b)), byte(len(b)>>8)), b...)
	}
	f.Add(uint64(2), all)
	edit, _ := AppendPostings(nil, []Posting{{1, 0}, {77, 0}})
	f.Add(uint64(3), append(append([]byte{byte(len(edit)), 0}, edit...), all...))
	f.Fuzz(func(t *testing.T, seed uint64, b []byte) {
		var operands [][]byte
		oracle, damaged := mergeOracle{}, false
		for len(b) >= 2 {
			n := min(int(le.Uint16(b)), len(b)-2)
			operand := b[2 : 2+n]
			b = b[2+n:]
			operands = append(operands, operand)
			p, err := checkPostings(operand)
			if err != nil {
				damaged = true
				continue
			}
			list := make([]Posting, len(p.counts))
			owners, _, _ := DecodePostings(nil, nil, 3, nonZero(operand, len(p.counts)))
			for i := range list {
				list[i] = Posting{owners[i], p.counts[i]}
			}
			oracle.newer(list)
			if again, err := AppendPostings(nil, list); err != nil || !bytes.Equal(again, operand) {
				t.Fatalf("%x: written as %x, %v", operand, again, err)
			}
		}
		if len(operands) == 0 {
			return
		}
		got, err := decodePostings(mergeAll(rand.New(rand.NewPCG(seed, 2)), operands))
		switch want := oracle.row(); {
		case damaged:
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("damage is lost: %v", err)
			}
		case err != nil || !slices.Equal(got, want):
			t.Fatalf("%v: %v, want %v", err, got, want)
		}
	})
}

// nonZero returns a copy of an edit whose n counts are 1, so that it is a row.
func nonZero(b []byte, n int) []byte {
	out := bytes.Clone(b)
	for i := len(out) - n; i < len(out); i++ {
		out[i] = 1
	}
	return out
}

func BenchmarkPostings(b *testing.B) {
	for name, list := range postingSamples() {
		enc, _ := AppendPostings(nil, list)
		b.Run("decode/"+name, func(b *testing.B) {
			var owners []uint32
			var counts []uint8
			b.ReportAllocs()
			for b.Loop() {
				owners, counts, _ = DecodePostings(owners[:0], counts[:0], 3, enc)
			}
		})
		b.Run("merge/"+name, func(b *testing.B) {
			var m PostingsMerge
			var out []byte
			edit, _ := AppendPostings(nil, []Posting{{77, 2}})
			b.ReportAllocs()
			for b.Loop() {
				m.Newer(edit)
				m.Older(enc)
				out = m.Append(out[:0], true)
			}
		})
	}
}
