package hnsw

import (
	"fmt"
	"os"
	"time"
)

// OpenOptions tunes Open. The zero value works.
type OpenOptions struct {
	// Workers is Options.Workers, which is in no file.
	Workers int
	// Verify reads and verifies everything now, as Load does, rather than when it is used.
	Verify bool
}

// Open returns the index that SaveFile, or Save, wrote to a file. Where files can be mapped (Linux and macOS, 64
// bits) it takes milliseconds whatever the size: links and rows are verified when they are first read, codes by and by
// by searches, and all links and codes before the first write; ids are mapped to slots when one is asked for. Elsewhere,
// it is Load.
//
// Damage that is found later is the error of the search that met it, a *CorruptionError with file and offset, and
// never a wrong score. Of an index whose rows are damaged, the other rows can still be searched.
//
// The file is read only, and may be replaced (see SaveFile) or removed, but must not be written to or cut short while
// the index is in use. What is written to the index is in memory until it is saved. Pages of the file that nobody has
// written to are shared with the page cache, and do not count as memory of the process.
func Open(path string, o OpenOptions) (*Index, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("hnsw: open: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("hnsw: open: %w", err)
	}
	f, err := readFileHeader(file, info.Size(), path, true)
	if err != nil {
		return nil, err
	}
	if os.Getpagesize() <= mapAlign { // else the last page of a section has more than zeros behind it
		f.mapped = file
	}
	ix, err := f.load(o.Verify)
	if err != nil {
		return nil, err
	}
	ix.home = &home{path: path, base: int64(f.size), at: int64(f.end), header: f.header, foot: f.foot, number: f.number, after: f.after, torn: f.torn}
	// A file from where codes are not kept, or from where they are, cannot be changed piece by piece.
	ix.moved = f.codes != ix.cur.g.headerOf().codes
	f.r, f.mapped, f.deltas, f.uppers = nil, nil, nil, nil
	if o.Workers > 0 {
		ix.o.Workers = o.Workers
		if err := ix.o.validate(ix.Dim()); err != nil {
			return nil, fmt.Errorf("hnsw: open: %w", err)
		}
	}
	return ix, nil
}

// Torn describes what a crash while changes were saved has left behind the file that the index was opened from, and
// that was ignored: nil where there was nothing. The next SaveChanges removes it.
func (ix *Index) Torn() *CorruptionError {
	ix.writing.Lock()
	defer ix.writing.Unlock()
	if ix.home == nil {
		return nil
	}
	return ix.home.torn
}

// Verify reads everything of the file that was not read yet, and returns the first damage. Searches go on meanwhile,
// writers wait.
func (ix *Index) Verify() error {
	ix.writing.Lock()
	defer ix.writing.Unlock()
	if ix.closed.Load() {
		return fmt.Errorf("hnsw: verify: %w", ErrClosed)
	}
	t := ix.cur.g.table.Load()
	if t.lazy == nil {
		return nil
	}
	return t.lazy.all(t)
}

// Close gives back the memory of the index, and its mapping of a file, when the searches under way have ended. It need
// not be called: what is unreachable is given back anyway. So is what iterators still hold, which may be used until they
// are closed themselves: Close waits a moment for searches, but not for them. Later calls that return an error return
// ErrClosed, others find the index empty. Nothing is saved.
func (ix *Index) Close() error {
	ix.writing.Lock()
	defer ix.writing.Unlock()
	if ix.closed.Swap(true) {
		return nil
	}
	empty, err := newContents(ix.Dim(), ix.o)
	if err != nil {
		return err
	}
	ix.swap(empty, map[uint64]uint32{}, releaseWithin)
	return nil
}

// enter is pin for who does not search.
func (ix *Index) enter() (c *contents, leave func()) {
	for {
		c := ix.current.Load()
		epoch := c.g.readers.enter(0)
		if ix.current.Load() == c {
			return c, func() { c.g.readers.leave(0, epoch) }
		}
		c.g.readers.leave(0, epoch)
	}
}

// releaseWithin is how long Close and Compact wait for those who are inside; what takes longer is probably an iterator.
const releaseWithin = 100 * time.Millisecond

// release gives the memory of contents back that nobody finds any more, when those who found them have left. Where
// somebody stays longer than that, the garbage collector does so once they are gone, too.
func (c *contents) release(within time.Duration) {
	r := &c.g.readers
	began := time.Now()
	for epoch := r.epoch.Load(); ; time.Sleep(100 * time.Microsecond) {
		if r.advance(); r.left(epoch) {
			break
		}
		if time.Since(began) >= within {
			return
		}
	}
	m := &c.g.memory
	m.codes.Release()
	m.links.Release()
	m.upper.Release()
	if m.rows != nil {
		m.rows.Release()
	}
	if m.ids != nil {
		m.ids.Release()
		m.sums.Release()
	}
	if m.ties != nil {
		m.ties.Release()
	}
}
