package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"

	"github.com/lightctl/lightrag/bench/measure"
	"github.com/lightctl/lightrag/bench/store"
	"github.com/lightctl/lightrag/engine"
)

// probe measures how long one more document takes. Its DBs report to it when
// the document's commit is visible; the embedding is taken out.
type probe struct {
	corpus   *store.Corpus
	stop     func() measure.Span
	embedded measure.Span
	visible  measure.Span
	seen     bool
}

func newProbe(corpus *store.Corpus) *probe { return &probe{corpus: corpus} }

func (p *probe) options() engine.Options {
	o := p.corpus.Options()
	o.Progress = func(step engine.Progress) {
		if p.stop != nil && step.DocumentsDone > 0 && !p.seen {
			p.seen = true
			p.visible = p.stop().Sub(p.corpus.Embedder.Spent().Sub(p.embedded))
		}
	}
	return o
}

// series is what the probes of one store measured.
type series struct {
	name                    string // of the store, in profiles
	visibleCPU, visibleWall measure.Sample
	returnWall              measure.Sample
	restCPU                 measure.Sample // from visible to idle
	written                 []float64      // MB
	postings                []float64      // KB per document, one number for each time the store was opened
}

// add inserts chunks from to from+10 as one document.
func (p *probe) add(ctx context.Context, db *engine.DB, from int, s *series) error {
	if _, err := store.WaitLinked(ctx, db); err != nil {
		return err
	}
	to := from + store.PerDocument
	p.corpus.KnowChunks(from, to)
	defer p.corpus.Embedder.Forget()
	docs := p.corpus.Documents(from, to)
	before, _ := measure.BytesWritten()
	p.embedded, p.seen = p.corpus.Embedder.Spent(), false
	var report *engine.Report
	var err error
	var returned measure.Span
	pprof.Do(ctx, pprof.Labels("store", s.name), func(ctx context.Context) {
		p.stop = measure.Start()
		report, err = db.Insert(ctx, docs...)
		returned = p.stop()
	})
	if err != nil {
		return err
	}
	if report.Documents[0].Status != engine.StatusProcessed || !p.seen {
		return fmt.Errorf("the probe is %s: %w", report.Documents[0].Status, report.Documents[0].Err)
	}
	linking, err := store.WaitLinked(ctx, db)
	if err != nil {
		return err
	}
	embedded := p.corpus.Embedder.Spent().Sub(p.embedded)
	after, _ := measure.BytesWritten()
	s.visibleCPU = append(s.visibleCPU, p.visible.CPU)
	s.visibleWall = append(s.visibleWall, p.visible.Wall)
	s.returnWall = append(s.returnWall, returned.Wall-embedded.Wall)
	s.restCPU = append(s.restCPU, returned.Sub(embedded).Sub(p.visible).CPU+linking.CPU)
	s.written = append(s.written, float64(after-before)/1e6)
	return nil
}

// visible adds the probe documents to the large store and to copies of the
// small one in turns, so that both meet the same machine. Every copy gets the
// chunks that follow it in the corpus, and with every copy the large store is
// opened anew, so that both have taken equally many documents since.
func (r *rows) visible(ctx context.Context, corpus *store.Corpus, p *probe, large, small string) error {
	atSmall, atLarge := series{name: "small"}, series{name: "large"}
	err := r.config.profiled("visible", func() error {
		for done := 0; done < r.config.probes; done += r.config.perCopy {
			if err := r.probeBoth(ctx, p, large, small, done, &atSmall, &atLarge); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	report := func(chunks int, s *series) {
		name := "one more document at " + sizeName(chunks) + ": "
		n := fmt.Sprintf("median of %d documents of %d chunks", len(s.visibleCPU), store.PerDocument)
		spread := func(s measure.Sample) string {
			return fmt.Sprintf("%s; p90 %s, mean %s", n, measure.Number(measure.Milliseconds(s.Percentile(90))), measure.Number(measure.Milliseconds(s.Mean())))
		}
		r.cpu(name+"CPU until visible", measure.Milliseconds(s.visibleCPU.Median()), "ms", "", spread(s.visibleCPU))
		r.add(name+"wall until visible", measure.Milliseconds(s.visibleWall.Median()), "ms", "", spread(s.visibleWall))
		r.add(name+"wall until Insert returns", measure.Milliseconds(s.returnWall.Median()), "ms", "", spread(s.returnWall))
		r.cpu(name+"CPU afterwards", measure.Milliseconds(s.restCPU.Median()), "ms", "", "linking in the background and the end of Insert; "+spread(s.restCPU))
		r.add(name+"postings written", median(s.postings), "KB", "",
			"keys and values in the batches of a document, the re-making of its stale entities included")
		if _, ok := measure.BytesWritten(); ok {
			r.add(name+"bytes written", median(s.written), "MB", "", n)
		} else {
			r.missing(name+"bytes written", "MB", "", "the system does not count them")
		}
	}
	report(r.config.small, &atSmall)
	report(r.config.large, &atLarge)
	ratio := fmt.Sprintf("visible %s / %s: ", sizeName(r.config.large), sizeName(r.config.small))
	r.cpu(ratio+"CPU", float64(atLarge.visibleCPU.Median())/float64(atSmall.visibleCPU.Median()), "ratio", "<= 1.5", "of the medians")
	r.add(ratio+"wall", float64(atLarge.visibleWall.Median())/float64(atSmall.visibleWall.Median()), "ratio", "<= 1.5", "of the medians")
	return nil
}

func (r *rows) probeBoth(ctx context.Context, p *probe, large, small string, done int, atSmall, atLarge *series) error {
	dir := filepath.Join(r.config.dir, fmt.Sprintf("small-%d", done))
	if err := os.CopyFS(dir, os.DirFS(small)); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	smallDB, err := engine.Open(dir, p.options())
	if err != nil {
		return err
	}
	defer smallDB.Close()
	largeDB, err := engine.Open(large, p.options())
	if err != nil {
		return err
	}
	defer largeDB.Close()
	runtime.GC()
	for i := done; i < min(done+r.config.perCopy, r.config.probes); i++ {
		if err := p.add(ctx, smallDB, r.config.small+(i-done)*store.PerDocument, atSmall); err != nil {
			return fmt.Errorf("probe %d of the small store: %w", i, err)
		}
		if err := p.add(ctx, largeDB, r.config.large+i*store.PerDocument, atLarge); err != nil {
			return fmt.Errorf("probe %d of the large store: %w", i, err)
		}
	}
	n := min(r.config.perCopy, r.config.probes-done)
	return errors.Join(atSmall.count(smallDB, n), atLarge.count(largeDB, n))
}

// count notes what a DB, since it was opened, has written of postings for n
// documents.
func (s *series) count(db *engine.DB, n int) error {
	stats, err := db.Stats()
	if err == nil {
		s.postings = append(s.postings, float64(stats.Disk.PostingsWritten)/1e3/float64(n))
	}
	return err
}
