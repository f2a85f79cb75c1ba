package engine

import (
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
