package durable

import "io"

// Writer makes an io.Writer of a file. A vfs.File may scribble on the bytes it
// is given, which an io.Writer must not: it gets a copy.
func Writer(f io.Writer) io.Writer { return &copyingWriter{w: f} }

type copyingWriter struct {
	w   io.Writer
	buf []byte
}

// copyBytes is how much is copied at a time: what is written may be as large as an index.
const copyBytes = 1 << 20

func (c *copyingWriter) Write(p []byte) (int, error) {
	done := 0
	for len(p) > 0 {
		c.buf = append(c.buf[:0], p[:min(len(p), copyBytes)]...)
		n, err := c.w.Write(c.buf)
		if done += n; err != nil {
			return done, err
		}
		p = p[n:]
	}
	return done, nil
}
