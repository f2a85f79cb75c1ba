package graphstore

import (
	"log/slog"
	"runtime"
	"sync/atomic"
)

// View is an immutable view of the store as one commit left it. It may be used
// by many goroutines. Close it when done: until then the store keeps, on disk
// and in memory, everything that it shows. After Close, and not before, its
// methods that read from disk return ErrClosed.
type View struct {
	st   *state
	open *atomic.Pointer[state] // nil inside once closed
}

// handles are made by the batch, so that taking a view costs no allocation of
// its own. A batch serves one published state.
type handles struct {
	next  atomic.Uint32
	views [handleBatch]View
	open  *openHandles
}

const handleBatch = 64

// openHandles holds what the handles of a batch have not given back. It is
// apart from them, because it must outlive them.
type openHandles [handleBatch]atomic.Pointer[state]

func newHandles(log *slog.Logger) *handles {
	h := &handles{open: new(openHandles)}
	for i := range h.views {
		h.views[i].open = &h.open[i]
	}
	runtime.AddCleanup(h, closeLeaked, leak{h.open, log})
	return h
}

type leak struct {
	open *openHandles
	log  *slog.Logger
}

// closeLeaked runs when no handle of a batch can be reached any more.
func closeLeaked(l leak) {
	for i := range l.open {
		if st := l.open[i].Swap(nil); st != nil {
			l.log.Warn("view was not closed", "sequence", st.seq)
			st.release()
		}
	}
}

// View returns the newest published view. It takes no lock. The error is
// ErrClosed.
func (s *Store) View() (*View, error) {
	st, err := s.acquire()
	if err != nil {
		return nil, err
	}
	for {
		h := s.handles.Load()
		if h != nil {
			if i := h.next.Add(1) - 1; i < handleBatch {
				v := &h.views[i]
				v.st = st
				v.open.Store(st)
				return v, nil
			}
		}
		s.handles.CompareAndSwap(h, newHandles(s.log))
	}
}

// Close gives the view back. It is idempotent.
func (v *View) Close() {
	if st := v.open.Swap(nil); st != nil {
		st.release()
	}
}

// reader returns rows of the view's state.
func (v *View) reader() (*rows, error) {
	if v.open.Load() == nil {
		return nil, ErrClosed
	}
	return newRows(v.st.snap), nil
}
