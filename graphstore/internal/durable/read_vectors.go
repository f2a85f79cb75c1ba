package durable

import (
	"errors"
	"math"

	"github.com/lightctl/lightrag/format"
)

// ReadVectors calls fn with the vectors of r's state that want asks for, in no
// order that means anything; vec is good until fn returns. Blocks of segments
// that hold none of them are not read. It stops at the first error.
func (d *DB) ReadVectors(r Reader, want func(kind format.Kind, owner, version uint32) bool,
	fn func(kind format.Kind, owner, version uint32, vec []float32) error) error {
	segments, err := d.readSegments(r)
	if err != nil {
		return wrap("read vectors of", d.dir, err)
	}
	var floats []float32
	for _, info := range segments {
		if floats, err = d.readSegment(info, floats, want, fn); err != nil {
			return wrap("read", info.Path, err)
		}
	}
	return wrap("read vectors of", d.dir, Buffered(r, math.MaxUint64, func(_ uint64, v *format.BufferedVector) error {
		if !want(v.Kind, v.Owner, v.Version) {
			return nil
		}
		return fn(v.Kind, v.Owner, v.Version, v.Vector)
	}))
}

// readSegment is ReadVectors of one segment; floats is room for a block, and
// is returned for the next one.
func (d *DB) readSegment(info SegmentInfo, floats []float32, want func(format.Kind, uint32, uint32) bool,
	fn func(format.Kind, uint32, uint32, []float32) error) (_ []float32, err error) {
	f, s, err := d.openSegment(info.Path, info)
	if err != nil {
		return floats, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	dim, per := s.Dim(), s.BlockRows()
	for block := range s.Blocks() {
		read := false
		for row := block * per; row < min(s.Rows(), (block+1)*per); row++ {
			id := s.ID(row)
			if !want(id.Kind, id.Owner, id.Version) {
				continue
			}
			if !read {
				if n := min(per, s.Rows()) * dim; len(floats) < n {
					floats = make([]float32, n)
				}
				if _, _, err := s.DecodeBlock(block, floats); err != nil {
					return floats, err
				}
				read = true
			}
			at := (row - block*per) * dim
			if err := fn(id.Kind, id.Owner, id.Version, floats[at:at+dim:at+dim]); err != nil {
				return floats, err
			}
		}
	}
	return floats, nil
}
