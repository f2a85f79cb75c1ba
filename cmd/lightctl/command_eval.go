package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/engine/eval"
)

// evalFlags are the flags of `eval`.
type evalFlags struct {
	modes []string
	match string
	ks    []int
	topK  int
}

// evalModes are the modes that retrieve passages, in the order in which they are
// shown.
var evalModes = []engine.Mode{engine.Naive, engine.Local, engine.Global, engine.Hybrid, engine.Mix, engine.Walk}

const evalHelp = `Measure retrieval on questions whose answers are known to be in certain documents.

A FILE has one JSON object a line, a question or a document:

  {"question": "Who paid for the telescope?", "gold": ["a1", "b7"]}
  {"id": "a1", "title": "Mount Wilson", "text": "The telescope was paid for by ..."}

With documents, they are indexed into a temporary store and compared with a plain
BM25 over them. Without, the store of --db is asked, and gold names documents by the
ids that they have there.

Recall@k is the share of gold documents among the first k, all@k the share of
questions whose gold documents are all among them, MRR the mean of 1/rank of the
first. In brackets: 95 % intervals over the questions (bootstrap).`

func (a *app) evalCommand() *cobra.Command {
	var f evalFlags
	c := &cobra.Command{
		Use:   "eval FILE.jsonl...",
		Short: "Measure retrieval on questions with known documents",
		Long:  evalHelp,
		Args:  arguments(1, -1),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.eval(cmd, &f, args) },
	}
	fl := c.Flags()
	fl.StringSliceVar(&f.modes, "mode", nil, "modes to measure, divided by commas (default: all)")
	fl.StringVar(&f.match, "match", "fused", "by what things are found: vectors, lexical (words) or fused (both)")
	fl.IntSliceVar(&f.ks, "k", []int{1, 2, 5, 10, 20}, "ranks to count at, divided by commas")
	fl.IntVar(&f.topK, "top-k", 40, "at most so many entities and relations")
	return c
}

func (a *app) eval(cmd *cobra.Command, f *evalFlags, files []string) (err error) {
	modes, err := f.check()
	if err != nil {
		return err
	}
	match, err := engine.ParseMatch(f.match)
	if err != nil {
		return usagef("--match %q is not one of fused, vectors, lexical", f.match)
	}
	set, err := readSet(files)
	if err != nil {
		return err
	}
	if len(set.Corpus) > 0 && cmd.Flags().Changed("db") {
		return usagef("the files hold documents, which are indexed into a temporary store: leave out --db, or index them into %s and leave their lines out", a.db)
	}
	report := evalJSON{Questions: len(set.Questions), Documents: len(set.Corpus)}
	db, done, err := a.evalStore(cmd.Context(), set)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if len(set.Corpus) == 0 {
		v := db.View()
		report.Documents = int(v.Counts().Documents)
		v.Close()
	}

	depth := slices.Max(f.ks)
	var base eval.Outcomes
	if len(set.Corpus) > 0 {
		if base, err = eval.Measure(cmd.Context(), set.Questions, depth, eval.NewBM25(set.Corpus).Search); err != nil {
			return err
		}
		report.add("bm25", f.ks, base, nil)
	}
	for _, m := range modes {
		o, err := eval.Measure(cmd.Context(), set.Questions, depth, eval.Retriever(db.DB, engine.Query{Mode: m, Match: match, TopK: f.topK}))
		if err != nil {
			return fmt.Errorf("mode %s: %w", m, err)
		}
		report.add(string(m), f.ks, o, base)
	}
	if a.json {
		return writeJSON(a.out, report)
	}
	return a.printEval(&report)
}

func (f *evalFlags) check() ([]engine.Mode, error) {
	if f.topK < 1 {
		return nil, usagef("--top-k must be positive")
	}
	if len(f.ks) == 0 || slices.Min(f.ks) < 1 || slices.Max(f.ks) > 1000 {
		return nil, usagef("--k takes ranks from 1 to 1000, such as 1,5,10")
	}
	slices.Sort(f.ks)
	f.ks = slices.Compact(f.ks)
	if len(f.modes) == 0 {
		return evalModes, nil
	}
	var modes []engine.Mode
	for _, name := range f.modes {
		m := engine.Mode(name)
		if !slices.Contains(evalModes, m) {
			return nil, usagef("--mode %q is not one of %s", name, joinModes(evalModes))
		}
		modes = append(modes, m)
	}
	return modes, nil
}

func joinModes(modes []engine.Mode) string {
	s := ""
	for i, m := range modes {
		if i > 0 {
			s += ", "
		}
		s += string(m)
	}
	return s
}

func readSet(files []string) (*eval.Set, error) {
	set := new(eval.Set)
	for _, name := range files {
		if err := readSetFile(set, name); err != nil {
			return nil, about(name, err)
		}
	}
	if len(set.Questions) == 0 {
		return nil, usagef("%s: there is no question; one is a line {\"question\": TEXT, \"gold\": [DOCUMENT]}", strings.Join(files, ", "))
	}
	return set, nil
}

func readSetFile(set *eval.Set, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return set.Read(name, f)
}

// evalStore opens the store that the set is about, or makes a temporary one of
// its documents. done closes and, if it is temporary, removes it.
func (a *app) evalStore(ctx context.Context, set *eval.Set) (db *store, done func() error, err error) {
	if len(set.Corpus) == 0 {
		if db, err = a.openModels(ctx, engine.Options{MustExist: true, ReadOnly: a.endpoints.llmURL == ""}); err != nil {
			return nil, nil, err
		}
		if err = checkStored(db.DB, set); err != nil {
			return nil, nil, errors.Join(err, db.Close())
		}
		return db, db.Close, nil
	}
	if err := set.Check(nil); err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "lightctl-eval-")
	if err != nil {
		return nil, nil, err
	}
	a.db = filepath.Join(dir, "store")
	if db, err = a.indexSet(ctx, set); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return db, func() error { return errors.Join(db.Close(), os.RemoveAll(dir)) }, nil
}

// checkStored makes sure that the store has every gold document.
func checkStored(db *engine.DB, set *eval.Set) error {
	docs, err := db.Documents()
	if err != nil {
		return err
	}
	stored := make(map[string]bool, len(docs))
	for i := range docs {
		stored[docs[i].ID] = docs[i].Status == engine.StatusProcessed
	}
	return set.Check(func(id string) bool { return stored[id] })
}

func (a *app) indexSet(ctx context.Context, set *eval.Set) (*store, error) {
	db, err := a.openModels(ctx, engine.Options{})
	if err != nil {
		return nil, err
	}
	docs := make([]engine.Document, len(set.Corpus))
	for i := range set.Corpus {
		docs[i] = engine.Document{ID: set.Corpus[i].ID, Path: set.Corpus[i].ID, Text: set.Corpus[i].Content()}
	}
	rep, err := db.Insert(ctx, docs...)
	if err == nil {
		if n := rep.Count(engine.StatusProcessed); n < len(docs) {
			err = fmt.Errorf("only %d of %d documents could be indexed: %w", n, len(docs), firstError(rep))
		}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// evalJSON is what eval prints.
type evalJSON struct {
	Questions int       `json:"questions"`
	Documents int       `json:"documents"`
	Rows      []evalRow `json:"rows"`
}

// evalRow is one measure of one way to retrieve.
type evalRow struct {
	System  string   `json:"system"`  // bm25 or a mode
	Measure string   `json:"measure"` // recall@k, all@k, mrr
	Value   float64  `json:"value"`
	Low     float64  `json:"low"` // 95 % interval
	High    float64  `json:"high"`
	ToBM25  *evalGap `json:"to_bm25,omitempty"`
}

// evalGap is a paired difference.
type evalGap struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func (r *evalJSON) add(system string, ks []int, o, base eval.Outcomes) {
	row := func(measure string, of func(eval.Outcomes) eval.Values) {
		v := of(o)
		i := v.Interval()
		row := evalRow{System: system, Measure: measure, Value: i.Mean, Low: i.Low, High: i.High}
		if base != nil {
			d := v.Minus(of(base)).Interval()
			row.ToBM25 = &evalGap{d.Mean, d.Low, d.High}
		}
		r.Rows = append(r.Rows, row)
	}
	for _, k := range ks {
		row("recall@"+strconv.Itoa(k), func(o eval.Outcomes) eval.Values { return o.Recall(k) })
	}
	for _, k := range ks {
		row("all@"+strconv.Itoa(k), func(o eval.Outcomes) eval.Values { return o.AllGold(k) })
	}
	row("mrr", eval.Outcomes.ReciprocalRank)
}

// printEval shows one line a measure, one column a system.
func (a *app) printEval(r *evalJSON) error {
	if err := a.say("%s, %s\n\n", plural(r.Questions, "question"), plural(r.Documents, "document")); err != nil {
		return err
	}
	var systems, measures []string
	cell := make(map[[2]string]string)
	for _, row := range r.Rows {
		if !slices.Contains(systems, row.System) {
			systems = append(systems, row.System)
		}
		if !slices.Contains(measures, row.Measure) {
			measures = append(measures, row.Measure)
		}
		mark := ""
		if d := row.ToBM25; d != nil && d.Low > 0 {
			mark = " +"
		} else if d != nil && d.High < 0 {
			mark = " -"
		}
		cell[[2]string{row.Measure, row.System}] = fmt.Sprintf("%.3f [%.2f, %.2f]%s", row.Value, row.Low, row.High, mark)
	}
	t := a.table()
	head := []any{"measure"}
	for _, s := range systems {
		head = append(head, s)
	}
	t.row(head...)
	for _, m := range measures {
		line := []any{m}
		for _, s := range systems {
			line = append(line, cell[[2]string{m, s}])
		}
		t.row(line...)
	}
	if err := t.flush(); err != nil {
		return err
	}
	if systems[0] != "bm25" || len(systems) == 1 {
		return nil
	}
	return a.say("\n+ and -: above or below bm25, question by question, with an interval that leaves out 0\n")
}
