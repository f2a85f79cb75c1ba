package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

var exportFormats = []string{"jsonl", "graphml", "csv", "md", "html"}

func (a *app) exportCommand() *cobra.Command {
	e := &export{}
	c := &cobra.Command{
		Use:   "export",
		Short: "Write the graph",
		Long: `Write the graph. The same documents give the same bytes.

  jsonl    one object a line: the entities in name order, then the relations, with
           their distinct descriptions and their sources (doc_id#chunk_order)
           with --full everything that the store was made of, documents, vectors, summaries
           and cached answers too: ` + "`import jsonl`" + ` makes an equal store of it
  graphml  for networkx, Gephi and LightRAG: the attributes of LightRAG's own file
  csv      one table with a column kind; with -o DIR/ the two tables entities.csv
           and relations.csv. Lists are joined by <SEP>. A cell that a spreadsheet
           would run as a formula begins with an apostrophe
  md       a document to read, the entities with the most relations first
  html     one page that draws the graph, with search, details and a legend; it needs no
           network and opens from a file. It holds the --limit best connected entities

Standard output gets the format itself, with --json too; with -o --json names the files.`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(exportFormats, e.format) {
				return usagef("--format %q is not one of %s", e.format, strings.Join(exportFormats, ", "))
			}
			for _, flag := range []string{"limit", "title"} {
				if e.format != "html" && cmd.Flags().Changed(flag) {
					return usagef("--%s is for --format html", flag)
				}
			}
			if e.limit < 1 {
				return usagef("--limit must be at least 1")
			}
			if e.full && e.format != "jsonl" {
				return usagef("--full is for --format jsonl")
			}
			return a.view(func(v *engine.View) error { return e.run(a, v) })
		},
	}
	f := c.Flags()
	f.StringVar(&e.format, "format", "jsonl", strings.Join(exportFormats, ", "))
	f.BoolVar(&e.full, "full", false, "all of the store, for import jsonl")
	f.IntVar(&e.limit, "limit", 20_000, "html: at most this many entities")
	f.StringVar(&e.title, "title", "", "html: heading of the page (default: the name of the store)")
	f.StringVarP(&e.file, "output", "o", "", "file to write, whole or not at all (default: standard output)")
	return c
}

type exportJSON struct {
	Format string   `json:"format"`
	Full   bool     `json:"full"`
	Files  []string `json:"files"`
}

// export is one run of graph export.
type export struct {
	format string
	file   string
	full   bool
	limit  int
	title  string
}

func (e *export) run(a *app, v *engine.View) error {
	if e.format == "csv" && e.isDirectory() {
		if err := os.MkdirAll(e.file, 0o755); err != nil {
			return about(e.file, err)
		}
		entities, relations := filepath.Join(e.file, "entities.csv"), filepath.Join(e.file, "relations.csv")
		for path, part := range map[string]engine.CSVPart{entities: engine.CSVEntities, relations: engine.CSVRelations} {
			if err := writeFile(path, func(w io.Writer) error { return v.ExportCSV(w, part) }); err != nil {
				return about(path, err)
			}
		}
		return e.report(a, entities, relations)
	}
	write := v.ExportJSONL
	if e.full {
		write = v.ExportFull
	}
	switch e.format {
	case "graphml":
		write = v.ExportGraphML
	case "csv":
		write = func(w io.Writer) error { return v.ExportCSV(w, engine.CSVAll) }
	case "md":
		write = v.ExportMarkdown
	case "html":
		title := cmp.Or(e.title, filepath.Base(a.db))
		write = func(w io.Writer) error {
			return v.ExportHTML(w, engine.HTMLOptions{Title: title, MaxEntities: e.limit})
		}
	}
	if e.file == "" || e.file == "-" {
		return write(a.out)
	}
	if err := writeFile(e.file, write); err != nil {
		return about(e.file, err)
	}
	return e.report(a, e.file)
}

// report says in JSON where the export is; people named the file themselves.
func (e *export) report(a *app, files ...string) error {
	if !a.json {
		return nil
	}
	return writeJSON(a.out, exportJSON{Format: e.format, Full: e.full, Files: files})
}

// isDirectory says whether the output is a directory: one that exists, or a
// name that ends in a slash.
func (e *export) isDirectory() bool {
	if e.file == "" {
		return false
	}
	if os.IsPathSeparator(e.file[len(e.file)-1]) {
		return true
	}
	info, err := os.Stat(e.file)
	return err == nil && info.IsDir()
}

// writeFile writes a file under a temporary name and renames it when it is
// whole and on disk. A link stays one, and what is no file, as a device or a pipe,
// is written to.
func writeFile(path string, fill func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeTo(path, fill)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, bare(err)) // not the temporary name
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriter(f)
	if err = fill(w); err != nil {
		return err
	}
	if err = w.Flush(); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func writeTo(path string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, bare(err))
	}
	w := bufio.NewWriter(f)
	if err = fill(w); err == nil {
		err = w.Flush()
	}
	return errors.Join(err, f.Close())
}
