package wordvec

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// Content is what a table is made of.
type Content struct {
	Dims   int
	Form   []string // distinct, in lower case
	Row    []int    // of each form
	Count  []uint32 // occurrences of the word of each row
	Scale  []float32
	Vector []int8 // Dims of each row
}

// Encode returns the table of a content. It fails if Decode would refuse it.
func Encode(c Content) ([]byte, error) {
	rows, forms := len(c.Count), len(c.Form)
	if len(c.Row) != forms || len(c.Scale) != rows || len(c.Vector) != rows*c.Dims || forms > maxForms {
		return nil, fmt.Errorf("wordvec: %d forms and %d rows of them, %d counts, %d scales, %d components", forms, len(c.Row), rows, len(c.Scale), len(c.Vector))
	}
	slots := 1 << bits.Len(uint(2*forms)) // at most half of them used
	slot := make([]uint16, slots)
	letters, total := 0, uint32(0)
	for i, form := range c.Form {
		if c.Row[i] < 0 || c.Row[i] >= rows {
			return nil, fmt.Errorf("wordvec: form %q has row %d of %d", form, c.Row[i], rows)
		}
		letters += len(form)
		at := hash(form) & uint32(slots-1)
		for ; slot[at] != 0; at = (at + 1) & uint32(slots-1) {
			if c.Form[slot[at]-1] == form {
				return nil, fmt.Errorf("wordvec: form %q is there twice", form)
			}
		}
		slot[at] = uint16(i + 1)
	}
	for _, n := range c.Count {
		total += n
	}
	le := binary.LittleEndian
	out := make([]byte, digestEnd, headerSize+2*slots+7*forms+letters+rows*(8+c.Dims))
	for _, n := range []int{rows, c.Dims, forms, slots, letters, int(total)} {
		out = le.AppendUint32(out, uint32(n))
	}
	for _, n := range slot {
		out = le.AppendUint16(out, n)
	}
	end := 0
	for _, form := range c.Form {
		end += len(form)
		out = le.AppendUint32(out, uint32(end))
	}
	for _, form := range c.Form {
		out = append(out, form...)
	}
	for _, row := range c.Row {
		out = le.AppendUint16(out, uint16(row))
	}
	for _, n := range c.Count {
		out = le.AppendUint32(out, n)
	}
	for _, x := range c.Scale {
		out = le.AppendUint32(out, math.Float32bits(x))
	}
	for _, x := range c.Vector {
		out = append(out, byte(x))
	}
	copy(out, magic)
	sum := sha256.Sum256(out[digestEnd:])
	copy(out[len(magic):], sum[:])
	_, err := Decode(string(out))
	return out, err
}
