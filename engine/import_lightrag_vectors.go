package engine

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/lightctl/lightrag/graphstore"
)

// vectorRow is one row of a vdb file, without its vector.
type vectorRow struct {
	ID      string  `json:"__id__"`
	Entity  *string `json:"entity_name"`
	Src     *string `json:"src_id"`
	Tgt     *string `json:"tgt_id"`
	Content *string `json:"content"`
	Doc     any     `json:"full_doc_id"`
	Path    any     `json:"file_path"`
	Vector  *string `json:"vector"` // base64 of zlib of float16
}

// vectorFile is a vdb file that has been read: its matrix lies in the spill.
type vectorFile struct {
	im     *lightragImport
	name   string
	dim    int
	rows   int
	texts  []uint64 // hash of the text of each row, 0 if it has none
	matrix int64    // where it begins
	bytes  int64
	halves map[int]span // vectors taken from rows
	at     map[string]int32
}

// wantVectors says whether vectors of the directory can be taken over at all.
func (im *lightragImport) wantVectors() bool {
	return !im.o.SkipVectors && !im.offlineVectors()
}

// openVectors reads a vdb file. fn sees every row; at
// finds a row by its id.
func (im *lightragImport) openVectors(name string, fn func(i int32, row *vectorRow) error) (*vectorFile, error) {
	f := &vectorFile{im: im, name: name, halves: make(map[int]span), at: make(map[string]int32)}
	halves := false
	err := im.file(name, func(r io.Reader) (int, error) {
		err := f.read(r, func(row *vectorRow) error {
			halves = halves || row.Vector != nil
			if _, twice := f.at[row.ID]; twice {
				im.issues.add("row twice", name, row.ID, "")
			}
			f.at[row.ID] = int32(f.rows)
			return fn(int32(f.rows), row)
		})
		return f.rows, err
	})
	if err != nil || f.rows == 0 {
		return f, err
	}
	if im.o.SkipVectors {
		return f, nil
	}
	if im.offlineVectors() {
		im.issues.add("vectors of another model", name, "", fmt.Sprintf("%d vectors of %d components", f.rows, f.dim))
		return f, nil
	}
	if f.dim != im.dim() {
		im.issues.add("vector dimension", name, "", fmt.Sprintf("%d, the store's is %d", f.dim, im.dim()))
		return f, nil
	}
	if want := int64(f.rows) * int64(f.dim) * 4; f.bytes != want {
		im.issues.add("matrix length", name, "", fmt.Sprintf("%d bytes for %d rows of %d components", f.bytes, f.rows, f.dim))
	}
	if halves {
		return f, f.recover()
	}
	return f, nil
}

func (im *lightragImport) dim() int { return int(im.db.store.Identity().Dim) }

// read reads the file in one pass, whatever the order of its parts.
func (f *vectorFile) read(r io.Reader, fn func(row *vectorRow) error) error {
	s := newJSONStream(r)
	var buf []byte
	err := s.object(func(key string) (err error) {
		switch key {
		case "embedding_dim":
			if buf, err = s.raw(buf[:0], maxSmallRow); err == nil {
				f.dim = int(min(max(number(buf, 0), 0), 1<<20))
			}
			return err
		case "data":
			return s.array(func(i int) (err error) {
				defer func() { f.rows++ }()
				f.texts = append(f.texts, 0)
				buf, err = s.raw(buf[:0], maxImportRow)
				if err != nil && !errors.Is(err, errTooLong) {
					return err
				}
				var row vectorRow
				if err == nil {
					err = json.Unmarshal(buf, &row)
				}
				if err != nil {
					f.im.issues.add("row malformed", f.name, fmt.Sprintf("data[%d]", i), err.Error())
					return nil
				}
				if row.Content != nil {
					f.texts[i] = graphstore.TextHash(*row.Content)
				}
				return fn(&row)
			})
		case "matrix":
			if c, err := s.peek(); err != nil || c != '"' || !f.im.wantVectors() {
				return errors.Join(err, s.skip())
			}
			f.matrix = f.im.spill.size
			d := &base64Writer{w: f.im.spill}
			if err := s.textTo(d); err != nil {
				return err
			}
			if err := d.close(); err != nil {
				f.im.issues.add("file damaged", f.name, "matrix", err.Error())
			}
			f.bytes = f.im.spill.size - f.matrix
			return nil
		}
		return s.skip()
	})
	if err == nil {
		err = s.end()
	}
	return err
}

// base64Writer decodes what is written to it. After bytes that are no base64
// it ignores the rest, and close says so.
type base64Writer struct {
	w    io.Writer
	left []byte // fewer than four characters
	out  []byte
	n    int64
	err  error
}

func (d *base64Writer) Write(p []byte) (int, error) {
	if d.err != nil {
		return len(p), nil
	}
	d.left = append(d.left, p...)
	whole := len(d.left) / 4 * 4
	err := d.decode(d.left[:whole])
	d.left = append(d.left[:0], d.left[whole:]...)
	return len(p), err
}

// decode fails only when the writer below does.
func (d *base64Writer) decode(b []byte) error {
	if need := base64.StdEncoding.DecodedLen(len(b)); cap(d.out) < need {
		d.out = make([]byte, need)
	}
	n, err := base64.StdEncoding.Decode(d.out[:cap(d.out)], b)
	if err != nil {
		d.err = fmt.Errorf("after %d bytes: %w", d.n+int64(n), err)
	}
	d.n += int64(n)
	_, err = d.w.Write(d.out[:n])
	return stop(err)
}

func (d *base64Writer) close() error {
	if d.err == nil && len(d.left) > 0 {
		d.err = fmt.Errorf("after %d bytes: the text ends within a group of four characters", d.n)
	}
	return d.err
}

// vector returns the vector of a row, or why there is none that can be used.
func (f *vectorFile) vector(row int) ([]float32, error) {
	if at, ok := f.halves[row]; ok {
		b, err := f.im.spill.get(at)
		if err != nil {
			return nil, stop(err)
		}
		return floats(b), nil
	}
	size := int64(f.dim) * 4
	if size == 0 || int64(row+1)*size > f.bytes {
		return nil, errors.New("the matrix has no such row")
	}
	b, err := f.im.spill.get(span{f.matrix + int64(row)*size, int32(size)})
	if err != nil {
		return nil, stop(err)
	}
	v := floats(b)
	return v, checkVector(v, f.dim)
}

func floats(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

// recover reads the file once more, for the vectors that rows carry and the
// matrix lacks.
func (f *vectorFile) recover() error {
	bad := make(map[int]bool)
	for i := range f.rows {
		_, err := f.vector(i)
		var fatal *stopError
		if errors.As(err, &fatal) {
			return fatal.err
		}
		if err != nil {
			bad[i] = true
		}
	}
	if len(bad) == 0 {
		return nil
	}
	again := &vectorFile{im: f.im, name: f.name}
	noted := len(f.im.rep.Files)
	saved := f.im.issues
	f.im.issues = make(issues) // what is wrong with the file was said
	defer func() { f.im.issues, f.im.rep.Files = saved, f.im.rep.Files[:noted] }()
	return f.im.file(f.name, func(r io.Reader) (int, error) {
		err := again.readRows(r, func(i int, row *vectorRow) error {
			if !bad[i] || row.Vector == nil {
				return nil
			}
			v, err := decodeHalves(*row.Vector, f.dim)
			if err == nil {
				err = checkVector(v, f.dim)
			}
			if err != nil {
				return nil // vector says what is wrong with the matrix
			}
			b := make([]byte, 0, 4*len(v))
			for _, x := range v {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
			f.halves[i], err = f.im.spill.put(b)
			saved.add("vector recovered", f.name, row.ID, "")
			return stop(err)
		})
		return 0, err
	})
}

// readRows reads the rows and leaves the matrix alone.
func (f *vectorFile) readRows(r io.Reader, fn func(i int, row *vectorRow) error) error {
	s := newJSONStream(r)
	var buf []byte
	return s.object(func(key string) error {
		if key != "data" {
			return s.skip()
		}
		return s.array(func(i int) (err error) {
			if buf, err = s.raw(buf[:0], maxImportRow); err != nil {
				if errors.Is(err, errTooLong) {
					return nil
				}
				return err
			}
			var row vectorRow
			if json.Unmarshal(buf, &row) != nil {
				return nil
			}
			return fn(i, &row)
		})
	})
}

// decodeHalves decodes base64 of zlib of little-endian float16.
func decodeHalves(text string, dim int) ([]float32, error) {
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(z, int64(2*dim)+1))
	if err != nil {
		return nil, err
	}
	if len(b) != 2*dim {
		return nil, fmt.Errorf("%d bytes for %d components", len(b), dim)
	}
	v := make([]float32, dim)
	for i := range v {
		v[i] = half(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return v, nil
}

// half converts an IEEE 754 binary16 number.
func half(h uint16) float32 {
	sign := float32(1)
	if h&0x8000 != 0 {
		sign = -1
	}
	exp, frac := int(h>>10&0x1f), float64(h&0x3ff)
	switch exp {
	case 0:
		return sign * float32(math.Ldexp(frac, -24))
	case 31:
		if frac != 0 {
			return float32(math.NaN())
		}
		return sign * float32(math.Inf(1))
	}
	return sign * float32(math.Ldexp(1024+frac, exp-25))
}
