package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/lightctl/lightrag/engine"
)

// progress draws a bar on standard error, if that is a terminal. A nil progress
// draws nothing.
type progress struct {
	container *mpb.Progress
	bar       *mpb.Bar
	once      sync.Once

	mu         sync.Mutex
	done, last engine.Progress // of finished calls; of the running one
}

func (a *app) newProgress() *progress {
	if a.quiet || a.verbose > 0 || !isTerminal(a.err) {
		return nil
	}
	p := &progress{}
	p.container = mpb.New(mpb.WithOutput(a.err.(*scrubber).w), mpb.WithWidth(30), mpb.WithRefreshRate(150*time.Millisecond))
	p.bar = p.container.AddBar(0,
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return p.documents() })),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return p.chunks() })),
	)
	return p
}

// update takes what the engine reports of the running call.
func (p *progress) update(now engine.Progress) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.last = now
	total, current := p.done.Chunks+now.Chunks, p.done.ChunksDone+now.ChunksDone
	p.mu.Unlock()
	p.bar.SetTotal(int64(total)+1, false) // never complete before stop
	p.bar.SetCurrent(int64(current))
}

// next says that the running call ended and its counts are to be kept.
func (p *progress) next() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done.Documents += p.last.Documents
	p.done.DocumentsDone += p.last.DocumentsDone
	p.done.Chunks += p.last.Chunks
	p.done.ChunksDone += p.last.ChunksDone
	p.done.Usage = p.done.Usage.Add(p.last.Usage)
	p.done.Cached += p.last.Cached
	p.last = engine.Progress{}
}

// stop removes the bar. It is idempotent.
func (p *progress) stop() {
	if p != nil {
		p.once.Do(func() {
			p.bar.Abort(true)
			p.container.Wait()
		})
	}
}

func (p *progress) documents() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("%d of %d documents ", p.done.DocumentsDone+p.last.DocumentsDone, p.done.Documents+p.last.Documents)
}

func (p *progress) chunks() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	u, cached := p.done.Usage.Add(p.last.Usage), p.done.Cached+p.last.Cached
	line := fmt.Sprintf(" %d of %d chunks, %s", p.done.ChunksDone+p.last.ChunksDone, p.done.Chunks+p.last.Chunks, plural(u.Calls, "call"))
	if cached > 0 {
		line += fmt.Sprintf(" (%d cached)", cached)
	}
	line += fmt.Sprintf(", %d tokens", u.PromptTokens+u.CompletionTokens)
	if left := p.last.TimeLeft; left > 0 {
		line += fmt.Sprintf(", about %v left", left.Round(roundTo(left)))
	}
	return line
}

// roundTo is how exactly a time left is worth saying.
func roundTo(d time.Duration) time.Duration {
	switch {
	case d > time.Hour:
		return time.Minute
	case d > time.Minute:
		return 10 * time.Second
	}
	return time.Second
}

// bar counts on standard error, if that is a terminal. A nil bar draws nothing.
type bar struct {
	container *mpb.Progress
	bar       *mpb.Bar
	once      sync.Once
}

func (a *app) newBar(what string) *bar {
	if a.quiet || a.verbose > 0 || !isTerminal(a.err) {
		return nil
	}
	b := &bar{container: mpb.New(mpb.WithOutput(a.err.(*scrubber).w), mpb.WithWidth(30), mpb.WithRefreshRate(150*time.Millisecond))}
	b.bar = b.container.AddBar(0,
		mpb.PrependDecorators(decor.CountersNoUnit("%d of %d "+what+" ")),
		mpb.AppendDecorators(decor.Percentage()))
	return b
}

func (b *bar) update(done, total int) {
	if b != nil {
		b.bar.SetTotal(int64(total), false)
		b.bar.SetCurrent(int64(done))
	}
}

// stop removes the bar. It is idempotent.
func (b *bar) stop() {
	if b != nil {
		b.once.Do(func() {
			b.bar.Abort(true)
			b.container.Wait()
		})
	}
}
