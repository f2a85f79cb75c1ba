package graphstore

import (
	"errors"
	"fmt"

	"github.com/lightctl/lightrag/format"
)

// Sentinels for errors.Is.
var (
	ErrNotFound = errors.New("not found")
	ErrClosed   = errors.New("store is closed")
	ErrReadOnly = errors.New("store is read-only")
	ErrLocked   = errors.New("store is in use by another process")
	ErrCorrupt  = format.ErrCorrupt
	ErrTooNew   = format.ErrTooNew
	ErrMismatch = errors.New("mismatch")
	ErrDiskFull = errors.New("no space left on the disk")
	ErrFailed   = errors.New("store failed")
	ErrExists   = errors.New("already exists")
	ErrInvalid  = format.ErrInvalid
)

// CorruptionError says which bytes of which file are damaged.
type CorruptionError = format.CorruptionError

// MismatchError says which fixed property of a store differs from what was
// asked for. It matches ErrMismatch.
type MismatchError struct {
	Field string
	Have  string
	Want  string
}

// Error names the field and both values.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s is %s, wanted %s: %s", e.Field, e.Have, e.Want, ErrMismatch)
}

// Is reports whether target is ErrMismatch.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }
