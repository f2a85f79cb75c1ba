package main

import "time"

// The graph parameters of every comparison.
const (
	graphM         = 16
	efConstruction = 200
	topK           = 10
)

// engine is an index under measurement: one of ours, or a peer in a process of its own.
type engine interface {
	name() string
	version() string
	// build indexes the first rows of the data set anew.
	build(rows int, seed uint64, threads int) (built, error)
	// search puts the first queries in whole passes until at least atLeast has been spent. It returns the row
	// numbers of the last pass, topK a query.
	search(s search) (timing, []int32, error)
	close() error
}

type search struct {
	ef, threads int
	atLeast     time.Duration // CPU time with one thread, wall time with more
	queries     int
}

// built is what a build took.
type built struct {
	CPU  time.Duration `json:"cpu_ns"` // of the process
	Wall time.Duration `json:"wall_ns"`
	RSS  int64         `json:"rss"` // bytes by which the process has grown
}

// timing is what a search of many queries took.
type timing struct {
	Queries int           `json:"queries"`
	CPU     time.Duration `json:"cpu_ns"` // of the searching thread; with more than one, of the process
	Wall    time.Duration `json:"wall_ns"`
}

func (t timing) perCPU() float64  { return float64(t.Queries) / t.CPU.Seconds() }
func (t timing) perWall() float64 { return float64(t.Queries) / t.Wall.Seconds() }
