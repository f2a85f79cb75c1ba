package hnsw

import (
	"errors"
	"fmt"
)

// Sentinels for errors.Is. Every error of this package matches at least one, or is the caller's context or
// writer error.
var (
	ErrInvalid    = errors.New("invalid argument")
	ErrDimension  = errors.New("wrong dimension")
	ErrNotFinite  = errors.New("not a finite number")
	ErrZeroVector = errors.New("vector without a direction")
	ErrFull       = errors.New("index is full")
	ErrClosed     = errors.New("index is closed")
	ErrCorrupt    = errors.New("corrupt")
	ErrTooNew     = errors.New("written by a newer version")
	// ErrMismatch marks an intact file that belongs to other rows or other options. It comes with ErrCorrupt:
	// what to do about either is to build anew.
	ErrMismatch = errors.New("does not belong to these rows and options")
)

// VectorError says what is wrong with a vector. Err is ErrDimension, ErrNotFinite or ErrZeroVector.
type VectorError struct {
	Dim, WantDim int     // its dimension and that of the index
	At           int     // ErrNotFinite: the first offending element
	Norm         float64 // ErrZeroVector: the Euclidean norm
	Err          error
}

func (e *VectorError) Error() string {
	switch e.Err {
	case ErrDimension:
		return fmt.Sprintf("hnsw: vector: %v: %d, want %d", e.Err, e.Dim, e.WantDim)
	case ErrNotFinite:
		return fmt.Sprintf("hnsw: vector: element %d: %v", e.At, e.Err)
	default:
		return fmt.Sprintf("hnsw: vector: %v: norm %g", e.Err, e.Norm)
	}
}

func (e *VectorError) Unwrap() error { return e.Err }

// CorruptionError says which part of a file could not be believed. It matches ErrCorrupt, and Err where that
// is set (ErrMismatch, or the error of the reader).
type CorruptionError struct {
	Path   string // of the file, where it is known
	Part   string // "header", "rows", "links", ...
	Offset int64  // in bytes from the start: of what is damaged, or of the part it is in
	Reason string
	Err    error
}

func (e *CorruptionError) Error() string {
	where := e.Part
	if e.Path != "" {
		where = e.Path + ": " + where
	}
	text := fmt.Sprintf("hnsw: load %s at byte %d: %v: %s", where, e.Offset, ErrCorrupt, e.Reason)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *CorruptionError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrCorrupt}
	}
	return []error{ErrCorrupt, e.Err}
}
