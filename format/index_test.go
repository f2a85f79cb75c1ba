package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"reflect"
	"testing"
)

func sampleIndexHead() *IndexHead {
	return &IndexHead{
		Kind: KindRelation, Dim: 3,
		Slots: []SlotOwner{{1, 7, 0xabcdef01}, {2, 8, 0}, {1, 9, math.MaxUint32}, {math.MaxUint32, 1, 5}},
	}
}

func TestIndexHeadRoundTrip(t *testing.T) {
	for _, want := range []*IndexHead{sampleIndexHead(), {Kind: KindEntity, Dim: 1, Slots: []SlotOwner{}}} {
		b := AppendIndexHead([]byte("before"), want)[6:]
		var got IndexHead
		if err := ReadIndexHead(b, &got); err != nil || !reflect.DeepEqual(&got, want) {
			t.Errorf("%v, head %+v, want %+v", err, got, want)
		}
	}
}

func TestIndexHeadGolden(t *testing.T) {
	want := sampleIndexHead()
	b := golden(t, "index-head.bin", AppendIndexHead(nil, want))
	var got IndexHead
	if err := ReadIndexHead(b, &got); err != nil || !reflect.DeepEqual(&got, want) {
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
		if err := ReadIndexHead(c, &h); !errors.Is(err, ErrCorrupt) {
			t.Errorf("bit %d of byte %d: %v", i%8, i/8, err)
		}
	}
	for n := range len(b) {
		if err := ReadIndexHead(b[:n], &h); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

// resealed corrects the checksum.
func resealed(b []byte) []byte {
	n := len(b) - 4
	binary.LittleEndian.PutUint32(b[n:], crc32.Checksum(b[:n], castagnoli))
	return b
}

func TestAHugeIndexHeadIsRefusedBeforeItIsRead(t *testing.T) {
	b := AppendIndexHead(nil, &IndexHead{Kind: KindChunk, Dim: 1 << 16})
	for i := 20; i < 24; i++ {
		b[i] = 0xf0
	}
	var h IndexHead
	if err := ReadIndexHead(resealed(b), &h); !errors.Is(err, ErrCorrupt) {
		t.Fatal(err)
	}
}

func TestIndexHeadVersions(t *testing.T) {
	var h IndexHead
	for v, want := range map[byte]error{1: ErrCorrupt, 2: nil, 3: ErrTooNew} {
		b := AppendIndexHead(nil, sampleIndexHead())
		b[8] = v
		if err := ReadIndexHead(resealed(b), &h); !errors.Is(err, want) {
			t.Errorf("version %d: %v", v, err)
		}
	}
}

func TestVectorSum(t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 257, 1000} {
		v := make([]float32, n)
		var p []byte
		for i := range v {
			v[i] = float32(i)*0.3 - 7
			p = binary.LittleEndian.AppendUint32(p, math.Float32bits(v[i]))
		}
		if got, want := VectorSum(v), crc32.Checksum(p, crc32.MakeTable(crc32.Castagnoli)); got != want {
			t.Errorf("%d numbers: %08x, want %08x", n, got, want)
		}
	}
}

func FuzzIndexHead(f *testing.F) {
	f.Add(AppendIndexHead(nil, sampleIndexHead()))
	f.Add(AppendIndexHead(nil, &IndexHead{Kind: KindEntity, Dim: 384}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if b = bytes.Clone(b); len(b) >= 4 {
			resealed(b)
		}
		var h IndexHead
		if err := ReadIndexHead(b, &h); err != nil {
			return
		}
		if again := AppendIndexHead(nil, &h); !bytes.Equal(again, b) {
			t.Errorf("%x was read as %x", b, again)
		}
	})
}
