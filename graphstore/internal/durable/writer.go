package durable

import "io"

// Writer makes an io.Writer of a file. A vfs.File may scribble on the bytes it
// is given, which an io.Writer must not: it gets a copy.
func Writer(f io.Writer) io.Writer { return &copyingWriter{w: f} }

type copyingWriter struct {
	w   io.Writer
	buf []byte
}

func (c *copyingWriter) Write(p []byte) (int, error) {
	c.buf = append(c.buf[:0], p...)
	return c.w.Write(c.buf)
}
