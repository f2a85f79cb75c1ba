package hnsw

import (
	"errors"
	"fmt"
	"os"
)

// Defaults of Options.
const (
	DefaultM              = 16
	DefaultEfConstruction = 200
	DefaultEfSearch       = 64
	// DefaultExactBelow is about where a scan of 384-d rows, 30 us, costs as much as a walk with ef 64, which does not
	// find everything, and needs links.
	DefaultExactBelow = 4096
)

const (
	maxDim = 1 << 16
	maxM   = 128
	maxEf  = 1 << 20

	maxWorkers = 1024
)

// Walk is what walks, of searches and of linking, compare slots by.
type Walk uint8

const (
	// WalkCodes compares one-byte codes, a quarter of the memory to read, and afterwards the rows of the best: hits
	// have exact scores either way. Where there are no codes (below 64 dimensions, and on machines without
	// kernels for them), it is WalkRows.
	WalkCodes Walk = iota
	// WalkRows compares the float32 rows. It may tell rows apart that are nearer to one another than about 0.01,
	// thousands of which hide from codes which of them is the nearest.
	WalkRows
)

// Options tunes a Graph or an Index. The zero value works.
type Options struct {
	// M is the number of neighbours a slot chooses per layer, and the capacity of a list above layer 0;
	// layer 0 holds 2M-1. 0 means DefaultM; otherwise 2 to 128.
	M int
	// EfConstruction is the number of candidates collected when a slot is linked. 0 means
	// DefaultEfConstruction; it is raised to M where it is below.
	EfConstruction int
	// EfSearch is the number of candidates a search collects when it does not say. 0 means DefaultEfSearch.
	EfSearch int
	// ExactBelow is the number of slots up to which every search is an exact scan, which then needs no links. 0
	// means DefaultExactBelow, a negative value turns the rule off.
	ExactBelow int
	// Seed varies the layers that slots are given. The same seed, the same rows in the same order and one
	// linking worker give the same graph.
	Seed uint64
	// Walk says by what a walk compares slots: the zero value by their codes.
	Walk Walk
	// Workers is the number of goroutines an Index appends and links a batch with, 1,024 at most. Below 2 means one:
	// more of them make the graph depend on timing, though not its quality. Graph ignores it (see LinkParallel).
	Workers int
	// RowFile is where a Graph keeps its rows, if it is not nil: a file, empty and open for reading and writing, that
	// belongs to the graph from then on and is closed once that is unreachable. It may have been removed from its
	// folder. Rows are then pages of the page cache, which the system takes back when it needs memory, and not memory of
	// the process. Nothing in it is of use afterwards. What it has no room for, as on a full disk, is in memory. Where
	// files cannot be mapped (elsewhere than on Linux and macOS, and in race builds) it is left alone, and rows are in
	// memory. Index ignores it.
	RowFile *os.File
}

func (o Options) withDefaults() Options {
	if o.M == 0 {
		o.M = DefaultM
	}
	if o.EfConstruction == 0 {
		o.EfConstruction = DefaultEfConstruction
	}
	o.EfConstruction = max(o.EfConstruction, o.M)
	if o.EfSearch == 0 {
		o.EfSearch = DefaultEfSearch
	}
	if o.ExactBelow == 0 {
		o.ExactBelow = DefaultExactBelow
	}
	o.Workers = max(o.Workers, 1)
	return o
}

// validate is called on filled options and joins every problem.
func (o Options) validate(dim int) error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...))
	}
	if dim < 1 || dim > maxDim {
		bad("dimension %d is not in 1..%d", dim, maxDim)
	}
	if o.M < 2 || o.M > maxM {
		bad("M %d is not in 2..%d", o.M, maxM)
	}
	if o.EfConstruction < 1 || o.EfConstruction > maxEf {
		bad("EfConstruction %d is not in 1..%d", o.EfConstruction, maxEf)
	}
	if o.EfSearch < 1 || o.EfSearch > maxEf {
		bad("EfSearch %d is not in 1..%d", o.EfSearch, maxEf)
	}
	if o.Walk > WalkRows {
		bad("Walk %d is none of the two", o.Walk)
	}
	if o.Workers > maxWorkers {
		bad("Workers %d is above %d", o.Workers, maxWorkers)
	}
	return errors.Join(errs...)
}
