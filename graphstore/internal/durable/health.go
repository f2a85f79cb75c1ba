package durable

import (
	"log/slog"
	"sync"
	"sync/atomic"
)

// maxBackground is how many background errors in a row a store bears. Each
// but the first is preceded by a pause, see shield.pause.
const maxBackground = 8

// health is the sticky failure of one store, shared by everything that can
// notice one. All methods may be called from any goroutine and take no lock
// that Pebble could be waiting for.
type health struct {
	log        *slog.Logger
	first      atomic.Pointer[failure]
	failed     chan struct{} // closed by the first failure
	once       sync.Once
	fatals     atomic.Int64 // calls of Pebble's Fatalf that were trapped
	background atomic.Int64 // background errors since the last success
}

func newHealth(log *slog.Logger) *health {
	return &health{log: log, failed: make(chan struct{})}
}

// fail makes cause the store's failure unless it has one. When it returns,
// ok reports false everywhere.
func (h *health) fail(cause error) {
	h.once.Do(func() {
		h.first.Store(&failure{cause: classify(cause)})
		close(h.failed)
		h.log.Error("store failed", "error", cause)
	})
}

func (h *health) ok() bool { return h.first.Load() == nil }

// err returns nil or an error that matches ErrFailed and its cause.
func (h *health) err() error {
	if f := h.first.Load(); f != nil {
		return f
	}
	return nil
}

func (h *health) backgroundError(err error) {
	n := h.background.Add(1)
	h.log.Warn("background error", "error", err, "in a row", n)
	if n >= maxBackground {
		h.fail(err)
	}
}

func (h *health) backgroundSuccess() { h.background.Store(0) }
