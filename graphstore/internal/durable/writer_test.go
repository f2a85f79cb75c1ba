package durable

import (
	"bytes"
	"errors"
	"testing"
)

// spoiler overwrites what it is given, as an FS may that does no more than promise not to keep it.
type spoiler struct {
	got     bytes.Buffer
	largest int
	room    int
}

var errNoRoom = errors.New("no room")

func (s *spoiler) Write(p []byte) (int, error) {
	n := min(len(p), s.room-s.got.Len())
	s.got.Write(p[:n])
	s.largest = max(s.largest, len(p))
	clear(p)
	if n < len(p) {
		return n, errNoRoom
	}
	return n, nil
}

func TestWriterCopiesSomeAtATime(t *testing.T) {
	p := bytes.Repeat([]byte("0123456789abcde"), 200_000) // 3 MB
	want := bytes.Clone(p)
	s := &spoiler{room: 1 << 30}
	w := Writer(s)
	for _, part := range [][]byte{p[:5], nil, p[5:]} {
		if n, err := w.Write(part); n != len(part) || err != nil {
			t.Fatalf("%d of %d bytes, %v", n, len(part), err)
		}
	}
	if !bytes.Equal(s.got.Bytes(), want) || !bytes.Equal(p, want) {
		t.Error("it wrote something else, or let what it was given be changed")
	}
	if s.largest > copyBytes {
		t.Errorf("%d bytes at a time", s.largest)
	}
	s = &spoiler{room: copyBytes + 10}
	if n, err := Writer(s).Write(p); n != copyBytes+10 || !errors.Is(err, errNoRoom) {
		t.Errorf("%d bytes, %v", n, err)
	}
}
