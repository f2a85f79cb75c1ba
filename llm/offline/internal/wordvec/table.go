package wordvec

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"sync"
)

//go:embed words.bin
var embedded string

// Default returns the embedded table.
var Default = sync.OnceValue(func() *Table {
	t, err := Decode(embedded)
	if err != nil {
		panic(err) // the file is part of the program, and tested
	}
	return t
})

// A Table gives forms of words the vector of their word. It is immutable and
// safe for concurrent use.
type Table struct {
	data  string
	dims  int
	total float64
	mask  uint32

	slot, end, letter, row, count, scale, vector string // sections of data
}

const (
	magic      = "lrwords1"
	digestEnd  = len(magic) + sha256.Size
	headerSize = digestEnd + 6*4

	maxRows  = 1 << 16
	maxDims  = 1 << 12
	maxForms = 1<<16 - 1
	maxSlots = 1 << 20
)

// Decode returns a table that reads data in place. It checks all that a lookup
// relies on, and leaves the digest to Verify.
func Decode(data string) (*Table, error) {
	if len(data) < headerSize || !strings.HasPrefix(data, magic) {
		return nil, fmt.Errorf("wordvec: this is no table of format %s", magic)
	}
	field := func(i int) int { return int(u32(data, digestEnd+4*i)) }
	rows, dims, forms, slots, letters := field(0), field(1), field(2), field(3), field(4)
	if rows > maxRows || dims > maxDims || forms > maxForms || slots > maxSlots || slots&(slots-1) != 0 || slots <= forms {
		return nil, fmt.Errorf("wordvec: %d rows of %d, %d forms in %d slots", rows, dims, forms, slots)
	}
	if want := headerSize + 2*slots + 4*forms + letters + 2*forms + 8*rows + rows*dims; len(data) != want {
		return nil, fmt.Errorf("wordvec: %d bytes, the header promises %d", len(data), want)
	}
	rest := data[headerSize:]
	cut := func(n int) string {
		part := rest[:n]
		rest = rest[n:]
		return part
	}
	t := &Table{data: data, dims: dims, total: float64(field(5)), mask: uint32(slots - 1)}
	t.slot, t.end, t.letter, t.row = cut(2*slots), cut(4*forms), cut(letters), cut(2*forms)
	t.count, t.scale, t.vector = cut(4*rows), cut(4*rows), cut(rows*dims)
	return t, t.check(rows, forms)
}

// check makes sure that every lookup ends and stays within the sections.
func (t *Table) check(rows, forms int) error {
	used := 0
	for i := 0; i < len(t.slot); i += 2 {
		n := u16(t.slot, i)
		if n > forms {
			return fmt.Errorf("wordvec: slot %d names form %d of %d", i/2, n, forms)
		}
		if n > 0 {
			used++
		}
	}
	if 2*used >= len(t.slot) {
		return fmt.Errorf("wordvec: no slot is free")
	}
	before := uint32(0)
	for i := range forms {
		end := u32(t.end, 4*i)
		if end < before || int(end) > len(t.letter) {
			return fmt.Errorf("wordvec: form %d ends at %d, after %d and within %d", i, end, before, len(t.letter))
		}
		before = end
		if r := u16(t.row, 2*i); r >= rows {
			return fmt.Errorf("wordvec: form %d has row %d of %d", i, r, rows)
		}
	}
	for i := range rows {
		if scale := math.Float32frombits(u32(t.scale, 4*i)); !(scale > 0 && scale <= math.MaxFloat32) {
			return fmt.Errorf("wordvec: scale of row %d is %g", i, scale)
		}
		if n := u32(t.count, 4*i); n == 0 || float64(n) > t.total {
			return fmt.Errorf("wordvec: count of row %d is %d of %g", i, n, t.total)
		}
	}
	return nil
}

// Dims is the number of components of a vector.
func (t *Table) Dims() int { return t.dims }

// Digest names the content of the table: SHA-256 in hexadecimal.
func (t *Table) Digest() string { return hex.EncodeToString([]byte(t.data[len(magic):digestEnd])) }

// Verify reads all of the table and compares it with its digest.
func (t *Table) Verify() error {
	if sum := sha256.Sum256([]byte(t.data[digestEnd:])); string(sum[:]) != t.data[len(magic):digestEnd] {
		return fmt.Errorf("wordvec: the table has digest %x, its header says %s", sum, t.Digest())
	}
	return nil
}

// Row returns the row of the word that form, in lower case, is a form of.
func (t *Table) Row(form string) (int, bool) {
	for at := hash(form) & t.mask; ; at = (at + 1) & t.mask {
		n := u16(t.slot, int(2*at))
		if n == 0 {
			return 0, false
		}
		if t.form(n-1) == form {
			return u16(t.row, 2*n-2), true
		}
	}
}

func (t *Table) form(i int) string {
	begin := uint32(0)
	if i > 0 {
		begin = u32(t.end, 4*i-4)
	}
	return t.letter[begin:u32(t.end, 4*i)]
}

// Share returns what part of the words of the training text a row is, above 0.
func (t *Table) Share(row int) float64 { return float64(u32(t.count, 4*row)) / t.total }

// Add adds weight times the vector of a row to dst, which has Dims components.
// Every platform rounds alike: the conversion forbids a fused multiply-add.
func (t *Table) Add(dst []float32, row int, weight float32) {
	weight *= math.Float32frombits(u32(t.scale, 4*row))
	v := t.vector[row*t.dims : (row+1)*t.dims]
	dst = dst[:len(v)]
	for i := range dst {
		dst[i] += float32(weight * float32(int8(v[i])))
	}
}

// hash is FNV-1a of 32 bits, with its high bits folded into those that are used.
func hash(s string) uint32 {
	x := uint32(2166136261)
	for i := 0; i < len(s); i++ {
		x = (x ^ uint32(s[i])) * 16777619
	}
	return x ^ x>>15
}

func u16(s string, at int) int { return int(s[at]) | int(s[at+1])<<8 }

func u32(s string, at int) uint32 {
	return uint32(s[at]) | uint32(s[at+1])<<8 | uint32(s[at+2])<<16 | uint32(s[at+3])<<24
}
