package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

// Documents are handed to the engine in batches, so that memory does not grow
// with the input.
const (
	batchDocs  = 256
	batchBytes = 64 << 20
)

// indexFlags are the flags of `index`.
type indexFlags struct {
	preChunked  string
	replace     bool
	dryRun      bool
	tokenizer   string
	gleaning    int
	fragments   int
	language    string
	entityTypes []string
	maxFileMiB  int64
}

func (a *app) indexCommand() *cobra.Command {
	var f indexFlags
	c := &cobra.Command{
		Use:   "index PATH...",
		Short: "Index files, directories, or standard input (-)",
		Long: "Index documents: files, directories (walked in name order, without hidden entries) and\n" +
			"standard input (-, as the document \"stdin\"). Types: " + knownTypes + ". A document's id is its\n" +
			"path as typed. Lines of a jsonl file are {\"id\"?, \"path\"?, \"text\"}; the default id is file#line.\n\n" +
			"What is already stored is not indexed again: an equal document is unchanged, one with another\n" +
			"text is a conflict unless --replace is given. An interrupted run goes on where it stopped.\n" +
			"The exit code is 1 when any document failed or is in conflict.",
		Args: arguments(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.index(cmd, &f, args) },
	}
	fl := c.Flags()
	fl.StringVar(&f.preChunked, "pre-chunked", "", "index `FILE.jsonl` of lines {doc_id, path?, chunk_order, content} as cut there")
	fl.BoolVar(&f.replace, "replace", false, "let a changed text take the place of the stored one")
	fl.BoolVar(&f.dryRun, "dry-run", false, "read, cut and estimate; nothing is stored and no model is called")
	fl.StringVar(&f.tokenizer, "tokenizer", "", "o200k, cl100k or chars4; fixed when the store is created (default o200k)")
	fl.IntVar(&f.gleaning, "gleaning", 1, "extraction rounds after the first (0 = none; at most 1 is used)")
	fl.IntVar(&f.fragments, "summary-fragments", storedFragments, "descriptions from which a model joins them, 0 = never (default: as in the store, 8 in a new one)")
	fl.Lookup("summary-fragments").DefValue = "0" // keeps the help from printing another default
	fl.StringVar(&f.language, "language", "", "language of extracted texts (default: that of the document)")
	fl.StringSliceVar(&f.entityTypes, "entity-types", nil, "types to extract, divided by commas")
	fl.Int64Var(&f.maxFileMiB, "max-file-mib", 64, "largest file, or line of a jsonl file")
	return c
}

func (f *indexFlags) check(cmd *cobra.Command, paths []string) error {
	switch {
	case f.preChunked != "" && len(paths) > 0:
		return usagef("--pre-chunked takes the place of PATH; give one or the other")
	case f.preChunked == "" && len(paths) == 0:
		return usagef("usage: %s", cmd.UseLine())
	case f.gleaning < 0:
		return usagef("--gleaning must not be negative")
	case cmd.Flags().Changed("summary-fragments") && (f.fragments < 0 || f.fragments == 1):
		return usagef("--summary-fragments must be 0 (never) or at least 2, not %d", f.fragments)
	case f.maxFileMiB < 1 || f.maxFileMiB > 1<<20:
		return usagef("--max-file-mib must be at least 1, not %d", f.maxFileMiB)
	case cmd.Flags().Changed("entity-types") && len(clean(f.entityTypes)) == 0:
		return usagef("--entity-types is empty")
	}
	switch f.tokenizer {
	case "", "o200k", "cl100k", "chars4":
		return nil
	}
	return usagef("--tokenizer %q is not one of o200k, cl100k, chars4", f.tokenizer)
}

// clean trims words and drops the blank ones.
func clean(words []string) []string {
	var out []string
	for _, w := range words {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// storedFragments stands for a --summary-fragments that is not given.
const storedFragments = -1

// summaryFragments is the engine's number: 0 keeps that of the store, a
// negative one means never.
func (f *indexFlags) summaryFragments() int {
	switch f.fragments {
	case storedFragments:
		return 0
	case 0:
		return -1
	}
	return f.fragments
}

// options are those of the engine. What is 0 on the command line means none,
// which the engine writes as a negative number.
func (f *indexFlags) options() engine.Options {
	none := func(n int) int {
		if n == 0 {
			return -1
		}
		return n
	}
	return engine.Options{
		Tokenizer: f.tokenizer, Gleaning: none(f.gleaning), SummaryFragments: f.summaryFragments(),
		Language: f.language, EntityTypes: clean(f.entityTypes),
	}
}

// documents is where index takes them from.
type documents struct {
	each  func(context.Context, func(input) error) error
	close func()
	skips []skipped
}

// documents finds and checks the input before anything is stored.
func (a *app) documents(f *indexFlags, paths []string) (*documents, error) {
	if f.preChunked != "" {
		c, err := openChunks(f.preChunked)
		if err != nil {
			return nil, err
		}
		return &documents{each: c.each, close: func() { c.Close() }}, nil
	}
	s, err := openSource(a.in, f.maxFileMiB<<20, paths)
	if err != nil {
		return nil, err
	}
	return &documents{each: s.each, close: s.Close, skips: s.skips}, nil
}

func (a *app) index(cmd *cobra.Command, f *indexFlags, paths []string) error {
	if err := f.check(cmd, paths); err != nil {
		return err
	}
	docs, err := a.documents(f, paths)
	if err != nil {
		return err
	}
	defer docs.close()
	if f.dryRun {
		return a.dryRun(cmd.Context(), f, docs)
	}

	started := time.Now()
	p := a.newProgress()
	defer p.stop()
	o := f.options()
	o.Progress = p.update
	db, err := a.openModels(cmd.Context(), o)
	if err != nil {
		return err
	}
	ix := &indexer{ctx: cmd.Context(), db: db.DB, replace: f.replace, report: newIndexReport(), progress: p, seen: make(map[string]string)}
	ix.report.Skipped = list(docs.skips)
	ix.report.Totals.Skipped = len(docs.skips)
	err = docs.each(ix.ctx, ix.add)
	if err == nil {
		err = ix.flush()
	}
	p.stop()
	v := db.View()
	counts := v.Counts()
	ix.report.Store = &counts
	v.Close()
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	r := ix.report
	r.Seconds = seconds(time.Since(started))
	if err != nil && len(r.Documents) == 0 && ix.ctx.Err() == nil {
		return err
	}
	if werr := a.showReport(r); werr != nil {
		return werr
	}
	if ix.ctx.Err() != nil {
		a.warn("interrupted: %s done and kept, %d accepted and waiting; run the same command again to go on, finished model calls are not repeated",
			plural(r.Totals.Processed+r.Totals.Unchanged+r.Totals.Duplicate, "document"), r.Totals.Pending)
		return reported(exitFailure)
	}
	return a.endReport(r, err)
}

// warn writes a line that --quiet does not suppress.
func (a *app) warn(format string, args ...any) {
	fmt.Fprintln(a.err, "lightctl: "+printable(fmt.Sprintf(format, args...)))
}

func (a *app) showReport(r *indexReport) error {
	if a.json {
		return writeJSON(a.out, r)
	}
	return a.printReport(r)
}

// indexer hands documents to the engine in batches.
type indexer struct {
	ctx      context.Context
	db       *engine.DB
	replace  bool
	report   *indexReport
	progress *progress
	seen     map[string]string // id -> where it came from
	batch    []input
	size     int
}

func (ix *indexer) add(in input) error {
	if in.err == nil {
		if first, dup := ix.seen[in.doc.ID]; dup {
			in.err = fmt.Errorf("the id was already used by %s of the same run", first)
		}
	}
	if in.err == nil {
		ix.seen[in.doc.ID] = in.origin
		in.doc.Replace = ix.replace
	}
	ix.batch = append(ix.batch, in)
	ix.size += in.size
	if len(ix.batch) < batchDocs && ix.size < batchBytes {
		return nil
	}
	return ix.flush()
}

func (ix *indexer) flush() error {
	batch := ix.batch
	ix.batch, ix.size = nil, 0
	return ix.insert(batch)
}

// insert hands over a batch. The engine refuses a batch as a whole, before it
// writes anything, if it holds a document that cannot be used; then the halves
// are tried, until that document is alone and fails alone. An empty batch is
// handed over too: it takes up what an earlier run left.
func (ix *indexer) insert(batch []input) error {
	var docs []engine.Document
	for i := range batch {
		if batch[i].err == nil {
			docs = append(docs, batch[i].doc)
		}
	}
	rep, err := ix.db.Insert(ix.ctx, docs...)
	ix.progress.next()
	switch {
	case rep != nil:
		ix.report.addBatch(batch, rep)
		return err
	case !errors.Is(err, engine.ErrInvalid) || len(docs) == 0:
		return err
	case len(batch) == 1:
		batch[0].err = err
		ix.report.addBatch(batch, &engine.Report{})
		return nil
	}
	half := len(batch) / 2
	if err := ix.insert(batch[:half]); err != nil {
		return err
	}
	return ix.insert(batch[half:])
}
