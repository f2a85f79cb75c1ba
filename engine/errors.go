package engine

import (
	"strings"

	"github.com/lightctl/lightrag/graphstore"
)

// Sentinels for errors.Is. Models add those of package llm.
var (
	ErrNotFound = graphstore.ErrNotFound // the named thing does not exist
	ErrClosed   = graphstore.ErrClosed   // the DB was closed
	ErrReadOnly = graphstore.ErrReadOnly // a write on a read-only DB
	ErrLocked   = graphstore.ErrLocked   // another process or DB holds the directory
	ErrCorrupt  = graphstore.ErrCorrupt  // stored bytes fail their checks
	ErrTooNew   = graphstore.ErrTooNew   // written by a newer version
	ErrMismatch = graphstore.ErrMismatch // the store was made with other settings
	ErrDiskFull = graphstore.ErrDiskFull // no space left
	ErrFailed   = graphstore.ErrFailed   // a write failed; reopen the DB
	ErrExists   = graphstore.ErrExists   // the thing is there already
	ErrInvalid  = graphstore.ErrInvalid  // the caller's input cannot be used
)

// MismatchError says which setting of a store differs from what was asked.
type MismatchError = graphstore.MismatchError

// within is err as the cause of another error of the library, which begins with
// the library's name.
func within(err error) error { return &cause{err} }

type cause struct{ err error }

func (c *cause) Error() string { return strings.TrimPrefix(c.err.Error(), "lightrag: ") }
func (c *cause) Unwrap() error { return c.err }
