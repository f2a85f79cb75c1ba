package format

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// repair puts right checksums under whatever the parts of a file have become,
// as far as they can be found, so that what comes after them is tested too.
func repair(b []byte) []byte {
	if len(b) < 2*partSize {
		return b
	}
	head, foot := b[:partSize], b[len(b)-partSize:]
	copy(head, segmentMagic)
	copy(foot[56:], footerMagic)
	le.PutUint64(foot[16:], uint64(len(b)))
	var uuid UUID
	copy(uuid[:], head[16:])
	at, n := le.Uint64(foot), le.Uint64(foot[8:])
	if at < uint64(len(b)) && n <= uint64(len(b))-at && n >= indexHead {
		index := b[at:][:n]
		for e := index[indexHead:]; len(e) >= indexEntry; e = e[indexEntry:] {
			from, length := le.Uint64(e), uint64(le.Uint32(e[8:]))
			if from >= at || length > at-from || length < partSize {
				break
			}
			block := b[from:][:length]
			le.PutUint32(block[60:], blockCRC(uuid, int64(from), block))
			copy(e[16:20], block[60:])
		}
		le.PutUint32(foot[48:], crc32c(salt(uuid, int64(at)), index))
	}
	le.PutUint32(head[60:], crc32c(0, head[:60]))
	le.PutUint32(foot[52:], footerCRC(head, foot))
	return b
}

// checkSegmentBytes reads a segment in every way; what is accepted must be
// written back as the same rows.
func checkSegmentBytes(t *testing.T, b []byte) {
	s, rows, err := readSegment(b, UUID{})
	if err != nil {
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooNew) {
			t.Fatal(err)
		}
		return
	}
	if err := s.Verify(); err != nil {
		t.Fatal("read, but does not verify:", err)
	}
	again, _ := encodeSegment(t, SegmentOptions{s.UUID(), s.Dim(), s.Codec()}, rows)
	if _, back, err := readSegment(again, s.UUID()); err != nil || !sameRows(back, rows) {
		t.Fatal(err, "rows changed")
	}
}

func addSegments(f *testing.F, add func(b []byte)) {
	for _, codec := range codecs() {
		b, _ := smallSegment(f, codec)
		add(b)
		file, err := os.ReadFile(filepath.Join("testdata", "v2", "segment-"+codec.String()+".gvs"))
		if err != nil {
			f.Fatal(err)
		}
		add(file)
	}
	empty, _ := encodeSegment(f, SegmentOptions{uuid1, 5, CodecPlanes}, nil)
	add(empty)
}

func FuzzOpenSegment(f *testing.F) {
	addSegments(f, func(b []byte) {
		f.Add(b)
		f.Add(b[:len(b)-1])
		f.Add(b[:len(b)/2])
	})
	f.Fuzz(func(t *testing.T, b []byte) {
		checkSegmentBytes(t, b)
		salvageAll(t, b)
		b = repair(bytes.Clone(b))
		checkSegmentBytes(t, b)
		salvageAll(t, b)
	})
}

func salvageAll(t *testing.T, b []byte) {
	err := SalvageSegment(bytes.NewReader(b), int64(len(b)), uuid1, func(sb *SalvagedBlock) error {
		if len(sb.Vectors) != len(sb.IDs)*sb.Dim {
			t.Fatal("vectors do not fit the ids")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzMutateSegment inverts some bits of a sound file: it is refused, or
// reads the same.
func FuzzMutateSegment(f *testing.F) {
	var files [][]byte
	var contents [][]row
	addSegments(f, func(b []byte) {
		_, rows, err := readSegment(b, UUID{})
		if err != nil {
			f.Fatal(err)
		}
		files, contents = append(files, b), append(contents, rows)
		f.Add(uint8(len(files)-1), uint32(len(b)/3), uint64(1))
	})
	f.Fuzz(func(t *testing.T, which uint8, at uint32, mask uint64) {
		i := int(which) % len(files)
		b := bytes.Clone(files[i])
		for n := range 8 {
			b[(int(at%(1<<30))+n)%len(b)] ^= byte(mask >> (8 * n))
		}
		_, rows, err := readSegment(b, UUID{})
		if err == nil && !sameRows(rows, contents[i]) {
			t.Fatal("silent difference")
		}
	})
}

// FuzzDecodeBlock feeds the decoders of floats past all checksums.
func FuzzDecodeBlock(f *testing.F) {
	for _, half := range []bool{false, true} {
		src := normalRows(20, 16, half)
		for _, codec := range codecs() {
			b := codec.appendFloats(nil, src, new(planeScratch))
			f.Add(uint8(codec), uint32(len(src)), b)
			f.Add(uint8(codec), uint32(len(src)-1), b)
		}
	}
	f.Add(uint8(CodecPlanes), uint32(64), appendPlanes(nil, make([]float32, 64), new(planeScratch)))
	f.Fuzz(func(t *testing.T, which uint8, n uint32, b []byte) {
		codec := Codec(which % 2)
		dst, s := make([]float32, n%(maxBlockFloats+1)), new(planeScratch)
		for range 2 { // scratch that has seen bad input must still be good
			if bad := codec.decodeFloats(dst, b, s); bad != "" {
				continue
			}
			enc := codec.appendFloats(nil, dst, s)
			back := make([]float32, len(dst))
			if bad := codec.decodeFloats(back, enc, s); bad != "" || !sameBits(back, dst) {
				t.Fatal(bad, "floats changed")
			}
		}
	})
}

// FuzzRoundTrip writes arbitrary bits as floats and reads them back.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte{0, 0, 0xc0, 0x7f, 1, 0, 0xa0, 0x7f, 0, 0, 0x80, 0xff, 1, 0, 0, 0x80}, uint8(2))
	f.Add(appendRaw(nil, normalRows(30, 16, true)), uint8(16))
	f.Fuzz(func(t *testing.T, b []byte, dim uint8) {
		vec := make([]float32, len(b)/4)
		for i := range vec {
			vec[i] = math.Float32frombits(le.Uint32(b[4*i:]))
		}
		d := max(1, int(dim))
		var want []row
		for i := 0; i+d <= len(vec); i += d {
			want = append(want, row{VectorID{Kind(i), uint32(i) * 0x01000193, uint32(len(b))}, vec[i : i+d]})
		}
		for _, codec := range codecs() {
			enc, _ := encodeSegment(t, SegmentOptions{uuid1, d, codec}, want)
			if _, got, err := readSegment(enc, uuid1); err != nil || !sameRows(got, want) {
				t.Fatal(codec, err)
			}
		}
		v, w := BufferedVector{Vector: vec}, BufferedVector{}
		if err := DecodeBufferedVector(AppendBufferedVector(nil, &v), &w); err != nil || !sameBits(w.Vector, vec) {
			t.Fatal(err)
		}
	})
}
