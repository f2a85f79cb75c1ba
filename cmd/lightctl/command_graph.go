package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

func (a *app) graphCommand() *cobra.Command {
	var hops, limit int
	near := &cobra.Command{
		Use:   "neighbors NAME",
		Short: "The entities around one, nearest first",
		Args:  arguments(1, 1),
		RunE:  func(_ *cobra.Command, args []string) error { return a.neighbors(args[0], hops, limit) },
	}
	near.Flags().IntVar(&hops, "hops", 1, "how far to go")
	near.Flags().IntVar(&limit, "limit", 0, "at most this many (0 = all)")

	var format, file string
	export := &cobra.Command{
		Use:   "export",
		Short: "Write the graph",
		Long: "Write the graph as JSON lines: the entities in name order, then the relations, with their\n" +
			"distinct descriptions and their sources (doc_id#chunk_order). The same documents give\n" +
			"the same bytes.",
		Args: arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if format != "jsonl" {
				return usagef("--format %q is not one of jsonl", format)
			}
			return a.export(file)
		},
	}
	export.Flags().StringVar(&format, "format", "jsonl", "jsonl")
	export.Flags().StringVarP(&file, "output", "o", "", "file to write, whole or not at all (default: standard output)")
	return group("graph", "Explore and export the graph", near, export)
}

type neighborJSON struct {
	Name   string  `json:"name"`
	Hops   int     `json:"hops"`
	Via    string  `json:"via"`
	Weight float64 `json:"weight"`
	Degree int     `json:"degree"`
}

func (a *app) neighbors(name string, hops, limit int) error {
	if hops < 1 || limit < 0 {
		return usagef("--hops must be at least 1 and --limit not negative")
	}
	return a.view(func(v *engine.View) error {
		found, err := v.Neighbors(name, hops, limit)
		if err != nil {
			return about(name, suggestEntity(v, name, err))
		}
		if a.json {
			out := rows[neighborJSON]{Rows: make([]neighborJSON, len(found))}
			for i, n := range found {
				out.Rows[i] = neighborJSON{n.Name, n.Hops, n.Via, n.Weight, n.Degree}
			}
			return writeJSON(a.out, out)
		}
		t := a.table()
		t.row("HOPS", "NAME", "VIA", "WEIGHT", "NEIGHBOURS")
		for _, n := range found {
			t.row(n.Hops, n.Name, n.Via, n.Weight, n.Degree)
		}
		return t.flush()
	})
}

func (a *app) export(file string) error {
	return a.view(func(v *engine.View) error {
		if file == "" || file == "-" {
			return v.ExportJSONL(a.out)
		}
		return about(file, writeFile(file, v.ExportJSONL))
	})
}

// writeFile writes a file under a temporary name and renames it when it is
// whole and on disk.
func writeFile(path string, fill func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp*")
	if err != nil {
		return err
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
