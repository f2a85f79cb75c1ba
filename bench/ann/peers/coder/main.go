// Command coder measures github.com/coder/hnsw. Its build knows no efConstruction.
package main

import (
	"math/rand"

	"github.com/coder/hnsw"

	"github.com/lightctl/lightrag/bench/ann/peers/driver"
)

type peer struct{ graph *hnsw.Graph[int] }

func (p *peer) Build(d *driver.Data, rows int, seed uint64, _, m, efConstruction int) error {
	p.graph = hnsw.NewGraph[int]()
	p.graph.M = m
	p.graph.EfSearch = efConstruction // what its Add searches with
	p.graph.Rng = rand.New(rand.NewSource(int64(seed)))
	for i := range rows {
		p.graph.Add(hnsw.MakeNode(i, d.Row(i)))
	}
	return nil
}

func (p *peer) Prepare(ef int) error {
	p.graph.EfSearch = ef
	return nil
}

func (p *peer) Search(q []float32, ids []int32) error {
	found := p.graph.Search(q, len(ids))
	for i := range ids {
		ids[i] = -1
		if i < len(found) {
			ids[i] = int32(found[i].Key)
		}
	}
	return nil
}

func main() { driver.Main("coder/hnsw", "github.com/coder/hnsw", &peer{}) }
