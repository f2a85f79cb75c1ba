package format

import (
	"bytes"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

var update = flag.Bool("update", false, "rewrite testdata/v2; only before version 2 is frozen")

// golden returns the bytes of a file of version 2, after writing it if asked.
func golden(t *testing.T, name string, b []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", "v2", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// goldenRows is made of integers alone: floating-point arithmetic may differ
// in the last bit from one processor to another.
func goldenRows() []row {
	rng := rand.New(rand.NewPCG(7, 7))
	rows := make([]row, 50)
	for i := range rows {
		vec := make([]float32, 32)
		for j := range vec {
			w := rng.Uint32()
			vec[j] = math.Float32frombits(w&0x807fe000 | 118<<23 + w>>11&3<<23)
		}
		rows[i] = row{VectorID{Kind(1 + i%3), uint32(i * i), uint32(1 + i)}, vec}
	}
	rows[3].vec[0] = nan
	rows[3].vec[1] = float32(math.Inf(1))
	return rows
}

func TestGoldenRecords(t *testing.T) {
	for _, c := range recordCodecs {
		t.Run(c.name, func(t *testing.T) {
			enc := c.append(nil, c.sample)
			b := golden(t, "record-"+strings.ReplaceAll(c.name, " ", "-")+".bin", enc)
			v := c.fresh()
			if err := c.decode(b, v); err != nil || !c.equal(v, c.sample) {
				t.Fatalf("%v: %+v", err, v)
			}
			if !bytes.Equal(enc, b) {
				t.Fatal("version 2 is written in another way")
			}
		})
	}
}

func TestGoldenSegments(t *testing.T) {
	for _, codec := range codecs() {
		t.Run(codec.String(), func(t *testing.T) {
			want := goldenRows()
			enc, named := encodeSegment(t, SegmentOptions{uuid1, 32, codec}, want)
			b := golden(t, "segment-"+codec.String()+".gvs", enc)
			s, rows, err := readSegment(b, uuid1)
			if err != nil || !sameRows(rows, want) {
				t.Fatal(err, "rows differ")
			}
			// How planes are compressed may change with the compressor.
			if codec == CodecRaw && (!bytes.Equal(enc, b) || s.SegmentRow() != named) {
				t.Fatal("version 2 is written in another way")
			}
			if codec == CodecPlanes {
				methods := map[byte]bool{}
				for _, m := range b[2*partSize:][:4] {
					methods[m] = true
				}
				if !reflect.DeepEqual(methods, map[byte]bool{planeRaw: true, planeHuffman: true}) {
					t.Fatal("the file does not exercise the methods:", methods)
				}
			}
		})
	}
}

func TestGoldenSeal(t *testing.T) {
	enc, err := AppendSeal(nil, sampleSeal())
	if err != nil {
		t.Fatal(err)
	}
	b, got := golden(t, "seal.bin", enc), new(Seal)
	if err := DecodeSeal(b, got); err != nil || !reflect.DeepEqual(got, sampleSeal()) || !bytes.Equal(b, enc) {
		t.Fatal(err, got)
	}
}

func TestGoldenPostings(t *testing.T) {
	for _, name := range []string{"list", "words"} {
		want := postingSamples()[name]
		enc, err := AppendPostings(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		b := golden(t, "postings-"+name+".bin", enc)
		if got, err := decodePostings(b); err != nil || !slices.Equal(got, want) || !bytes.Equal(b, enc) {
			t.Fatal(name, err)
		}
	}
}

func TestGoldenAdjacency(t *testing.T) {
	for _, name := range []string{"array", "bitmap", "run"} {
		list := shardSamples()[name]
		enc, err := AppendNeighbours(nil, list)
		if err != nil {
			t.Fatal(err)
		}
		b, set := golden(t, "adjacency-"+name+".bin", enc), roaring.New()
		if err := DecodeAdjacency(b, set); err != nil || !set.Equals(toBitmap(list)) || !bytes.Equal(b, enc) {
			t.Fatal(name, err)
		}
	}
}
