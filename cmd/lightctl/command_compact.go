package main

import (
	"context"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

func (a *app) compactCommand() *cobra.Command {
	var o engine.CompactOptions
	c := &cobra.Command{
		Use:   "compact",
		Short: "Rewrite the store without what was deleted",
		Long: "Rewrite the files of the store without what was deleted or replaced. Afterwards no file holds a word that\n" +
			"only deleted documents had, but for cached model answers: --purge removes those that no indexed passage was\n" +
			"made from, also the finished ones of documents whose indexing was interrupted. It takes up to the size of\n" +
			"the store of free room on the disk while it runs. An interrupted run loses nothing.",
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.compact(cmd.Context(), o) },
	}
	c.Flags().BoolVar(&o.Answers, "purge", false, "also erase cached model answers, which may quote what was deleted")
	return c
}

type compactJSON struct {
	Purged      bool    `json:"purged"`
	Terms       int     `json:"terms"`
	Vectors     int     `json:"vectors"`
	Answers     int     `json:"answers"`
	BytesBefore uint64  `json:"bytes_before"`
	BytesAfter  uint64  `json:"bytes_after"`
	Seconds     float64 `json:"seconds"`
}

func (a *app) compact(ctx context.Context, o engine.CompactOptions) error {
	started := time.Now()
	db, err := a.openView()
	if err != nil {
		return err
	}
	dim := db.Identity().Dim
	if err := db.Close(); err != nil {
		return err
	}
	out := compactJSON{Purged: o.Answers, BytesBefore: treeBytes(a.db)}
	rep, err := engine.Compact(ctx, a.db, engine.Options{Embedder: nobody{dim: dim}, Logger: a.log}, o)
	if err != nil {
		return about(a.db, a.explainOpen(err))
	}
	out.Terms, out.Vectors, out.Answers = rep.Terms, rep.Vectors, rep.Answers
	out.BytesAfter = treeBytes(a.db)
	out.Seconds = seconds(time.Since(started))
	if a.json {
		return writeJSON(a.out, out)
	}
	return a.say("compacted %s: %s, before %s; erased %s, %s and %s\n", a.db, bytesText(out.BytesAfter), bytesText(out.BytesBefore),
		plural(out.Terms, "term"), plural(out.Vectors, "vector"), plural(out.Answers, "cached answer"))
}

// treeBytes returns the size of the files below a directory, as far as it can
// be read.
func treeBytes(dir string) (n uint64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			n += uint64(info.Size())
		}
		return nil
	})
	return n
}
