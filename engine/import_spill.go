package engine

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// spill keeps on disk what an import has read and will need again, so that
// memory holds a few words per row and no texts. The file loses its name at
// once where the system allows it, so that a crash leaves none behind.
type spill struct {
	f     *os.File
	named bool // the system does not remove the name of an open file
	w     *bufio.Writer
	size  int64
	buf   []byte
}

// span is where a spilled value lies.
type span struct {
	off int64
	len int32
}

func newSpill(dir string) (*spill, error) {
	f, err := os.CreateTemp(dir, "lightrag-import-*")
	if err != nil {
		return nil, err
	}
	named := os.Remove(f.Name()) != nil
	return &spill{f: f, named: named, w: bufio.NewWriterSize(f, 1<<18)}, nil
}

// close gives the space back.
func (s *spill) close() error {
	err := s.f.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.f.Name()))
	}
	return err
}

// Write appends raw bytes.
func (s *spill) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.size += int64(n)
	return n, err
}

// put appends a value.
func (s *spill) put(b []byte) (span, error) {
	if int64(len(b)) > 1<<31-1 {
		return span{}, fmt.Errorf("a value of %d bytes is too long", len(b))
	}
	at := span{s.size, int32(len(b))}
	_, err := s.Write(b)
	return at, err
}

// putJSON appends the encoding of v.
func (s *spill) putJSON(v any) (span, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return span{}, err
	}
	return s.put(b)
}

// get returns a value; the bytes are lent until the next call.
func (s *spill) get(at span) ([]byte, error) {
	if err := s.w.Flush(); err != nil {
		return nil, err
	}
	if cap(s.buf) < int(at.len) {
		s.buf = make([]byte, at.len)
	}
	b := s.buf[:at.len]
	_, err := s.f.ReadAt(b, at.off)
	if err == io.EOF && len(b) == 0 {
		err = nil
	}
	return b, err
}

func (s *spill) getJSON(at span, v any) error {
	b, err := s.get(at)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}
