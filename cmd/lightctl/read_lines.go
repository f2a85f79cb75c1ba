package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// decodeMark removes a byte order mark, and turns UTF-16 that is marked as such
// into UTF-8.
func decodeMark(r io.Reader) io.Reader {
	br := bufio.NewReaderSize(r, 1<<16)
	head, _ := br.Peek(3) // an error comes again with the first read
	switch {
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		_, _ = br.Discard(3)
		return br
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}), bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return transform.NewReader(br, unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder())
	}
	return br
}

// lines calls fn for every line of r with its number, from 1, without its line
// end, and the bytes it takes in r. A line longer than limit is given as nil.
// fn keeps nothing of line.
func lines(r io.Reader, limit int64, fn func(n int, line []byte, size int64) error) error {
	br := bufio.NewReaderSize(r, 1<<16)
	var line []byte
	var size int64
	long, n := false, 0
	for {
		part, err := br.ReadSlice('\n')
		size += int64(len(part))
		if !long && int64(len(line)+len(part)) > limit+1 {
			long, line = true, line[:0]
		}
		if !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		end := err != nil
		if end && size == 0 {
			return nil
		}
		n++
		given := bytes.TrimRight(line, "\r\n")
		if long {
			given = nil
		} else if given == nil {
			given = []byte{}
		}
		if err := fn(n, given, size); err != nil || end {
			return err
		}
		line, size, long = line[:0], 0, false
	}
}
