package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

var (
	uuid1 = UUID{1, 2, 3, 15: 4}
	uuid2 = UUID{5, 15: 6}
)

type row struct {
	id  VectorID
	vec []float32
}

func sampleRows(n, dim int, half bool) []row {
	flat, rows := normalRows(n, dim, half), make([]row, n)
	for i := range rows {
		rows[i] = row{VectorID{Kind(1 + i%3), uint32(i * 7), uint32(i + 1)}, flat[i*dim : (i+1)*dim]}
	}
	return rows
}

func encodeSegment(t testing.TB, o SegmentOptions, rows []row) ([]byte, SegmentRow) {
	t.Helper()
	var buf bytes.Buffer
	w := NewSegmentWriter(&buf, o)
	for _, r := range rows {
		if err := w.Add(r.id.Kind, r.id.Owner, r.id.Version, r.vec); err != nil {
			t.Fatal(err)
		}
	}
	out, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), out
}

// readSegment reads everything there is to read.
func readSegment(b []byte, want UUID) (*SegmentReader, []row, error) {
	s, err := OpenSegment(bytes.NewReader(b), int64(len(b)), want)
	if err != nil {
		return nil, nil, err
	}
	var rows []row
	err = s.Each(func(i int, id VectorID, vec []float32) error {
		if i != len(rows) {
			return fmt.Errorf("row %d after %d rows", i, len(rows))
		}
		rows = append(rows, row{id, append([]float32(nil), vec...)})
		return nil
	})
	return s, rows, err
}

func sameRows(a, b []row) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].id != b[i].id || !sameBits(a[i].vec, b[i].vec) {
			return false
		}
	}
	return true
}

func codecs() []Codec { return []Codec{CodecRaw, CodecPlanes} }

func TestSegmentRoundTrip(t *testing.T) {
	for _, codec := range codecs() {
		for _, c := range []struct{ n, dim int }{{0, 8}, {1, 1}, {7, 3}, {170, 768}, {171, 768}, {3, MaxDim}, {70000, 1}, {256 * 3, 256}} {
			t.Run(fmt.Sprintf("%s/%dx%d", codec, c.n, c.dim), func(t *testing.T) {
				want := sampleRows(c.n, c.dim, c.n%2 == 0)
				b, named := encodeSegment(t, SegmentOptions{uuid1, c.dim, codec}, want)
				s, got, err := readSegment(b, uuid1)
				if err != nil {
					t.Fatal(err)
				}
				if !sameRows(got, want) {
					t.Fatal("rows differ")
				}
				if s.Rows() != c.n || s.Dim() != c.dim || s.Codec() != codec || s.UUID() != uuid1 || s.SegmentRow() != named ||
					named.Length != uint64(len(b)) || int(named.Rows) != c.n || int(named.Dim) != c.dim {
					t.Fatalf("%+v", named)
				}
				if err := s.Verify(); err != nil {
					t.Fatal(err)
				}
				again, _ := encodeSegment(t, SegmentOptions{uuid1, c.dim, codec}, got)
				if !bytes.Equal(again, b) {
					t.Fatal("the same rows give other bytes")
				}
			})
		}
	}
}

func TestSegmentKeepsEveryBit(t *testing.T) {
	for _, codec := range codecs() {
		rapid.Check(t, func(rt *rapid.T) {
			bits := rapid.SliceOfN(rapid.OneOf(rapid.Uint32(), rapid.SampledFrom([]uint32{0, 1 << 31, 0x7f800000, 0xff800000, 0x7fa00001, 0xffc12345, 1, 0x807fffff})), 1, 200).Draw(rt, "bits")
			vec := make([]float32, len(bits))
			for i, x := range bits {
				vec[i] = math.Float32frombits(x)
			}
			want := []row{{VectorID{255, 1<<32 - 1, 1<<32 - 1}, vec}, {VectorID{}, vec}}
			b, _ := encodeSegment(t, SegmentOptions{uuid1, len(vec), codec}, want)
			if _, got, err := readSegment(b, uuid1); err != nil || !sameRows(got, want) {
				rt.Fatal(err, "bits differ")
			}
		})
	}
}

func TestRawBlocksCanBeMapped(t *testing.T) {
	want := sampleRows(100, 768, false)
	b, _ := encodeSegment(t, SegmentOptions{uuid1, 768, CodecRaw}, want)
	s, _, err := readSegment(b, uuid1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Blocks() {
		offset, length, ok := s.RawBlock(i)
		if !ok || offset%64 != 0 {
			t.Fatal(i, offset, length, ok)
		}
		got := make([]float32, length/4)
		if bad := decodeRaw(got, b[offset:][:length]); bad != "" || !sameBits(got[:768], want[i*s.BlockRows()].vec) {
			t.Fatal(bad, "rows are not where RawBlock says")
		}
	}
	b, _ = encodeSegment(t, SegmentOptions{uuid1, 768, CodecPlanes}, want)
	if s, _, err = readSegment(b, uuid1); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := s.RawBlock(0); ok {
		t.Fatal("compressed block offered as raw")
	}
}

// smallSegment is small enough to damage every bit of.
func smallSegment(t testing.TB, codec Codec) ([]byte, []row) {
	rows := sampleRows(3, 16, true)
	b, _ := encodeSegment(t, SegmentOptions{uuid1, 16, codec}, rows)
	return b, rows
}

// TestEveryBitFlipIsDetected: opening and verifying a segment with any one bit
// inverted fails.
func TestEveryBitFlipIsDetected(t *testing.T) {
	for _, codec := range codecs() {
		b, _ := smallSegment(t, codec)
		for i := range 8 * len(b) {
			b[i/8] ^= 1 << (i % 8)
			_, _, err := readSegment(b, uuid1)
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s: bit %d of byte %d of %d: %v", codec, i%8, i/8, len(b), err)
			}
			b[i/8] ^= 1 << (i % 8)
		}
		if _, _, err := readSegment(b, uuid1); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFlipsInBlocksNameTheBlock damages a segment of several blocks at random.
func TestFlipsInBlocksNameTheBlock(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, codec := range codecs() {
		rows := sampleRows(10, 30000, false) // two rows a block
		b, _ := encodeSegment(t, SegmentOptions{uuid1, 30000, codec}, rows)
		s, _, err := readSegment(b, uuid1)
		if err != nil || s.Blocks() != 5 {
			t.Fatal(err, s.Blocks())
		}
		for range 40 {
			block := rng.IntN(5)
			e := s.entry(block)
			at := e.offset + rng.Int64N(int64(e.length))
			mask := byte(1) << rng.IntN(8)
			b[at] ^= mask // the reader reads from b
			err := s.Verify()
			b[at] ^= mask
			var damage *CorruptionError
			if !errors.As(err, &damage) || damage.Block != block || damage.Offset != e.offset || damage.Segment != uuid1 || damage.Part != "block" {
				t.Fatalf("byte %d of block %d: %v", at, block, err)
			}
		}
	}
}

func TestEveryTruncationIsDetected(t *testing.T) {
	for _, codec := range codecs() {
		b, _ := smallSegment(t, codec)
		for n := range b {
			if _, _, err := readSegment(b[:n], uuid1); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s: first %d bytes: %v", codec, n, err)
			}
			// The directory entry says more than the file holds.
			_, err := OpenSegment(bytes.NewReader(b[:n]), int64(len(b)), uuid1)
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s: %d bytes that claim to be %d: %v", codec, n, len(b), err)
			}
		}
		if _, _, err := readSegment(append(b, 0), uuid1); !errors.Is(err, ErrCorrupt) {
			t.Fatal("a byte too many:", err)
		}
	}
}

func TestWrongSegment(t *testing.T) {
	b, _ := smallSegment(t, CodecRaw)
	_, _, err := readSegment(b, uuid2)
	if !errors.Is(err, ErrWrongSegment) || !errors.Is(err, ErrCorrupt) {
		t.Fatal(err)
	}
	if _, _, err := readSegment(b, UUID{}); err != nil {
		t.Fatal("any segment:", err)
	}
}

// TestSwappedPartsAreDetected puts sound parts where they do not belong.
func TestSwappedPartsAreDetected(t *testing.T) {
	rows := sampleRows(8, 30000, false)
	a, _ := encodeSegment(t, SegmentOptions{uuid1, 30000, CodecRaw}, rows)
	b, _ := encodeSegment(t, SegmentOptions{uuid2, 30000, CodecRaw}, rows)
	other := sampleRows(8, 30000, true) // the same ids, other vectors
	c, _ := encodeSegment(t, SegmentOptions{uuid1, 30000, CodecRaw}, other)
	s, _, _ := readSegment(a, uuid1)
	e0, e1 := s.entry(0), s.entry(1)
	for name, edit := range map[string]func(f []byte){
		"blocks exchanged": func(f []byte) {
			copy(f[e0.offset:][:e0.length], a[e1.offset:])
			copy(f[e1.offset:][:e1.length], a[e0.offset:])
		},
		"block of another segment":      func(f []byte) { copy(f[e1.offset:][:e1.length], b[e1.offset:]) },
		"block of an older content":     func(f []byte) { copy(f[e1.offset:][:e1.length], c[e1.offset:]) },
		"header of another segment":     func(f []byte) { copy(f[:partSize], b) },
		"footer of another segment":     func(f []byte) { copy(f[len(f)-partSize:], b[len(f)-partSize:]) },
		"index of an older content":     func(f []byte) { o := s.foot.indexOffset; copy(f[o:][:s.foot.indexLength], c[o:]) },
		"header of another codec":       func(f []byte) { h := header{uuid1, 30000, CodecPlanes}; copy(f, h.append(nil)) },
		"header with another dimension": func(f []byte) { h := header{uuid1, 30001, CodecRaw}; copy(f, h.append(nil)) },
	} {
		f := bytes.Clone(a)
		edit(f)
		if _, _, err := readSegment(f, uuid1); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSegmentVersions(t *testing.T) {
	b, _ := smallSegment(t, CodecRaw)
	for name, c := range map[string]struct {
		edit func(h []byte)
		want error
	}{
		"newer, not readable": {func(h []byte) { le.PutUint16(h[8:], 9); le.PutUint16(h[10:], 9) }, ErrTooNew},
		"required flag":       {func(h []byte) { h[14] = 1 }, ErrTooNew},
		"unknown codec":       {func(h []byte) { h[36] = byte(codecFloat16) }, ErrTooNew},
		"reserved byte":       {func(h []byte) { h[50] = 1 }, ErrCorrupt},
		"no dimension":        {func(h []byte) { le.PutUint32(h[32:], 0) }, ErrCorrupt},
		"newer, readable":     {func(h []byte) { le.PutUint16(h[8:], 9) }, nil},
		"optional flag":       {func(h []byte) { h[12] = 1 }, nil},
	} {
		f := bytes.Clone(b)
		c.edit(f[:60])
		le.PutUint32(f[60:], crc32c(0, f[:60]))
		foot := f[len(f)-partSize:]
		le.PutUint32(foot[52:], footerCRC(f[:partSize], foot))
		_, _, err := readSegment(f, uuid1)
		if (c.want == nil) != (err == nil) || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSegmentWriterRefuses(t *testing.T) {
	for name, o := range map[string]SegmentOptions{
		"no uuid": {Dim: 3}, "no dimension": {UUID: uuid1}, "huge dimension": {UUID: uuid1, Dim: MaxDim + 1},
		"reserved codec": {UUID: uuid1, Dim: 3, Codec: codecInt8},
	} {
		w := NewSegmentWriter(io.Discard, o)
		if err := w.Add(1, 1, 1, make([]float32, 3)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := w.Close(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := NewSegmentWriter(io.Discard, SegmentOptions{UUID: uuid1, Dim: 3})
	if err := w.Add(1, 1, 1, make([]float32, 4)); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if err := w.Add(1, 1, 1, make([]float32, 3)); err != nil {
		t.Error("a wrong vector must not spoil the writer:", err)
	}
	if row, err := w.Close(); err != nil || row.Rows != 1 {
		t.Error(row, err)
	}
	if _, err := w.Close(); !errors.Is(err, ErrInvalid) {
		t.Error("second Close:", err)
	}
}

// failAfter fails, or writes less than asked, once n bytes are written.
type failAfter struct {
	n   int
	err error
}

func (f *failAfter) Write(b []byte) (int, error) {
	if len(b) <= f.n {
		f.n -= len(b)
		return len(b), nil
	}
	n := f.n
	f.n = 0
	return n, f.err
}

func TestSegmentWriteErrorsAreSticky(t *testing.T) {
	full := errors.New("no space left")
	rows := sampleRows(5, 30000, false)
	b, _ := encodeSegment(t, SegmentOptions{uuid1, 30000, CodecRaw}, rows)
	for _, n := range []int{0, 10, 64, 300000, len(b) - 65, len(b) - 1} {
		for _, cause := range []error{full, nil} {
			w := NewSegmentWriter(&failAfter{n, cause}, SegmentOptions{uuid1, 30000, CodecRaw})
			for _, r := range rows {
				_ = w.Add(r.id.Kind, r.id.Owner, r.id.Version, r.vec)
			}
			want := cause
			if want == nil {
				want = io.ErrShortWrite
			}
			for range 2 {
				if _, err := w.Close(); !errors.Is(err, want) {
					t.Errorf("after %d bytes: %v, want %v", n, err, want)
				}
			}
		}
	}
}

// badReader fails at one offset with an error of its own.
type badReader struct {
	io.ReaderAt
	from int64
	err  error
}

func (r badReader) ReadAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > r.from {
		return 0, r.err
	}
	return r.ReaderAt.ReadAt(b, at)
}

func TestReadErrorsAreNotCorruption(t *testing.T) {
	b, _ := smallSegment(t, CodecRaw)
	broken := errors.New("input/output error")
	for _, from := range []int64{0, 64, int64(len(b)) - 64} {
		_, err := OpenSegment(badReader{bytes.NewReader(b), from, broken}, int64(len(b)), uuid1)
		if !errors.Is(err, broken) || errors.Is(err, ErrCorrupt) {
			t.Errorf("from %d: %v", from, err)
		}
	}
}

func TestDecodeBlockArguments(t *testing.T) {
	b, _ := smallSegment(t, CodecRaw)
	s, _, err := readSegment(b, uuid1)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float32, 3*16)
	for _, i := range []int{-1, 1} {
		if _, _, err := s.DecodeBlock(i, dst); !errors.Is(err, ErrInvalid) {
			t.Error(i, err)
		}
	}
	if _, _, err := s.DecodeBlock(0, dst[1:]); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if _, err := OpenSegmentOptions(bytes.NewReader(b), int64(len(b)), uuid1, DecodeOptions{MaxIndex: 8}); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	b[70] ^= 1
	s, err = OpenSegmentOptions(bytes.NewReader(b), int64(len(b)), uuid1, DecodeOptions{Path: "segments/x.gvs"})
	if err != nil {
		t.Fatal(err)
	}
	var damage *CorruptionError
	if err := s.VerifyBlock(0); !errors.As(err, &damage) || damage.Path != "segments/x.gvs" || damage.Want == damage.Got {
		t.Error(err)
	}
}

func BenchmarkSegment(b *testing.B) {
	const dim = 768
	rows := sampleRows(85*8, dim, false)
	for _, codec := range codecs() {
		b.Run("write/codec="+codec.String(), func(b *testing.B) {
			b.SetBytes(int64(4 * dim * len(rows)))
			b.ReportAllocs()
			for b.Loop() {
				w := NewSegmentWriter(io.Discard, SegmentOptions{uuid1, dim, codec})
				for _, r := range rows {
					_ = w.Add(r.id.Kind, r.id.Owner, r.id.Version, r.vec)
				}
				if _, err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
		f, _ := encodeSegment(b, SegmentOptions{uuid1, dim, codec}, rows)
		s, _, err := readSegment(f, uuid1)
		if err != nil {
			b.Fatal(err)
		}
		dst := make([]float32, s.BlockRows()*dim)
		b.Run("decode/codec="+codec.String(), func(b *testing.B) {
			b.SetBytes(int64(4 * len(dst)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.DecodeBlock(1, dst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
