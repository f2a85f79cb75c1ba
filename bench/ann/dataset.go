package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"unsafe"
)

// dataset is what one comparison runs on: unit vectors, row-major, and for each query its true neighbours.
type dataset struct {
	name  string // of the figures: "real text"
	dim   int
	base  []float32
	query []float32
	truth truth
}

func (d *dataset) rows() int    { return len(d.base) / d.dim }
func (d *dataset) queries() int { return len(d.query) / d.dim }

func (d *dataset) row(i int) []float32 { return d.base[i*d.dim : (i+1)*d.dim : (i+1)*d.dim] }
func (d *dataset) q(i int) []float32   { return d.query[i*d.dim : (i+1)*d.dim : (i+1)*d.dim] }

// String names a data set in a figure: "real text 20k x 384".
func (d *dataset) String() string { return fmt.Sprintf("%s %s x %d", d.name, count(d.rows()), d.dim) }

func count(n int) string {
	if n >= 1000 && n%1000 == 0 {
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

// dataMagic is "ANN1" of a data file: magic, rows, dimension and queries as uint32, then the rows and the
// queries as float32, all little-endian. Drivers read it.
const dataMagic = 0x314e4e41

func (d *dataset) write(path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	head := []uint32{dataMagic, uint32(d.rows()), uint32(d.dim), uint32(d.queries())}
	if err := binary.Write(f, binary.LittleEndian, head); err != nil {
		return err
	}
	for _, v := range [][]float32{d.base, d.query} {
		if err := writeFloats(f, v); err != nil {
			return err
		}
	}
	return nil
}

// writeFloats writes v as it is in memory on a little-endian machine, without a copy.
func writeFloats(w io.Writer, v []float32) error {
	if len(v) == 0 {
		return nil
	}
	if littleEndian {
		_, err := w.Write(unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), 4*len(v)))
		return err
	}
	return binary.Write(w, binary.LittleEndian, v)
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1
