// Package format turns bytes into structs and back: the keys and records of
// the store, adjacency shards, segment files of vectors, and the seal of a
// cleanly closed store. FORMAT.md beside this file is the normative text.
//
// The package has no policy. It reads bytes or an io.ReaderAt, writes to an
// io.Writer, and never opens, names, syncs or deletes a file.
//
// Encoding is deterministic: one value, one byte string. Decoding takes
// nothing on trust: every length is checked against the bytes that are there
// before anything is allocated, no input makes a decoder panic, and an error
// matches ErrCorrupt, ErrTooNew, ErrInvalid or ErrWrongSegment through
// errors.Is. Unless a function says otherwise its result does not alias its
// input.
//
// Functions are safe for concurrent use on distinct arguments. SegmentReader is
// safe for concurrent use; SegmentWriter is not.
package format
