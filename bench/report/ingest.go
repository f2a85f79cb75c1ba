package main

import (
	"context"
	"fmt"

	"github.com/lightctl/lightrag/bench/measure"
	"github.com/lightctl/lightrag/bench/store"
	"github.com/lightctl/lightrag/engine"
)

// ingest builds the large store in dir and reports what that took.
func (r *rows) ingest(ctx context.Context, corpus *store.Corpus, dir string) error {
	n := r.config.large
	var cost store.Cost
	err := r.config.profiled("ingest", func() (err error) {
		cost, err = corpus.Build(ctx, dir, n)
		return err
	})
	if err != nil {
		return err
	}
	name := "ingest " + sizeName(n) + ": "
	total := cost.Visible.Add(cost.Linking)
	r.cpu(name+"CPU", total.CPU.Seconds(), "s", "",
		fmt.Sprintf("%d chunks in documents of %d, all vectors linked; embedding apart", n, store.PerDocument))
	r.cpu(name+"CPU of the embedding", cost.Embedded.CPU.Seconds(), "s", "", "not in the row above; chunk vectors were known beforehand")
	r.add(name+"wall", total.Wall.Seconds(), "s", "", fmt.Sprintf(
		"embedding included; everything visible after %s s, the rest is linking", measure.Number(cost.Visible.Wall.Seconds())))
	r.cpu(name+"chunks per CPU second", float64(n)/total.CPU.Seconds(), "chunks/s", "", "")
	if _, ok := measure.BytesWritten(); ok {
		r.add(name+"bytes written", float64(cost.Written)/1e6, "MB", "", "write_bytes of /proc/self/io")
	} else {
		r.missing(name+"bytes written", "MB", "", "the system does not count them")
	}

	db, err := engine.Open(dir, corpus.Options())
	if err != nil {
		return err
	}
	defer db.Close()
	view := db.View()
	got, want := view.Counts(), corpus.Size(n)
	view.Close()
	r.add(name+"entities", float64(got.Entities), "entities", fmt.Sprintf("= %d", want.Entities), "")
	r.add(name+"relations", float64(got.Relations), "relations", fmt.Sprintf("= %d", want.Relations), "")
	stats, err := db.Stats()
	if err != nil {
		return err
	}
	size, err := measure.DirBytes(dir)
	if err != nil {
		return err
	}
	r.add("disk "+sizeName(n)+": whole store", float64(size)/1e6, "MB", "", "")
	r.add("disk "+sizeName(n)+": vector segments", float64(stats.Disk.SegmentBytes)/1e6, "MB", "",
		fmt.Sprintf("%d segments; %s MB of vectors are still with the rows", stats.Disk.Segments, measure.Number(float64(stats.Disk.BufferedBytes)/1e6)))
	r.add("disk "+sizeName(n)+": postings", float64(stats.Disk.PostingsBytes)/1e6, "MB", "", "estimated by the key-value store")
	return nil
}
