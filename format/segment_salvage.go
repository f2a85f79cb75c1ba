package format

import "io"

// SalvagedBlock is a sound block found in a segment. Its slices are reused for
// the next one.
type SalvagedBlock struct {
	Offset  int64
	First   int // ordinal of the first row
	Dim     int
	IDs     []VectorID
	Vectors []float32 // len(IDs) rows of Dim floats
}

// SalvageSegment finds every sound block of a segment whose header, index or
// footer may be gone, and calls fn with each in the order of the file. uuid
// must be the segment's, which its file name tells. What cannot be read is
// passed over, bad sectors too. The error is the first of fn, which stops the
// search.
func SalvageSegment(r io.ReaderAt, size int64, uuid UUID, fn func(b *SalvagedBlock) error) error {
	var (
		window = make([]byte, 64<<10)
		start  int64 // window holds [start, end) of the file
		end    int64
		buf    []byte
		out    SalvagedBlock
		s      planeScratch
	)
	for at := int64(0); at+partSize <= size; {
		if at < start || at+partSize > end {
			n, _ := r.ReadAt(window[:min(int64(len(window)), size-at)], at)
			start, end = at, at+int64(n)
			if n < partSize {
				at += partSize
				continue
			}
		}
		h, err := decodeBlockHead(window[at-start:][:partSize])
		if err != nil || at+int64(h.length()) > size {
			at += partSize
			continue
		}
		buf = resize(buf, h.length())
		n, _ := r.ReadAt(buf, at)
		h, want, got, err := verifyBlock(buf[:n], uuid, at)
		if err == nil && want == got {
			out.Vectors = resize(out.Vectors, h.rows*h.dim)
			err = blockFloats(out.Vectors, buf, &h, &s)
		}
		if err != nil || want != got {
			at += partSize
			continue
		}
		out.Offset, out.First, out.Dim = at, h.first, h.dim
		out.IDs = resize(out.IDs, h.rows)
		for i := range out.IDs {
			out.IDs[i] = rowID(blockIDs(buf, &h), i)
		}
		if err := fn(&out); err != nil {
			return err
		}
		at += int64(len(buf))
	}
	return nil
}
