package durable

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

// Sentinels for errors.Is.
var (
	ErrNotFound = errors.New("not found")
	ErrClosed   = errors.New("store is closed")
	ErrReadOnly = errors.New("store is read-only")
	ErrLocked   = errors.New("store is in use")
	ErrMismatch = errors.New("does not match the store")
	ErrDiskFull = errors.New("disk is full")
	// ErrFailed is sticky: the store stays readable, refuses every write, and
	// has to be closed and opened again.
	ErrFailed = errors.New("store has failed and must be reopened")
	ErrExists = errors.New("already exists")

	ErrCorrupt = format.ErrCorrupt
	ErrTooNew  = format.ErrTooNew
	ErrInvalid = format.ErrInvalid
)

// MismatchError says which property of an existing store differs from what was
// asked for. It matches ErrMismatch.
type MismatchError struct {
	Field string
	Have  string // stored
	Want  string // asked for
}

// Error names the field and both values.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s is %q, want %q: %s", e.Field, e.Have, e.Want, ErrMismatch)
}

// Is reports whether target is ErrMismatch.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }

// failure is the sticky reason why a store stopped taking writes.
type failure struct{ cause error }

func (f *failure) Error() string {
	return fmt.Sprintf("durable: %s: %s", f.cause, ErrFailed)
}

func (f *failure) Unwrap() []error { return []error{ErrFailed, f.cause} }

// wrap adds what was being done to an error of Pebble or of the file system,
// and the sentinels that the error stands for.
func wrap(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("durable: %s %s: %w", op, path, classify(err))
}

// classify adds the sentinels of this package that err stands for.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrDiskFull) || errors.Is(err, ErrCorrupt) || errors.Is(err, ErrFailed):
		return err
	case isDiskFull(err):
		return fmt.Errorf("%w (%w)", err, ErrDiskFull)
	case errors.Is(err, pebble.ErrReadOnly):
		return fmt.Errorf("%w (%w)", err, ErrReadOnly)
	case errors.Is(err, pebble.ErrNotFound):
		return ErrNotFound
	case pebble.IsCorruptionError(err):
		return corrupt("", "database", &brief{err})
	}
	return err
}

// Classify adds the sentinels of this package that err, of an iterator or of
// the file system, stands for. It is for the last layer above: most reads go
// through iterators, whose errors are Pebble's own.
func Classify(err error) error { return classify(err) }

// brief is the first line of an error: Pebble adds stack traces and such to
// what it says of damage.
type brief struct{ err error }

func (b *brief) Error() string {
	text, _, _ := strings.Cut(b.err.Error(), "\n")
	return text
}

func (b *brief) Unwrap() error { return b.err }

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || vfs.IsNoSpaceError(err)
}

// corrupt makes the error that says path is damaged.
func corrupt(path, part string, err error) error {
	return &format.CorruptionError{Path: path, Part: part, Block: -1, Err: err}
}

func isNotExist(err error) bool { return errors.Is(err, os.ErrNotExist) }
