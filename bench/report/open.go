package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"

	"github.com/lightctl/lightrag/bench/measure"
	"github.com/lightctl/lightrag/bench/store"
	"github.com/lightctl/lightrag/engine"
)

const opens = 5

// opened is what a process that does nothing else measured.
type opened struct {
	Open           measure.Span
	Resident, Peak int64 // bytes; 0 = unknown
}

// open reports the time to open the store in dir and the memory it takes, by
// the median of several new processes.
func (r *rows) open(ctx context.Context, dir string) {
	name := "open " + sizeName(r.config.large) + ": "
	var cpu, wall measure.Sample
	var last opened
	for range opens {
		args := append(r.config.child[1:len(r.config.child):len(r.config.child)], dir)
		out, err := exec.CommandContext(ctx, r.config.child[0], args...).Output()
		if err == nil {
			last, err = decode[opened](out)
		}
		if err != nil {
			why := fmt.Sprintf("the process that opens the store failed: %v", err)
			r.missing(name+"wall", "ms", "", why)
			r.missing(name+"CPU", "ms", "", why)
			r.missing(name+"RSS", "MB", "", why)
			r.missing(name+"peak RSS", "MB", "", why)
			return
		}
		cpu, wall = append(cpu, last.Open.CPU), append(wall, last.Open.Wall)
	}
	r.add(name+"wall", measure.Milliseconds(wall.Median()), "ms", "", fmt.Sprintf("median of %d processes; files in the page cache", opens))
	r.cpu(name+"CPU", measure.Milliseconds(cpu.Median()), "ms", "", "")
	if last.Resident == 0 {
		r.missing(name+"RSS", "MB", "", "the system does not say")
		r.missing(name+"peak RSS", "MB", "", "the system does not say")
		return
	}
	r.add(name+"RSS", float64(last.Resident)/1e6, "MB", "", "of a process that only opened the store, no collection forced")
	r.add(name+"peak RSS", float64(last.Peak)/1e6, "MB", "", "")
}

// openChild opens the store in dir and writes what that took.
func openChild(dir string, w io.Writer) error {
	options := store.NewCorpus(0).Options()
	options.MustExist = true
	var o opened
	stop := measure.Start()
	db, err := engine.Open(dir, options)
	if err != nil {
		return err
	}
	o.Open = stop()
	o.Resident, o.Peak, _ = measure.ResidentBytes()
	if err := json.NewEncoder(w).Encode(o); err != nil {
		return err
	}
	return db.Close()
}
