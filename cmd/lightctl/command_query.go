package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm"
)

// queryFlags are the flags of `query`.
type queryFlags struct {
	mode, match       string
	keywords          string
	low, high         []string
	lowJSON, highJSON []string
	docs, types       []string
	history           string
	threshold         float32
	pick              string
	stream, explain   bool
	noSources         bool
	window            int
	rerank            rerankFlags
	q                 engine.Query // what needs no translation
	limits            []limitFlag
}

// limitFlag is a number of which 0 means none on the command line, and the
// default in the library.
type limitFlag struct {
	name string
	to   *int
	unit string
}

func (a *app) queryCommand() *cobra.Command {
	var f queryFlags
	c := &cobra.Command{
		Use:   "query QUESTION",
		Short: "Ask a question",
		Long: "Ask a question. Entities, relations and passages are retrieved and given to the model, which\n" +
			"answers from them and cites them. Keywords that are given spare the model call that finds them.",
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.query(cmd, &f, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.mode, "mode", "mix", "naive, local, global, hybrid, mix, walk or bypass")
	fl.StringVar(&f.match, "match", "fused", "by what things are found: vectors (as LightRAG does), lexical (words; nothing is embedded) or fused (both)")
	fl.StringVar(&f.keywords, "keywords", "llm", "who finds keywords that are not given: llm (the model), lexical (the store's words, no model call) or auto (the model where these are not sure)")
	fl.StringArrayVar(&f.low, "ll", nil, "low-level keywords (names), divided by commas")
	fl.StringArrayVar(&f.high, "hl", nil, "high-level keywords (themes), divided by commas")
	fl.StringArrayVar(&f.lowJSON, "ll-json", nil, "low-level keywords as a JSON array of strings")
	fl.StringArrayVar(&f.highJSON, "hl-json", nil, "high-level keywords as a JSON array of strings")
	f.limits = []limitFlag{
		{"top-k", &f.q.TopK, "entities and relations"},
		{"chunk-top-k", &f.q.ChunkTopK, "passages"},
		{"max-entity-tokens", &f.q.MaxEntityTokens, "tokens of entities"},
		{"max-relation-tokens", &f.q.MaxRelationTokens, "tokens of relations"},
		{"max-total-tokens", &f.q.MaxTotalTokens, "tokens of everything"},
	}
	for i, d := range []int{40, 20, 6000, 8000, 30000} {
		fl.IntVar(f.limits[i].to, f.limits[i].name, d, "at most so many "+f.limits[i].unit)
	}
	fl.IntVar(&f.q.MaxChunkTokens, "max-chunk-tokens", 0, "tokens of passages (0 = what the others leave)")
	fl.Float32Var(&f.threshold, "cosine-threshold", 0.2, "drop vector hits below it")
	fl.StringVar(&f.pick, "pick", "vector", "how passages of entities and relations are picked: vector or weight")
	fl.StringArrayVar(&f.docs, "doc", nil, "use only what this document says (repeatable)")
	fl.StringArrayVar(&f.types, "type", nil, "use only entities of this type (repeatable)")
	fl.StringVar(&f.history, "history", "", "`FILE` with earlier turns, a JSON array of {role, content}; for the answer only")
	fl.StringVar(&f.q.UserPrompt, "user-prompt", "", "further instructions for the answer")
	fl.StringVar(&f.q.ResponseType, "response-type", "", `form of the answer (default "Multiple Paragraphs")`)
	fl.StringVar(&f.q.Language, "language", "", "language of the keywords (default: that of the question)")
	fl.BoolVar(&f.q.ContextOnly, "context-only", false, "retrieve and show the context, no answer")
	fl.BoolVar(&f.q.PromptOnly, "prompt-only", false, "retrieve and show the prompt, no answer")
	fl.BoolVar(&f.q.NoCache, "no-cache", false, "neither read nor write cached answers and keywords")
	fl.BoolVar(&f.stream, "stream", false, "print the answer while it is made (not with --json)")
	fl.BoolVar(&f.noSources, "no-sources", false, "print no references")
	fl.BoolVar(&f.explain, "explain", false, "show what each stage found, by which scores, and what cut it")
	fl.IntVar(&f.window, "context-window", 0, "tokens that the model takes; budgets are made smaller to fit (0 = as it turns out)")
	f.rerank.register(fl)
	return c
}

// query translates the flags.
func (f *queryFlags) query(cmd *cobra.Command, question string) (q engine.Query, err error) {
	q = f.q
	q.Text = question
	if strings.TrimSpace(question) == "" {
		return q, usagef("the question is blank")
	}
	if q.Mode, err = engine.ParseMode(f.mode); err != nil {
		return q, usagef("--mode %q is not one of naive, local, global, hybrid, mix, walk, bypass", f.mode)
	}
	if q.Match, err = engine.ParseMatch(f.match); err != nil {
		return q, usagef("--match %q is not one of fused, vectors, lexical", f.match)
	}
	switch q.Keywords = engine.KeywordsBy(f.keywords); q.Keywords {
	case engine.KeywordsByModel, engine.KeywordsByWords, engine.KeywordsAuto:
	default:
		return q, usagef("--keywords %q is not one of llm, lexical, auto", f.keywords)
	}
	for _, l := range f.limits {
		if *l.to < 0 {
			return q, usagef("--%s must not be negative", l.name)
		}
	}
	for _, p := range []*int{&q.TopK, &q.ChunkTopK, &q.MaxEntityTokens, &q.MaxRelationTokens, &q.MaxTotalTokens} {
		if *p == 0 {
			*p = -1
		}
	}
	if q.MaxChunkTokens < 0 {
		return q, usagef("--max-chunk-tokens must not be negative")
	}
	if q.CosineThreshold = f.threshold; f.threshold == 0 {
		q.CosineThreshold = 1e-30 // 0 itself is the library's word for the default
	}
	switch f.pick {
	case "vector":
		q.Pick = engine.PickVector
	case "weight":
		q.Pick = engine.PickWeight
	default:
		return q, usagef("--pick %q is not one of vector, weight", f.pick)
	}
	if q.LowLevel, err = keywords(cmd, "ll", f.low, f.lowJSON); err != nil {
		return q, err
	}
	if q.HighLevel, err = keywords(cmd, "hl", f.high, f.highJSON); err != nil {
		return q, err
	}
	if f.window < 0 || f.window > 0 && f.window < 256 {
		return q, usagef("--context-window must be at least 256")
	}
	q.Explain, q.NoReferences = f.explain, f.noSources
	if err := f.rerank.apply(&q); err != nil {
		return q, err
	}
	q.Documents, q.EntityTypes = f.docs, clean(f.types)
	if len(q.EntityTypes) < len(f.types) {
		return q, usagef("--type is blank")
	}
	q.History, err = readHistory(f.history)
	return q, err
}

// keywords joins the two ways to give them.
func keywords(cmd *cobra.Command, name string, plain, arrays []string) ([]string, error) {
	var out []string
	for _, s := range plain {
		out = append(out, clean(strings.Split(s, ","))...)
	}
	for _, s := range arrays {
		var words []string
		if err := json.Unmarshal([]byte(s), &words); err != nil {
			return nil, usagef(`--%s-json takes a JSON array of strings such as ["a, b"], not %s`, name, clip(s, 60))
		}
		out = append(out, clean(words)...)
	}
	if fl := cmd.Flags(); len(out) == 0 && (fl.Changed(name) || fl.Changed(name+"-json")) {
		return nil, usagef("--%s holds no keyword", name)
	}
	return out, nil
}

func readHistory(file string) ([]llm.Message, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, about(file, err)
	}
	var turns []llm.Message
	if err := json.Unmarshal(b, &turns); err != nil {
		return nil, about(file, usagef("--history %s is no JSON array of {role, content}: %s", file, err))
	}
	for i, m := range turns {
		switch m.Role {
		case llm.RoleUser, llm.RoleAssistant, llm.RoleSystem:
		default:
			return nil, about(file, usagef("--history %s: turn %d has the role %q, not user, assistant or system", file, i+1, m.Role))
		}
	}
	return turns, nil
}

func (a *app) query(cmd *cobra.Command, f *queryFlags, question string) error {
	q, err := f.query(cmd, question)
	if err != nil {
		return err
	}
	// Only what a model says is worth writing: it goes to the cache.
	o := engine.Options{MustExist: true, ReadOnly: a.endpoints.llmURL == "", ContextWindow: f.window}
	reranker, err := a.reranker(&f.rerank)
	if err != nil {
		return err
	}
	if reranker != nil {
		o.Reranker = reranker
		defer reranker.Close()
	}
	db, err := a.openModels(cmd.Context(), o)
	if err != nil {
		return err
	}
	out := &answerPrinter{a: a, sources: !f.noSources}
	if f.stream && !a.json && !q.ContextOnly && !q.PromptOnly {
		q.Stream = out.event
	}
	res, err := db.Query(cmd.Context(), q)
	err = suggestDocuments(db.DB, q.Documents, err)
	if err == nil && len(q.EntityTypes) > 0 && len(res.Entities) == 0 {
		err = hintTypes(db.DB, q.EntityTypes, res)
	}
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return a.failedQuery(res, out, err)
	}
	for _, w := range res.Warnings {
		a.note("warning: %s", a.scrub(w))
	}
	if a.json {
		return writeJSON(a.out, newQueryJSON(res))
	}
	return out.finish(res, f)
}

// hintTypes warns of a filter by a type that no entity has.
func hintTypes(db *engine.DB, types []string, res *engine.Result) error {
	v := db.View()
	defer v.Close()
	hint, err := missingType(v, types)
	if hint != "" {
		res.Warnings = append(res.Warnings, hint)
	}
	return err
}

// failedQuery keeps what came of an answer that broke off.
func (a *app) failedQuery(res *engine.Result, out *answerPrinter, err error) error {
	if a.json && res != nil && res.Answer != "" {
		doc := newQueryJSON(res)
		failure := a.describe(err)
		doc.Error = &failure
		if werr := writeJSON(a.out, doc); werr != nil {
			return werr
		}
		code, _ := classify(err)
		return reported(code)
	}
	if werr := out.end(); werr != nil {
		return werr
	}
	return err
}

// micro returns a duration in the unit that suits it.
func micro(d time.Duration) string {
	n := d.Microseconds()
	switch {
	case n < 1000:
		return fmt.Sprintf("%d µs", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f ms", float64(n)/1e3)
	}
	return fmt.Sprintf("%.2f s", float64(n)/1e6)
}
