package graphstore

import (
	"fmt"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/durable"
)

// Sentinels for errors.Is.
var (
	ErrNotFound = durable.ErrNotFound
	ErrClosed   = durable.ErrClosed
	ErrReadOnly = durable.ErrReadOnly
	ErrLocked   = durable.ErrLocked
	ErrCorrupt  = durable.ErrCorrupt
	ErrTooNew   = durable.ErrTooNew
	ErrMismatch = durable.ErrMismatch
	ErrDiskFull = durable.ErrDiskFull
	ErrFailed   = durable.ErrFailed
	ErrExists   = durable.ErrExists
	ErrInvalid  = durable.ErrInvalid
)

// CorruptionError says which bytes of which file are damaged. It matches
// ErrCorrupt.
type CorruptionError = format.CorruptionError

// MismatchError says which fixed property of a store differs from what was
// asked for. It matches ErrMismatch.
type MismatchError = durable.MismatchError

// invalidf says what a caller passed that cannot be stored.
func invalidf(text string, args ...any) error {
	return fmt.Errorf(text+": %w", append(args, ErrInvalid)...)
}

// corruptf says what is wrong with rows that are well formed one by one.
func corruptf(text string, args ...any) error {
	return fmt.Errorf(text+": %w", append(args, ErrCorrupt)...)
}

// opError adds the operation and its object, as the last layer does.
func opError(op, object string, err error) error {
	if err == nil {
		return nil
	}
	if object != "" {
		op += " " + object
	}
	return fmt.Errorf("lightrag: %s: %w", op, durable.Classify(err))
}
