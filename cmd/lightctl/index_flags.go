package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

// indexFlags are the flags of `index`.
type indexFlags struct {
	preChunked string
	replace    bool
	dryRun     bool
	priceIn    float64
	priceOut   float64
	maxFileMiB int64

	tokenizer    string
	chunkBy      string
	chunkTokens  int
	chunkOverlap int
	failChunks   bool

	gleaning    int
	maxExtract  int
	fragments   int
	language    string
	entityTypes []string
	examples    string
	extractJSON bool
	resolve     bool
}

func (a *app) indexCommand() *cobra.Command {
	var f indexFlags
	c := &cobra.Command{
		Use:   "index PATH...",
		Short: "Index files, directories, or standard input (-)",
		Long: "Index documents: files, directories and standard input (-, as the document \"stdin\").\n" +
			"Types: " + knownTypes + ", told by the end of the name. A document's id is\n" +
			"its path as typed. Lines of a jsonl file are {\"id\"?, \"path\"?, \"text\"}; the default id is\n" +
			"file#line.\n\n" +
			"Directories are walked in name order. Hidden entries, files of other types, links that\n" +
			"leave the directory or lead to a directory, and the store itself are skipped and reported.\n" +
			"A file that cannot be read or is too large fails alone.\n\n" +
			"What is already stored is not indexed again: an equal document is unchanged, one with another\n" +
			"text is a conflict unless --replace is given. Of a replaced text, chunks that stay the same are not\n" +
			"extracted again; with --chunk-by paragraphs a small edit leaves all but three as they were.\n" +
			"An interrupted run goes on where it stopped.\n" +
			"The exit code is 1 when any document failed or is in conflict.",
		Args: arguments(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.index(cmd, &f, args) },
	}
	fl := c.Flags()
	fl.StringVar(&f.preChunked, "pre-chunked", "", "index `FILE.jsonl` of lines {doc_id, path?, chunk_order, content} as cut there")
	fl.BoolVar(&f.replace, "replace", false, "let a changed text take the place of the stored one")
	fl.BoolVar(&f.dryRun, "dry-run", false, "read, cut and estimate calls and tokens; nothing is stored and no model is called")
	fl.Float64Var(&f.priceIn, "price-in", 0, "price of a million prompt tokens, for --dry-run")
	fl.Float64Var(&f.priceOut, "price-out", 0, "price of a million answer tokens, for --dry-run")
	fl.Int64Var(&f.maxFileMiB, "max-file-mib", 64, "largest file, or line of a jsonl file")
	fl.StringVar(&f.tokenizer, "tokenizer", "", "o200k, cl100k or chars4; fixed when the store is created (default o200k)")
	fl.StringVar(&f.chunkBy, "chunk-by", "tokens", "where texts are cut: tokens (windows that overlap) or paragraphs (at blank lines, no overlap)")
	fl.IntVar(&f.chunkTokens, "chunk-tokens", 1200, "most tokens of a chunk")
	fl.IntVar(&f.chunkOverlap, "chunk-overlap", 100, "tokens that neighbouring windows share")
	fl.BoolVar(&f.failChunks, "fail-on-chunk", false, "let a document fail when one of its chunks gets no usable answer, instead of keeping the rest")
	fl.IntVar(&f.gleaning, "gleaning", 1, "extraction rounds after the first (0 = none; at most 1 is used)")
	fl.IntVar(&f.maxExtract, "max-extract-tokens", 20480, "no further round when its prompt is longer (0 = no limit)")
	fl.IntVar(&f.fragments, "summary-fragments", storedFragments, "descriptions from which a model joins them, 0 = never (default: as in the store, 8 in a new one)")
	fl.Lookup("summary-fragments").DefValue = "0" // keeps the help from printing another default
	fl.StringVar(&f.language, "language", "", "language of extracted texts (default: that of the document)")
	fl.StringSliceVar(&f.entityTypes, "entity-types", nil, "types to extract, divided by commas")
	fl.StringVar(&f.examples, "examples", "", "`FILE` whose text is shown to the model as examples of the form")
	fl.BoolVar(&f.extractJSON, "extract-json", false, "ask the model for JSON instead of rows")
	fl.BoolVar(&f.resolve, "resolve-entities", false, "merge entities that differ in case, width, punctuation or spaces alone; each merge can be undone")
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
	case f.maxExtract < 0:
		return usagef("--max-extract-tokens must not be negative")
	case f.priceIn < 0 || f.priceOut < 0:
		return usagef("a price must not be negative")
	case f.priced() && !f.dryRun:
		return usagef("--price-in and --price-out go with --dry-run")
	case f.chunkTokens < 1:
		return usagef("--chunk-tokens must be at least 1, not %d", f.chunkTokens)
	case f.chunkOverlap < 0 || f.chunkBy == "tokens" && f.chunkOverlap >= f.chunkTokens:
		return usagef("--chunk-overlap must be at least 0 and below --chunk-tokens, not %d", f.chunkOverlap)
	case cmd.Flags().Changed("summary-fragments") && (f.fragments < 0 || f.fragments == 1):
		return usagef("--summary-fragments must be 0 (never) or at least 2, not %d", f.fragments)
	case f.maxFileMiB < 1 || f.maxFileMiB > 1<<20:
		return usagef("--max-file-mib must be at least 1, not %d", f.maxFileMiB)
	case cmd.Flags().Changed("entity-types") && len(clean(f.entityTypes)) == 0:
		return usagef("--entity-types is empty")
	}
	if f.chunkBy != "tokens" && f.chunkBy != "paragraphs" {
		return usagef("--chunk-by %q is not one of tokens, paragraphs", f.chunkBy)
	}
	switch f.tokenizer {
	case "", "o200k", "cl100k", "chars4":
		return nil
	}
	return usagef("--tokenizer %q is not one of o200k, cl100k, chars4", f.tokenizer)
}

func (f *indexFlags) priced() bool { return f.priceIn > 0 || f.priceOut > 0 }

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

// indexOptions are those of the engine. What is 0 on the command line means
// none, which the engine writes as a negative number.
func (a *app) indexOptions(f *indexFlags) (engine.Options, error) {
	none := func(n int) int {
		if n == 0 {
			return -1
		}
		return n
	}
	o := engine.Options{
		Tokenizer: f.tokenizer, ChunkBy: engine.ChunkBy(f.chunkBy), ChunkTokens: f.chunkTokens, ChunkOverlap: none(f.chunkOverlap),
		Gleaning: none(f.gleaning), MaxExtractTokens: none(f.maxExtract), SummaryFragments: f.summaryFragments(),
		Language: f.language, EntityTypes: clean(f.entityTypes), JSONExtraction: f.extractJSON, ResolveEntities: f.resolve,
	}
	if f.chunkBy == "paragraphs" {
		o.ChunkOverlap = -1
	}
	if f.failChunks {
		o.ChunkPolicy = engine.FailDocument
	}
	if f.examples != "" {
		b, err := os.ReadFile(f.examples)
		if err != nil {
			return o, about(f.examples, err)
		}
		if len(b) > maxExamples {
			return o, usagef("--examples %s has %d bytes; at most %d are shown to a model", f.examples, len(b), maxExamples)
		}
		o.Examples = strings.TrimSpace(string(b))
	}
	var err error
	o.Prompts, err = a.loadPrompts()
	return o, err
}

const maxExamples = 1 << 20
