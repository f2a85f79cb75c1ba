package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

// importFlags are flags of the store that an import may create.
type importFlags struct {
	tokenizer string
	fragments int
	refresh   bool
}

func (f *importFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.tokenizer, "tokenizer", "", "o200k, cl100k or chars4; fixed when the store is created (default o200k)")
	fl.IntVar(&f.fragments, "summary-fragments", storedFragments, "descriptions from which a model joins them, 0 = never (default: as in the store, 8 in a new one)")
	fl.Lookup("summary-fragments").DefValue = "0"
}

// options are those of the engine.
func (f *importFlags) options(cmd *cobra.Command) (engine.Options, error) {
	if cmd.Flags().Changed("summary-fragments") && (f.fragments < 0 || f.fragments == 1) {
		return engine.Options{}, usagef("--summary-fragments must be 0 (never) or at least 2, not %d", f.fragments)
	}
	switch f.tokenizer {
	case "", "o200k", "cl100k", "chars4":
	default:
		return engine.Options{}, usagef("--tokenizer %q is not one of o200k, cl100k, chars4", f.tokenizer)
	}
	x := indexFlags{fragments: f.fragments}
	return engine.Options{Tokenizer: f.tokenizer, SummaryFragments: x.summaryFragments()}, nil
}

func (a *app) importLightRAGCommand() *cobra.Command {
	var f importFlags
	var o engine.LightRAGImport
	c := &cobra.Command{
		Use:   "lightrag DIR",
		Short: "A working directory of LightRAG (any version up to 1.5) or nano-graphrag",
		Long: "Take over a working directory of LightRAG: documents, chunks, graph, vectors and the cached\n" +
			"extraction answers, so that nothing has to be paid for again. No model is asked.\n\n" +
			"The directory does not say which embedding model it was made with: name it by --embed-model\n" +
			"and --embed-dim (--embed-url is not needed here), and its vectors are kept. Without them the\n" +
			"store is made for the offline embedder, which embeds everything anew. --refresh makes what is\n" +
			"missing now, with the models that are given; otherwise the next `index` does.\n\n" +
			"Everything inconsistent is reported and does no harm. Running the same import again goes on\n" +
			"where it was interrupted, and changes nothing that is there.",
		Args:        arguments(1, 1),
		Annotations: map[string]string{namesEmbedder: ""},
		RunE:        func(cmd *cobra.Command, args []string) error { return a.importLightRAG(cmd, &f, o, args[0]) },
	}
	f.register(c)
	fl := c.Flags()
	fl.StringVar(&o.Workspace, "workspace", "", "sub-directory to take (default: DIR itself, or its only workspace)")
	fl.BoolVar(&o.KeepQuotes, "keep-quotes", false, "leave the literal quotes around the names of old graphs")
	fl.BoolVar(&o.SkipVectors, "skip-vectors", false, "leave the vectors out: they are of another model")
	fl.BoolVar(&f.refresh, "refresh", false, "make missing vectors and summaries now")
	return c
}

func (a *app) importLightRAG(cmd *cobra.Command, f *importFlags, o engine.LightRAGImport, dir string) error {
	started := time.Now()
	opts, err := f.options(cmd)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); err != nil { // before a store is made
		return about(dir, err)
	}
	fresh := a.noStore()
	p := a.newProgress()
	defer p.stop()
	opts.Progress = p.update
	db, err := a.openModels(cmd.Context(), opts)
	if err != nil {
		return err
	}
	rep, err := db.ImportLightRAG(cmd.Context(), dir, o)
	p.stop()
	refresh := f.refresh || a.endpoints.llmURL == "" && a.endpoints.embedModel == "" // both offline: nothing is asked
	if err == nil && refresh {
		if rerr := db.Refresh(cmd.Context()); rerr != nil {
			if cmd.Context().Err() != nil {
				err = rerr
			} else {
				a.warn("not everything that is missing could be made: %s", message(rerr))
			}
		}
	}
	return a.endImport(cmd.Context(), &ending{db: db, object: dir, started: started, fresh: fresh, print: func(r *importReport) error {
		return a.printLightRAG(r, f.refresh)
	}}, rep, err)
}

// noStore reports whether there is nothing yet where the store is to be.
func (a *app) noStore() bool {
	_, err := os.Lstat(a.db)
	return errors.Is(err, fs.ErrNotExist)
}

// ending is what an import is ended with.
type ending struct {
	db      *store
	object  string // that is imported
	started time.Time
	fresh   bool // this run has made the store
	print   func(*importReport) error
}

// endImport prints the report of an import and closes the store. A store that
// this run has made, and of which nothing came because the source cannot be
// used, is taken away again.
func (a *app) endImport(ctx context.Context, e *ending, rep *engine.ImportReport, err error) error {
	if err == nil {
		err = a.waitLinked(ctx, e.db.DB)
	}
	out := newImportReport(rep)
	v := e.db.View()
	out.Store = v.Counts()
	v.Close()
	if s, serr := e.db.Stats(); serr == nil {
		out.Stale = int(s.Stale)
	}
	if cerr := e.db.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		if e.fresh && out.Store.Documents == 0 && (errors.Is(err, engine.ErrNotFound) || errors.Is(err, engine.ErrInvalid)) {
			err = errors.Join(err, os.RemoveAll(a.db))
		}
		return about(e.object, err)
	}
	out.Seconds = seconds(time.Since(e.started))
	if a.json {
		return writeJSON(a.out, out)
	}
	return e.print(out)
}

// importReport is what the imports print with --json.
type importReport struct {
	Source         string        `json:"source"`
	Workspace      string        `json:"workspace,omitempty"`
	Documents      int           `json:"documents"`
	Unchanged      int           `json:"unchanged"`
	Chunks         int           `json:"chunks"`
	Entities       int           `json:"entities"`
	Relations      int           `json:"relations"`
	Answers        int           `json:"answers"`
	Replayed       int           `json:"replayed"`
	FromRows       int           `json:"from_rows"`
	Summaries      int           `json:"summaries"`
	Vectors        int           `json:"vectors"`
	VectorsStale   int           `json:"vectors_stale"`
	VectorsMissing int           `json:"vectors_missing"`
	Unquoted       bool          `json:"unquoted"`
	Files          []importFile  `json:"files"`
	Issues         []importIssue `json:"issues"`
	Stale          int           `json:"stale"`
	Store          engine.Counts `json:"store"`
	Seconds        float64       `json:"seconds"`
}

type importFile struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	Note string `json:"note,omitempty"`
}

type importIssue struct {
	Kind     string          `json:"kind"`
	Count    int             `json:"count"`
	Meaning  string          `json:"meaning"`
	Examples []importExample `json:"examples"`
}

type importExample struct {
	File   string `json:"file"`
	Key    string `json:"key"`
	Detail string `json:"detail,omitempty"`
}

func newImportReport(r *engine.ImportReport) *importReport {
	if r == nil {
		r = &engine.ImportReport{}
	}
	out := &importReport{
		Source: r.Source, Workspace: r.Workspace, Documents: r.Documents, Unchanged: r.Unchanged, Chunks: r.Chunks,
		Entities: r.Entities, Relations: r.Relations, Answers: r.Answers, Replayed: r.Replayed, FromRows: r.FromRows,
		Summaries: r.Summaries, Vectors: r.Vectors, VectorsStale: r.VectorsStale, VectorsMissing: r.VectorsMissing,
		Unquoted: r.Unquoted, Files: []importFile{}, Issues: []importIssue{},
	}
	for _, f := range r.Files {
		out.Files = append(out.Files, importFile(f))
	}
	for _, i := range r.Issues {
		issue := importIssue{Kind: i.Kind, Count: i.Count, Meaning: engine.ImportIssueKinds[i.Kind], Examples: []importExample{}}
		for _, e := range i.Examples {
			issue.Examples = append(issue.Examples, importExample(e))
		}
		out.Issues = append(out.Issues, issue)
	}
	return out
}

// printIssues lists what was not as it should be.
func (a *app) printIssues(r *importReport) error {
	if len(r.Issues) == 0 {
		return nil
	}
	t := a.table()
	t.row("COUNT", "ISSUE", "FIRST")
	for _, i := range r.Issues {
		first := ""
		if len(i.Examples) > 0 {
			e := i.Examples[0]
			first = strings.TrimSpace(strings.Join(clean([]string{e.Key, e.Detail}), ": "))
		}
		t.row(i.Count, i.Kind, shorten(first, 60))
	}
	if err := t.flush(); err != nil {
		return err
	}
	return a.dim("--json lists more of each, and says what they mean")
}

// printImported says how much was imported.
func (a *app) printImported(r *importReport) error {
	line := plural(r.Documents, "document")
	if r.Unchanged > 0 {
		line += fmt.Sprintf(" (%d unchanged)", r.Unchanged)
	}
	return a.say("%s, %s, %s, %s\n", line, plural(r.Chunks, "chunk"), plural(r.Entities, "entity"), plural(r.Relations, "relation"))
}

// printLightRAG reports the import of a working directory; refreshed says that
// the models were to make what it lacks.
func (a *app) printLightRAG(r *importReport, refreshed bool) error {
	if err := a.printIssues(r); err != nil {
		return err
	}
	if r.Unquoted {
		a.note("the graph wraps names in literal quotes, as old versions did; they were taken off (--keep-quotes leaves them)")
	}
	for _, i := range r.Issues {
		if i.Kind == "vectors of another model" && len(i.Examples) > 0 {
			a.note("the directory's vectors were not kept (%s): --embed-model NAME --embed-dim N, at the creation of a store, keeps them", i.Examples[0].Detail)
		}
	}
	if err := a.printImported(r); err != nil {
		return err
	}
	if err := a.say("%s for %s; %d fragments from rows; %s (%d of another text), %d without\n", plural(r.Answers, "cached answer"),
		plural(r.Replayed, "chunk"), r.FromRows, plural(r.Vectors, "vector"), r.VectorsStale, r.VectorsMissing); err != nil {
		return err
	}
	if r.Stale > 0 {
		a.note("%s or summaries are still to be made; --refresh, or the next `index`, makes them", plural(r.Stale, "vector"))
	}
	took := fmt.Sprintf("%.1f s", r.Seconds)
	if !refreshed {
		took = "no model was asked by the import, " + took
	}
	return a.dim(took)
}

func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}
