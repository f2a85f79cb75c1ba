package format

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

func TestSalvageFindsEverySoundBlock(t *testing.T) {
	for _, codec := range codecs() {
		rows := sampleRows(9, 30000, true) // five blocks, two rows each but the last
		whole, _ := encodeSegment(t, SegmentOptions{uuid1, 30000, codec}, rows)
		s, _, err := readSegment(whole, uuid1)
		if err != nil {
			t.Fatal(err)
		}
		first, last := s.entry(0), s.entry(4)
		for name, c := range map[string]struct {
			damage func(b []byte) []byte
			lost   []int // blocks
		}{
			"nothing":             {func(b []byte) []byte { return b }, nil},
			"header and footer":   {func(b []byte) []byte { clear(b[:64]); clear(b[len(b)-64:]); return b }, nil},
			"torn in last block":  {func(b []byte) []byte { return b[:last.offset+100] }, []int{4}},
			"torn in block head":  {func(b []byte) []byte { return b[:last.offset+63] }, []int{4}},
			"one bit":             {func(b []byte) []byte { b[s.entry(2).offset+999] ^= 4; return b }, []int{2}},
			"block header":        {func(b []byte) []byte { b[first.offset] = 0; return b }, []int{0}},
			"sizes of the header": {func(b []byte) []byte { le.PutUint32(b[first.offset+24:], 64); return b }, []int{0}},
			"everything":          {func(b []byte) []byte { clear(b); return b }, []int{0, 1, 2, 3, 4}},
			"nothing left":        {func(b []byte) []byte { return nil }, []int{0, 1, 2, 3, 4}},
		} {
			b := c.damage(bytes.Clone(whole))
			var got, want []row
			for i, r := range rows {
				if !slices.Contains(c.lost, i/2) {
					want = append(want, r)
				}
			}
			err := SalvageSegment(bytes.NewReader(b), int64(len(b)), uuid1, func(sb *SalvagedBlock) error {
				for i, id := range sb.IDs {
					if sb.First+i >= len(rows) || rows[sb.First+i].id != id {
						t.Errorf("%s: row %d has another id", name, sb.First+i)
					}
					got = append(got, row{id, slices.Clone(sb.Vectors[i*sb.Dim : (i+1)*sb.Dim])})
				}
				return nil
			})
			if err != nil || !sameRows(got, want) {
				t.Errorf("%s, %s: %v, %d rows of %d", codec, name, err, len(got), len(want))
			}
		}
		n := 0
		err = SalvageSegment(bytes.NewReader(whole), int64(len(whole)), uuid2, func(*SalvagedBlock) error { n++; return nil })
		if n != 0 || err != nil {
			t.Error("blocks of another segment accepted:", n, err)
		}
		stop := errors.New("stop")
		if err := SalvageSegment(bytes.NewReader(whole), int64(len(whole)), uuid1, func(*SalvagedBlock) error { n++; return stop }); err != stop || n != 1 {
			t.Error(err, n)
		}
	}
}
