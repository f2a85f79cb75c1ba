package format

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"
)

func sampleIndexHead() *IndexHead {
	return &IndexHead{
		Kind: KindRelation, Dim: 3,
		Owners: []SlotOwner{{1, 7}, {2, 8}, {1, 9}, {math.MaxUint32, 1}},
		Dead:   []DeadRow{{0, []float32{0.5, -0.5, 0}}, {3, []float32{1, 0, float32(math.Inf(1))}}},
	}
}

func readHead(b []byte, h *IndexHead) (int64, error) {
	return ReadIndexHead(bytes.NewReader(b), int64(len(b)), h)
}

func TestIndexHeadRoundTrip(t *testing.T) {
	for _, want := range []*IndexHead{sampleIndexHead(), {Kind: KindEntity, Dim: 1, Owners: []SlotOwner{}, Dead: []DeadRow{}}} {
		b := AppendIndexHead(nil, want)
		var got IndexHead
		links, err := readHead(append(bytes.Clone(b), "links"...), &got)
		if err != nil {
			t.Fatal(err)
		}
		if links != int64(len(b)) || !reflect.DeepEqual(&got, want) {
			t.Errorf("links at %d of %d, head %+v, want %+v", links, len(b), got, want)
		}
	}
}

func TestIndexHeadGolden(t *testing.T) {
	want := sampleIndexHead()
	b := golden(t, "index-head.bin", AppendIndexHead(nil, want))
	var got IndexHead
	if _, err := readHead(b, &got); err != nil || !reflect.DeepEqual(&got, want) {
		t.Errorf("%v %+v", err, got)
	}
	if !bytes.Equal(AppendIndexHead(nil, want), b) {
		t.Error("the encoding changed")
	}
}

func TestEveryDamageToAnIndexHeadIsDetected(t *testing.T) {
	b := AppendIndexHead(nil, sampleIndexHead())
	var h IndexHead
	for i := range 8 * len(b) {
		c := bytes.Clone(b)
		c[i/8] ^= 1 << (i % 8)
		if _, err := readHead(c, &h); err == nil {
			t.Errorf("bit %d of byte %d: no error", i%8, i/8)
		} else if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooNew) {
			t.Errorf("bit %d of byte %d: %v", i%8, i/8, err)
		}
	}
	for n := range len(b) {
		if _, err := readHead(b[:n], &h); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

func TestAHugeIndexHeadIsRefusedBeforeItIsRead(t *testing.T) {
	b := AppendIndexHead(nil, &IndexHead{Kind: KindChunk, Dim: 1 << 16})
	for i := 20; i < 28; i++ {
		b[i] = 0xf0
	}
	var h IndexHead
	if _, err := readHead(b, &h); !errors.Is(err, ErrCorrupt) {
		t.Fatal(err)
	}
}

func FuzzIndexHead(f *testing.F) {
	f.Add(AppendIndexHead(nil, sampleIndexHead()))
	f.Add(AppendIndexHead(nil, &IndexHead{Kind: KindEntity, Dim: 384}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h IndexHead
		n, err := readHead(b, &h)
		if err != nil {
			return
		}
		if again := AppendIndexHead(nil, &h); !bytes.Equal(again, b[:n]) {
			t.Errorf("%x was read as %x", b[:n], again)
		}
	})
}
