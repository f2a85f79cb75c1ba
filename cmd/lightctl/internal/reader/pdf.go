package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// pdfPages bounds the memory of the sandbox, in WebAssembly pages of 64 KiB:
// 1 GiB, whatever a file would unpack to.
const pdfPages = 1 << 14

// pdfEngine is PDFium in a WebAssembly sandbox, started when it is needed. Each
// file gets a memory of its own, which goes with it.
type pdfEngine struct {
	opts Options

	mu     sync.Mutex // one file at a time
	pool   pdfium.Pool
	cache  wazero.CompilationCache
	closed bool
}

var errReaderClosed = errors.New("the reader is closed")

// start compiles the engine, or takes it from the cache. A cache that cannot be
// used is done without.
func (e *pdfEngine) start() error {
	if e.closed {
		return errReaderClosed
	}
	if e.pool != nil {
		return nil
	}
	if e.opts.CacheDir != "" {
		if cache, err := wazero.NewCompilationCacheWithDir(e.opts.CacheDir); err == nil {
			if e.pool, err = e.compile(cache); err == nil {
				e.cache = cache
				return nil
			}
			_ = cache.Close(context.Background())
		}
	}
	var err error
	e.pool, err = e.compile(nil)
	return err
}

func (e *pdfEngine) compile(cache wazero.CompilationCache) (pdfium.Pool, error) {
	rc := wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithCloseOnContextDone(true). // lets Kill end a call
		WithMemoryLimitPages(pdfPages)
	if cache != nil {
		rc = rc.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(webassembly.Config{
		MaxTotal: 1, RuntimeConfig: rc,
		FSConfig: wazero.NewFSConfig(), // no files: the same text on every machine
		Stdout:   io.Discard, Stderr: io.Discard,
	})
	if err != nil {
		return nil, fmt.Errorf("the PDF engine does not start: %w", err)
	}
	return pool, nil
}

func (e *pdfEngine) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.pool == nil {
		return nil
	}
	err := e.pool.Close()
	e.pool = nil
	if e.cache != nil {
		err = errors.Join(err, e.cache.Close(context.Background()))
	}
	return err
}

func readPDF(r *Reader, ctx context.Context, b []byte) (*Text, error) {
	if !bytes.Contains(b[:min(len(b), 1024)], []byte("%PDF-")) {
		return nil, refuse(ErrType, "no pdf file, it does not begin with %%PDF-")
	}
	return r.pdf.read(ctx, b)
}

// read returns the text of a file, or ends the sandbox in which it is read when
// the time is over.
func (e *pdfEngine) read(ctx context.Context, b []byte) (*Text, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.start(); err != nil {
		return nil, err
	}
	instance, err := e.pool.GetInstanceWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("the PDF engine does not start: %w", err)
	}
	w := watch(ctx, e.opts.FileTime, instance)
	t, err := e.extract(w, instance, b)
	if late := w.end(); late != nil {
		return nil, late
	}
	if cerr := instance.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("the PDF engine failed: %w", cerr)
	}
	return t, err
}

// extract reads page by page. A page that cannot be read is counted and noted.
func (e *pdfEngine) extract(w *watchdog, in pdfium.Pdfium, b []byte) (*Text, error) {
	w.step("the file", e.opts.PageTime)
	doc, err := in.OpenDocument(&requests.OpenDocument{File: &b})
	switch {
	case errors.Is(err, pdfiumerrors.ErrPassword):
		return nil, refuse(ErrEncrypted, "the file opens with a password only")
	case errors.Is(err, pdfiumerrors.ErrSecurity):
		return nil, refuse(ErrEncrypted, "the file is encrypted in a way that is not supported")
	case err != nil:
		return nil, refuse(ErrType, "the pdf file is damaged (%w)", err)
	}
	count, err := in.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc.Document})
	if err != nil {
		return nil, refuse(ErrType, "the pdf file is damaged (%w)", err)
	}
	var pages []string
	empty, bad, size := 0, 0, 0
	for i := range count.PageCount {
		w.step(fmt.Sprintf("page %d", i+1), e.opts.PageTime)
		raw, err := pageOf(in, doc.Document, i)
		if w.late() {
			return nil, err
		}
		text := tidyPage(raw)
		switch {
		case err != nil:
			bad++
		case strings.TrimSpace(text) == "":
			empty++
		}
		if size += len(text); int64(size) > e.opts.Limit {
			return nil, tooLarge("its text is ", e.opts.Limit)
		}
		pages = append(pages, text)
	}
	n := len(pages)
	switch {
	case n == 0:
		return nil, refuse(ErrNoText, "the pdf file has no pages")
	case bad == n:
		return nil, refuse(ErrType, "the pdf file is damaged, none of its %d pages can be read", n)
	case empty+bad == n:
		return nil, refuse(ErrNoText, "the %d pages have no text layer; scanned pages need OCR first", n)
	}
	t := &Text{Body: joinHyphens(joinBlocks(pages))}
	if empty > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d pages have no text layer", empty, n))
	}
	if bad > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d pages are damaged", bad, n))
	}
	return t, nil
}

func pageOf(in pdfium.Pdfium, doc references.FPDF_DOCUMENT, i int) (string, error) {
	page, err := in.GetPageText(&requests.GetPageText{
		Page: requests.Page{ByIndex: &requests.PageByIndex{Document: doc, Index: i}},
	})
	if err != nil {
		return "", err
	}
	return page.Text, nil
}

// watchdog kills an instance whose step, or all of whose steps, take too long,
// or whose caller has gone.
type watchdog struct {
	ctx    context.Context
	steps  chan step
	done   chan struct{}
	killed chan struct{} // closed when the instance is being killed
	err    error         // why; set before killed is closed
	joined sync.WaitGroup
}

type step struct {
	name string
	time time.Duration
}

func watch(ctx context.Context, whole time.Duration, in pdfium.Pdfium) *watchdog {
	w := &watchdog{ctx: ctx, steps: make(chan step), done: make(chan struct{}), killed: make(chan struct{})}
	w.joined.Go(func() { w.run(whole, in) })
	return w
}

func (w *watchdog) run(whole time.Duration, in pdfium.Pdfium) {
	all := time.NewTimer(whole)
	defer all.Stop()
	one := time.NewTimer(whole)
	defer one.Stop()
	var now step
	for {
		select {
		case now = <-w.steps:
			one.Reset(now.time)
			continue
		case <-w.done:
			return
		case <-w.ctx.Done():
			w.err = w.ctx.Err()
		case <-one.C:
			w.err = fmt.Errorf("reading %s of the pdf took longer than %s", now.name, now.time)
		case <-all.C:
			w.err = fmt.Errorf("reading the pdf took longer than %s", whole)
		}
		close(w.killed)
		_ = in.Kill() // an error means that it ended by itself
		return
	}
}

// step begins the next step, unless the time is over already.
func (w *watchdog) step(name string, d time.Duration) {
	select {
	case w.steps <- step{name, d}:
	case <-w.killed:
	}
}

func (w *watchdog) late() bool {
	select {
	case <-w.killed:
		return true
	default:
		return false
	}
}

// end stops watching. If the instance was killed it returns why.
func (w *watchdog) end() error {
	close(w.done)
	w.joined.Wait()
	return w.err
}
