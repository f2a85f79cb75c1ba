package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/lightctl/lightrag/bench/measure"
	"github.com/lightctl/lightrag/hnsw"
)

// opened reports how long a saved index takes to its first answer.
func (r *runner) opened() error {
	d := r.large()
	r.log("build of %s for a file", d)
	ix, err := r.indexOf(d, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	path := filepath.Join(r.shop.dir, "index")
	if err := ix.SaveFile(path); err != nil {
		return err
	}
	size, err := measure.DirBytes(path)
	if err != nil {
		return err
	}
	ix = nil
	var wall, cpu, all measure.Sample
	for range 5 {
		stop := measure.Start()
		ix, err := firstAnswer(path, d.q(0))
		span := stop()
		if err != nil {
			return err
		}
		stop = measure.Start()
		if err := ix.Verify(); err != nil {
			return err
		}
		all = append(all, stop().CPU)
		if err := ix.Close(); err != nil {
			return err
		}
		wall, cpu = append(wall, span.Wall), append(cpu, span.CPU)
	}
	r.add(fmt.Sprintf("open %s from the page cache: CPU to verify all of it", d), measure.Milliseconds(all.Median()), "ms", "", "not needed for a search")
	r.add(fmt.Sprintf("open %s from the page cache: to the first answer", d), measure.Milliseconds(wall.Median()), "ms", "<= 5",
		fmt.Sprintf("wall, median of 5; CPU %.1f ms; a file of %.0f MB", measure.Milliseconds(cpu.Median()), float64(size)/1e6))
	return os.Remove(path)
}

// firstAnswer opens a saved index and puts one query.
func firstAnswer(path string, q []float32) (*hnsw.Index, error) {
	ix, err := hnsw.Open(path, hnsw.OpenOptions{})
	if err != nil {
		return nil, err
	}
	_, err = ix.Search(q, topK, hnsw.IndexSearchOptions{})
	return ix, err
}
