package main

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

//go:embed demo/*.md
var demoFiles embed.FS

// demoQuestions are one about a fact, one about a theme, and one whose answer
// lies in two documents.
var demoQuestions = []string{
	"Who discovered the Horsehead Nebula?",
	"How did astronomers measure distances beyond the Milky Way?",
	"Who paid for the mirror of the telescope with which Edwin Hubble found a Cepheid in the Andromeda Nebula?",
}

func (a *app) demoCommand() *cobra.Command {
	var keep string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Index a bundled sample and ask it three questions",
		Long: "Index a bundled sample, a few pages on the women and men who measured the stars, into a\n" +
			"temporary store and ask it three questions.",
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), keep) },
	}
	c.Flags().StringVar(&keep, "keep", "", "make the store in this new `DIR` and keep it")
	return c
}

func (a *app) demo(ctx context.Context, keep string) (err error) {
	if keep != "" {
		if _, err := os.Lstat(keep); err == nil {
			return about(keep, usagef("--keep %s: it exists already", keep))
		}
		a.db = keep
	} else {
		dir, err := os.MkdirTemp("", "lightctl-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		a.db = filepath.Join(dir, "store")
	}
	docs, err := demoDocuments()
	if err != nil {
		return err
	}
	db, err := a.openModels(ctx, engine.Options{})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := db.Close(); err == nil {
			err = cerr
		}
	}()
	started := time.Now()
	rep, err := db.Insert(ctx, docs...)
	if err != nil {
		return err
	}
	if n := rep.Count(engine.StatusProcessed); n != len(docs) {
		return fmt.Errorf("only %d of %d documents of the demo could be indexed: %w", n, len(docs), firstError(rep))
	}
	took := time.Since(started)
	if !a.json {
		v := db.View()
		n := v.Counts()
		v.Close()
		err := a.say("Indexed %s in %s: %s, %s.\n", plural(n.Documents, "document"), micro(took),
			plural(n.Entities, "entity"), plural(n.Relations, "relation"))
		if err != nil {
			return err
		}
	}
	if err := a.askDemo(ctx, db.DB); err != nil {
		return err
	}
	if keep != "" {
		a.note("the store is kept: lightctl --db %s query QUESTION", keep)
	}
	return nil
}

func (a *app) askDemo(ctx context.Context, db *engine.DB) error {
	out := struct {
		Queries []*queryJSON `json:"queries"`
	}{}
	for _, question := range demoQuestions {
		res, err := db.Query(ctx, engine.Query{Text: question})
		if err != nil {
			return about(question, err)
		}
		if a.json {
			out.Queries = append(out.Queries, newQueryJSON(res))
			continue
		}
		if err := a.say("\n> %s\n\n", question); err != nil {
			return err
		}
		p := &answerPrinter{a: a, sources: true}
		if err := p.finish(res, &queryFlags{}); err != nil {
			return err
		}
	}
	if a.json {
		return writeJSON(a.out, out)
	}
	return nil
}

// demoDocuments are the bundled files in name order.
func demoDocuments() ([]engine.Document, error) {
	files, err := fs.ReadDir(demoFiles, "demo")
	if err != nil {
		return nil, err
	}
	var docs []engine.Document
	for _, f := range files {
		b, err := demoFiles.ReadFile(path.Join("demo", f.Name()))
		if err != nil {
			return nil, err
		}
		docs = append(docs, engine.Document{Path: f.Name(), Text: string(b)})
	}
	return docs, nil
}

func firstError(rep *engine.Report) error {
	for i := range rep.Documents {
		if err := rep.Documents[i].Err; err != nil {
			return err
		}
	}
	return fmt.Errorf("no error was reported")
}
