// Command weaviate measures the index of github.com/weaviate/weaviate: its vectors in its cache, no compression,
// no commit log.
package main

import (
	"context"
	"fmt"

	"github.com/weaviate/weaviate/adapters/repos/db/vector/hnsw"
	"github.com/weaviate/weaviate/adapters/repos/db/vector/hnsw/distancer"
	"github.com/weaviate/weaviate/entities/cyclemanager"
	config "github.com/weaviate/weaviate/entities/vectorindex/hnsw"
	"github.com/weaviate/weaviate/usecases/memwatch"

	"github.com/lightctl/lightrag/bench/ann/peers/driver"
)

type peer struct {
	index  *hnsw.HNSW
	config config.UserConfig
}

func (p *peer) Build(d *driver.Data, rows int, _ uint64, _, m, efConstruction int) error {
	p.config.SetDefaults()
	p.config.MaxConnections, p.config.EFConstruction, p.config.EF = m, efConstruction, 64
	p.config.FlatSearchCutoff = 0
	var err error
	p.index, err = hnsw.New(hnsw.Config{
		RootPath:              "unused",
		ID:                    "bench",
		MakeCommitLoggerThunk: hnsw.MakeNoopCommitLogger,
		DistanceProvider:      distancer.NewDotProductProvider(),
		AllocChecker:          memwatch.NewDummyMonitor(),
		VectorForIDThunk: func(_ context.Context, id uint64) ([]float32, error) {
			return nil, fmt.Errorf("vector %d is not in the cache", id)
		},
	}, p.config, cyclemanager.NewCallbackGroupNoop(), nil)
	if err != nil {
		return err
	}
	for i := range rows {
		if err := p.index.Add(context.Background(), uint64(i), d.Row(i)); err != nil {
			return err
		}
	}
	return nil
}

func (p *peer) Prepare(ef int) error {
	p.config.EF = ef
	return p.index.UpdateUserConfig(p.config, func() {})
}

func (p *peer) Search(q []float32, ids []int32) error {
	found, _, err := p.index.SearchByVector(context.Background(), q, len(ids), nil)
	if err != nil {
		return err
	}
	for i := range ids {
		ids[i] = -1
		if i < len(found) {
			ids[i] = int32(found[i])
		}
	}
	return nil
}

func main() { driver.Main("weaviate", "github.com/weaviate/weaviate", &peer{}) }
