package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

func (a *app) importJSONLCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "jsonl FILE",
		Short: "Make an equal store of a full export",
		Long: "Make the store --db of the file that `graph export --full` wrote (- = standard input): an equal\n" +
			"one, with documents, vectors, summaries and cached answers. No model is called. The directory\n" +
			"must not exist, or be empty. The store appears whole or not at all: an interrupted import\n" +
			"is started again.",
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.importJSONL(cmd, args[0]) },
	}
}

// importJSON is the report of import jsonl.
type importJSON struct {
	Documents   int      `json:"documents"`
	Chunks      int      `json:"chunks"`
	Fragments   int      `json:"fragments"`
	Entities    int      `json:"entities"`
	Relations   int      `json:"relations"`
	Vectors     int      `json:"vectors"`
	Summaries   int      `json:"summaries"`
	Answers     int      `json:"answers"`
	Differences []string `json:"differences"`
	More        int      `json:"more_differences"`
}

// lineText says where a file cannot be used and why; that it is invalid goes
// without saying.
func lineText(e *engine.LineError) string {
	text := strings.TrimSuffix(e.Error(), ": "+engine.ErrInvalid.Error())
	if e.Line == 0 { // there is none
		return strings.TrimPrefix(text, "line 0: ")
	}
	return text
}

func (a *app) importJSONL(cmd *cobra.Command, file string) error {
	in := a.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return about(file, err)
		}
		defer f.Close()
		in = f
	}
	rep, err := engine.ImportJSONL(cmd.Context(), a.db, io.Reader(in), engine.Options{Logger: a.log})
	var line *engine.LineError
	switch {
	case errors.As(err, &line):
		return about(file, &plainError{err, fmt.Sprintf("%s: %s; nothing was made", file, lineText(line))})
	case errors.Is(err, engine.ErrExists):
		return about(a.db, &plainError{err, fmt.Sprintf("%s is there already: an import makes a new store; --db or LIGHTRAG_DB names another", a.db)})
	case err != nil:
		return about(a.db, a.explainOpen(err))
	}
	if a.json {
		return writeJSON(a.out, importJSON{
			rep.Documents, rep.Chunks, rep.Fragments, rep.Entities, rep.Relations, rep.Vectors, rep.Summaries, rep.Answers,
			list(rep.Differences), rep.DifferencesMore,
		})
	}
	for _, d := range rep.Differences {
		a.note("%s: %s", file, d)
	}
	if rep.DifferencesMore > 0 {
		a.note("%s: %s more", file, plural(rep.DifferencesMore, "difference"))
	}
	return a.say("imported %s, %s, %s, %s, %s, %s and %s into %s\n",
		plural(rep.Documents, "document"), plural(rep.Chunks, "chunk"), plural(rep.Entities, "entity"),
		plural(rep.Relations, "relation"), plural(rep.Vectors, "vector"), plural(rep.Summaries, "summary"),
		plural(rep.Answers, "cached answer"), a.db)
}
