package format

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func sampleSeal() *Seal {
	return &Seal{Commit: 1, Documents: 2, Chunks: 3, Entities: 4, Relations: 5, Fragments: 6, Segments: 7, Sum: 1<<64 - 1, Files: []SealedFile{
		{Name: "kv/000004.sst", Size: 1 << 40},
		{Name: "kv/MANIFEST-000001", Size: 164, CRC: 0xfeedface, HasCRC: true},
		{Name: "kv/marker.empty", Size: 0, CRC: 0, HasCRC: true},
	}}
}

func TestSealRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Make[Seal]().Draw(t, "seal")
		seen := map[string]bool{}
		files := want.Files
		want.Files = nil
		for _, f := range files {
			if f.Name == "" || seen[f.Name] {
				continue
			}
			seen[f.Name] = true
			f.Size &= 1<<63 - 1
			if !f.HasCRC {
				f.CRC = 0
			}
			want.Files = append(want.Files, f)
		}
		b, err := AppendSeal([]byte("x"), &want)
		if err != nil {
			t.Fatal(err)
		}
		var got Seal
		if err := DecodeSeal(b[1:], &got); err != nil {
			t.Fatal(err)
		}
		again, err := AppendSeal(nil, &got)
		if err != nil || !bytes.Equal(again, b[1:]) || len(got.Files) != len(want.Files) {
			t.Fatal(err, got)
		}
	})
	want, got := sampleSeal(), new(Seal)
	b, _ := AppendSeal(nil, want)
	if err := DecodeSeal(b, got); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatal(err, got)
	}
}

func TestEveryDamageToASealIsDetected(t *testing.T) {
	b, _ := AppendSeal(nil, sampleSeal())
	for i := range 8 * len(b) {
		c := bytes.Clone(b)
		c[i/8] ^= 1 << (i % 8)
		if err := DecodeSeal(c, new(Seal)); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("bit %d: %v", i, err)
		}
	}
	for n := range b {
		if err := DecodeSeal(b[:n], new(Seal)); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("first %d bytes: %v", n, err)
		}
	}
	if err := DecodeSeal(append(b, 0), new(Seal)); !errors.Is(err, ErrCorrupt) {
		t.Fatal(err)
	}
}

// reseal puts the right checksum under edited bytes, as a faulty writer would.
func reseal(b []byte) []byte {
	le.PutUint32(b[len(b)-4:], crc32c(0, b[:len(b)-4]))
	return b
}

func TestSealsWithTheRightChecksum(t *testing.T) {
	b, _ := AppendSeal(nil, sampleSeal())
	for name, c := range map[string]struct {
		edit func(b []byte) []byte
		want error
	}{
		"newer":           {func(b []byte) []byte { b[8] = 2; return b }, ErrTooNew},
		"version 0":       {func(b []byte) []byte { b[8] = 0; return b }, ErrCorrupt},
		"too many files":  {func(b []byte) []byte { le.PutUint32(b[76:], 1<<31); return b }, ErrCorrupt},
		"too few files":   {func(b []byte) []byte { b[76]--; return b }, ErrCorrupt},
		"one file more":   {func(b []byte) []byte { b[76]++; return b }, ErrCorrupt},
		"bytes too many":  {func(b []byte) []byte { return append(b, 0, 0) }, ErrCorrupt},
		"names exchanged": {func(b []byte) []byte { return bytes.Replace(b, []byte("kv/0"), []byte("kv/z"), 1) }, ErrCorrupt},
		"negative size":   {func(b []byte) []byte { b[80+2+13+7] = 0x80; return b }, ErrCorrupt},
		"unknown flag":    {func(b []byte) []byte { b[80+2+13+8] = 2; return b }, ErrCorrupt},
	} {
		if err := DecodeSeal(reseal(c.edit(bytes.Clone(b))), new(Seal)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSealRefusesOneNameTwice(t *testing.T) {
	b, err := AppendSeal(nil, &Seal{Files: []SealedFile{{Name: "a"}, {Name: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := DecodeSeal(reseal(bytes.Replace(b, []byte("b"), []byte("a"), 1)), new(Seal)); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

func TestAppendSealRefuses(t *testing.T) {
	for name, files := range map[string][]SealedFile{
		"no name": {{Size: 1}}, "twice": {{Name: "a"}, {Name: "b"}, {Name: "a"}}, "negative": {{Name: "a", Size: -1}},
		"long name": {{Name: string(make([]byte, 1<<16))}}, "stray checksum": {{Name: "a", CRC: 1}},
	} {
		if b, err := AppendSeal([]byte("x"), &Seal{Files: files}); !errors.Is(err, ErrInvalid) || string(b) != "x" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzSeal(f *testing.F) {
	b, _ := AppendSeal(nil, sampleSeal())
	f.Add(b)
	empty, _ := AppendSeal(nil, &Seal{})
	f.Add(empty)
	f.Add(b[:90])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, in := range [][]byte{b, nil} {
			if in == nil { // the same with the right checksum, to get past it
				if len(b) < 4 {
					return
				}
				in = reseal(bytes.Clone(b))
			}
			var s Seal
			if err := DecodeSeal(in, &s); err != nil {
				if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooNew) {
					t.Fatal(err)
				}
				continue
			}
			again, err := AppendSeal(nil, &s)
			if err != nil || !bytes.Equal(again, in) {
				t.Fatalf("%v: %x was accepted, written as %x", err, in, again)
			}
		}
	})
}
