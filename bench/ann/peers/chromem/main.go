// Command chromem measures github.com/philippgille/chromem-go, which looks at every vector.
package main

import (
	"context"
	"runtime"
	"strconv"

	"github.com/philippgille/chromem-go"

	"github.com/lightctl/lightrag/bench/ann/peers/driver"
)

type peer struct{ all *chromem.Collection }

func (p *peer) Build(d *driver.Data, rows int, _ uint64, threads, _, _ int) error {
	var err error
	if p.all, err = chromem.NewDB().CreateCollection("vectors", nil, nil); err != nil {
		return err
	}
	for i := range rows {
		// It keeps the vector it is given.
		doc := chromem.Document{ID: strconv.Itoa(i), Embedding: append([]float32(nil), d.Row(i)...), Content: "-"}
		if err := p.all.AddDocument(context.Background(), doc); err != nil {
			return err
		}
	}
	return nil
}

func (p *peer) Prepare(int) error { return nil }

func (p *peer) Search(q []float32, ids []int32) error {
	found, err := p.all.QueryEmbedding(context.Background(), q, len(ids), nil, nil)
	if err != nil {
		return err
	}
	for i := range ids {
		ids[i] = -1
		if i < len(found) {
			id, err := strconv.Atoi(found[i].ID)
			if err != nil {
				return err
			}
			ids[i] = int32(id)
		}
	}
	return nil
}

func main() {
	runtime.GOMAXPROCS(1) // it starts a goroutine per core
	driver.Main("chromem-go", "github.com/philippgille/chromem-go", &peer{})
}
