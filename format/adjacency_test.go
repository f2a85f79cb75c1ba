package format

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"
)

// shardSamples has one list of each container, and the edges between them.
func shardSamples() map[string][]EntityID {
	upto := func(n, step EntityID) (out []EntityID) {
		for i := range n {
			out = append(out, i*step)
		}
		return out
	}
	return map[string][]EntityID{
		"empty": nil, "one": {77}, "array": {0, 2, 5, 6, 65535}, "full array": upto(4096, 3), "bitmap": upto(4097, 3),
		"run": upto(100, 1), "all": upto(1<<16, 1), "every other": upto(1<<15, 2), "run and array": append(upto(500, 1), 60000),
	}
}

func toBitmap(list []EntityID) *roaring.Bitmap {
	set := roaring.New()
	for _, v := range list {
		set.Add(uint32(v & 0xffff))
	}
	return set
}

func TestAdjacencyRoundTrip(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, list []EntityID) {
		b, err := AppendNeighbours([]byte{9}, list)
		if err != nil || len(b)-1 > MaxAdjacencySize {
			t.Fatalf("%v, %d bytes", err, len(b))
		}
		b = b[1:]
		set := toBitmap(list)
		for _, optimise := range []bool{false, true} {
			if optimise {
				set.RunOptimize() // another container, the same bytes
			}
			c, err := AppendAdjacency(nil, set)
			if err != nil || !bytes.Equal(b, c) {
				t.Fatalf("%v: bitmap and list differ", err)
			}
			foreign, _ := set.ToBytes()
			got := roaring.New()
			if err := DecodeAdjacency(append([]byte{1}, foreign...), got); err != nil || !got.Equals(set) {
				t.Fatalf("what roaring wrote does not read: %v", err)
			}
		}
		in := bytes.Clone(b)
		got := roaring.BitmapOf(1, 2, 1<<20)
		if err := DecodeAdjacency(in, got); err != nil {
			t.Fatalf("%v", err)
		}
		ids, err := DecodeNeighbours([]EntityID{42}, 3, in)
		clear(in)
		if !got.Equals(set) {
			t.Fatalf("bitmap differs or aliases its input")
		}
		if err != nil || len(ids) != len(list)+1 {
			t.Fatalf("%v: %d of %d", err, len(ids)-1, len(list))
		}
		for i, id := range ids[1:] {
			if id != list[i]&0xffff|3<<16 {
				t.Fatalf("%d is %d, want %d", i, id, list[i])
			}
		}
	}
	for name, list := range shardSamples() {
		t.Run(name, func(t *testing.T) { check(t, list) })
	}
	rapid.Check(t, func(t *rapid.T) {
		high := EntityID(rapid.Uint16().Draw(t, "high")) << 16
		var list []EntityID
		for _, start := range rapid.SliceOfN(rapid.Uint16(), 0, 50).Draw(t, "starts") {
			for i := range EntityID(rapid.IntRange(1, 200).Draw(t, "length")) {
				list = append(list, high|(EntityID(start)+i)&0xffff)
			}
		}
		slices.Sort(list)
		check(t, slices.Compact(list))
	})
}

func TestAdjacencyRefusesBadLists(t *testing.T) {
	for _, list := range [][]EntityID{{2, 1}, {1, 1}, {1, 1 << 16}} {
		if _, err := AppendNeighbours(nil, list); !errors.Is(err, ErrInvalid) {
			t.Errorf("%v: %v", list, err)
		}
	}
	if _, err := AppendAdjacency(nil, roaring.BitmapOf(1<<16)); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}

func TestRunsMustNotTouch(t *testing.T) {
	b := []byte{1, 0x3b, 0x30, 0, 0, 1, 0, 0, 3, 0, 2, 0} // four values in two runs
	apart := append(bytes.Clone(b), 0, 0, 1, 0, 3, 0, 1, 0)
	touch := append(bytes.Clone(b), 0, 0, 1, 0, 2, 0, 1, 0)
	if !checkShardBytes(t, apart) || checkShardBytes(t, touch) {
		t.Error("0-1, 3-4 must be accepted, 0-1, 2-3 refused")
	}
}

// checkShardBytes requires that both decoders agree, and that what they accept
// is written back as the same set.
func checkShardBytes(t *testing.T, b []byte) (accepted bool) {
	set := roaring.New()
	err := DecodeAdjacency(b, set)
	ids, err2 := DecodeNeighbours(nil, 0, b)
	if (err == nil) != (err2 == nil) {
		t.Fatalf("%x: %v, but %v", b, err, err2)
	}
	if err != nil {
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooNew) {
			t.Fatal(err)
		}
		return false
	}
	if !toBitmap(ids).Equals(set) || len(ids) != int(set.GetCardinality()) {
		t.Fatalf("%x: decoders differ", b)
	}
	again, err := AppendNeighbours(nil, ids)
	if err != nil || len(again) > MaxAdjacencySize {
		t.Fatalf("%x: %v, written as %x", b, err, again)
	}
	back, err := DecodeNeighbours(nil, 0, again)
	if err != nil || !slices.Equal(back, ids) {
		t.Fatalf("%x: %v", b, err)
	}
	return true
}

func TestDamagedAdjacencyNeverPanics(t *testing.T) {
	for name, list := range shardSamples() {
		b, _ := AppendNeighbours(nil, list)
		for n := range min(len(b), 200) {
			if checkShardBytes(t, b[:n]) {
				t.Errorf("%s: first %d bytes accepted", name, n)
			}
			for bit := range 8 {
				c := bytes.Clone(b)
				c[n] ^= 1 << bit
				checkShardBytes(t, c)
			}
		}
		if checkShardBytes(t, append(bytes.Clone(b), 0)) {
			t.Errorf("%s: longer bytes accepted", name)
		}
		b[0] = 2
		if err := DecodeAdjacency(b, roaring.New()); !errors.Is(err, ErrTooNew) {
			t.Error(err)
		}
	}
}

func FuzzAdjacency(f *testing.F) {
	for _, list := range shardSamples() {
		b, _ := AppendNeighbours(nil, list)
		f.Add(b)
	}
	two, _ := roaring.BitmapOf(1, 1<<16).ToBytes()
	f.Add(append([]byte{1}, two...))
	f.Fuzz(func(t *testing.T, b []byte) { checkShardBytes(t, b) })
}

func BenchmarkAdjacency(b *testing.B) {
	list := make([]EntityID, 50)
	for i := range list {
		list[i] = EntityID(i * 1201)
	}
	enc, _ := AppendNeighbours(nil, list)
	b.Run("neighbours/deg=50", func(b *testing.B) {
		b.ReportAllocs()
		var dst []EntityID
		for b.Loop() {
			dst, _ = DecodeNeighbours(dst[:0], 1, enc)
		}
	})
	b.Run("bitmap/deg=50", func(b *testing.B) {
		b.ReportAllocs()
		set := roaring.New()
		for b.Loop() {
			_ = DecodeAdjacency(enc, set)
		}
	})
}
