package durable

import (
	"errors"
	"math"
	"runtime"
	"sync"

	"github.com/lightctl/lightrag/format"
)

// maxDecoders bounds the blocks (256 KiB each) that are decoded at a time.
const maxDecoders = 8

// LoadVectors calls fn, from one goroutine, with every vector of the newest
// state: those of the segments first, then the buffered ones in sequence order.
// vec is good until fn returns. It stops at the first error of fn, and at the
// first damage: a *format.CorruptionError that names the file.
func (d *DB) LoadVectors(fn func(kind format.Kind, owner, version uint32, vec []float32) error) error {
	snap := d.Snapshot() // sealing moves vectors from the buffer to a segment
	defer snap.Close()
	segments, err := d.readSegments(snap)
	if err != nil {
		return wrap("load vectors of", d.dir, err)
	}
	for _, info := range segments {
		if err := d.loadSegment(info, fn); err != nil {
			return wrap("load", info.Path, err)
		}
	}
	return wrap("load vectors of", d.dir, Buffered(snap, math.MaxUint64, func(_ uint64, v *format.BufferedVector) error {
		return fn(v.Kind, v.Owner, v.Version, v.Vector)
	}))
}

// block is one decoded block on its way to fn.
type block struct {
	floats      []float32
	first, rows int
	err         error
}

// loadSegment decodes the blocks of one segment on several goroutines and
// hands their rows to fn on this one.
func (d *DB) loadSegment(info SegmentInfo, fn func(format.Kind, uint32, uint32, []float32) error) (err error) {
	f, s, err := d.openSegment(info.Path, info)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()

	workers := min(runtime.GOMAXPROCS(0), maxDecoders, s.Blocks())
	dim := s.Dim()
	todo := make(chan int)
	stop := make(chan struct{})
	done := make(chan *block, workers)
	free := make(chan *block, 2*workers)
	for range 2 * workers {
		free <- new(block)
	}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range todo {
				b := <-free // there is always one: 2*workers blocks, at most workers in done
				if b.floats == nil {
					b.floats = make([]float32, min(s.BlockRows(), s.Rows())*dim)
				}
				b.first, b.rows, b.err = s.DecodeBlock(i, b.floats)
				done <- b
			}
		})
	}
	group.Go(func() {
		defer close(todo)
		for i := range s.Blocks() {
			select {
			case todo <- i:
			case <-stop:
				return
			}
		}
	})
	go func() { group.Wait(); close(done) }()

	for b := range done {
		if err == nil {
			if err = b.err; err == nil {
				err = deliver(s, b, fn)
			}
			if err != nil {
				close(stop)
			}
		}
		free <- b
	}
	return err
}

func deliver(s *format.SegmentReader, b *block, fn func(format.Kind, uint32, uint32, []float32) error) error {
	dim := s.Dim()
	for r := range b.rows {
		id := s.ID(b.first + r)
		if err := fn(id.Kind, id.Owner, id.Version, b.floats[r*dim:(r+1)*dim:(r+1)*dim]); err != nil {
			return err
		}
	}
	return nil
}
