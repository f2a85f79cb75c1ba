package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// watch ends an attempt that makes no progress. It fires once, by cancelling
// the attempt's context with a cause.
type watch struct {
	mu     sync.Mutex
	timer  *time.Timer
	cancel context.CancelCauseFunc
	limit  time.Duration // in force
	idle   time.Duration // limit between two pieces of a stream
	off    bool
}

type watchKey struct{}

// newWatch returns a context that ends after first unless kick is called, and
// from then on when idle passes between two kicks. stop must be called.
func newWatch(ctx context.Context, first, idle time.Duration) (context.Context, *watch) {
	w := &watch{limit: first, idle: idle}
	ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(first, w.fire)
	return context.WithValue(ctx, watchKey{}, w), w
}

func watchOf(ctx context.Context) *watch {
	w, _ := ctx.Value(watchKey{}).(*watch)
	return w
}

func (w *watch) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.off {
		w.cancel(&timeoutError{w.limit})
	}
}

// kick notes that something arrived.
func (w *watch) kick() { w.arm(w.idle) }

// arm lets d pass before the attempt ends.
func (w *watch) arm(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.off, w.limit = false, d
	w.timer.Reset(d)
}

// hold stops the clock while the caller, not the server, is busy.
func (w *watch) hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.off = true
	w.timer.Stop()
}

func (w *watch) stop() {
	w.hold()
	w.cancel(context.Canceled)
}

// timeoutError is the cause with which a watch ends an attempt. It is
// ErrUnavailable and not a DeadlineExceeded: the caller's own deadline stands.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string {
	return fmt.Sprintf("%v: nothing came for %v", ErrUnavailable, e.after)
}

func (e *timeoutError) Is(target error) bool { return target == ErrUnavailable }

// eventBody passes on the data lines of an event stream, one complete JSON
// value or [DONE] each, and nothing else. The SDK's reader drops an error that
// follows a comment, takes `{"error":null,…}` for one, knows none that is not
// first in its object, and reads lines of any length; none of it reaches it.
type eventBody struct {
	src     io.ReadCloser
	lines   *bufio.Reader
	check   func(payload []byte) error // the error inside a payload, if any
	watch   *watch
	left    int    // bytes that may still be read
	pending []byte // of out, not yet passed on
	out     []byte
	err     error
}

func newEventBody(src io.ReadCloser, limit int, w *watch, check func([]byte) error) *eventBody {
	b := &eventBody{src: src, check: check, watch: w, left: limit}
	b.lines = bufio.NewReader(readerFunc(func(p []byte) (int, error) {
		n, err := src.Read(p)
		if n > 0 && w != nil {
			w.kick()
		}
		return n, err
	}))
	return b
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func (b *eventBody) Close() error { return b.src.Close() }

func (b *eventBody) Read(p []byte) (int, error) {
	for len(b.pending) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.next()
	}
	n := copy(p, b.pending)
	b.pending = b.pending[n:]
	return n, nil
}

var errTooLong = errors.New("stream too long")

// next reads one line into pending or sets err.
func (b *eventBody) next() {
	line, err := b.line()
	b.err = err
	line = bytes.TrimSpace(line)
	payload, isData := bytes.CutPrefix(line, []byte("data:"))
	payload = bytes.TrimSpace(payload)
	switch {
	case !isData:
		if len(line) == 0 || line[0] != '{' { // comment, event name, end of event
			return
		}
		payload = line // a bare object in a stream can only be an error
	case string(payload) == "[DONE]":
		b.emit(payload)
		return
	}
	if len(payload) == 0 || !json.Valid(payload) && b.err != nil { // torn by the end
		return
	}
	if e := b.check(payload); e != nil {
		b.err = e
		return
	}
	if isData {
		b.emit(payload)
	}
}

func (b *eventBody) emit(payload []byte) {
	b.out = append(b.out[:0], "data: "...)
	if payload[0] == '{' { // a space keeps the SDK's error pattern from matching
		b.out = append(b.out, "{ "...)
		payload = payload[1:]
	}
	b.out = append(append(b.out, payload...), '\n')
	b.pending = b.out
}

// line returns the next line, whole, within the limit of the stream.
func (b *eventBody) line() ([]byte, error) {
	var line []byte
	for {
		part, err := b.lines.ReadSlice('\n')
		if b.left -= len(part); b.left < 0 {
			return nil, errTooLong
		}
		if line == nil && err == nil {
			return part, nil
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}
