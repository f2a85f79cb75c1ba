package columns

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// One hop: the neighbours of a random entity, and what ranking asks of each.
func BenchmarkOneHop(b *testing.B) {
	for _, n := range []int{20_000, 100_000} {
		c := graph(n, 50)
		rng := rand.New(rand.NewPCG(5, 6))
		ids := make([]EntityID, 1<<14)
		for i := range ids {
			ids[i] = EntityID(rng.IntN(n))
		}
		b.Run(fmt.Sprintf("deg=50/nodes=%d/list", n), func(b *testing.B) {
			b.ReportAllocs()
			var sink, i int
			for b.Loop() {
				for _, nb := range c.Neighbors(ids[i&(len(ids)-1)]) {
					sink += int(nb.Entity ^ EntityID(nb.Relation))
				}
				i++
			}
			_ = sink
		})
		b.Run(fmt.Sprintf("deg=50/nodes=%d/degree+weight", n), func(b *testing.B) {
			b.ReportAllocs()
			var sink, i int
			for b.Loop() {
				for _, nb := range c.Neighbors(ids[i&(len(ids)-1)]) {
					sink += c.Degree(nb.Entity) + int(c.Weight(nb.Relation))
				}
				i++
			}
			_ = sink
		})
	}
}

// Publish: one version that touches 160 scattered owners on 100k entities of
// degree 10. rows: the rows of 160 entities. linked: 54 relations are dropped
// and made again, which writes their rows and sources and the neighbour lists
// of 108 entities; includes its share of the compactions.
func BenchmarkPublish(b *testing.B) {
	const n = 100_000
	rng := rand.New(rand.NewPCG(7, 8))
	for _, mode := range []string{"rows", "linked"} {
		c := graph(n, 10)
		changes := 80
		if mode == "linked" {
			changes = 54
		}
		b.Run("touched=160/"+mode, func(b *testing.B) {
			b.ReportAllocs()
			sources := []ChunkID{0, 0}
			for b.Loop() {
				e := c.Edit()
				for range changes {
					rel := RelationID(rng.IntN(n * 5))
					x, y := c.Ends(rel)
					if mode == "rows" {
						e.SetEntity(x, EntityRow{LineTokens: 3, Sole: 1})
						e.SetEntity(y, EntityRow{LineTokens: 3, Sole: 1})
						continue
					}
					if !e.next.RelationLive(rel) {
						continue
					}
					e.DropRelation(rel)
					e.AddRelation(rel, x, y)
					sources[1]++
					e.SetEntity(x, EntityRow{LineTokens: 3, Sole: 1, Sources: sources})
					e.SetRelation(rel, RelationRow{Weight: 1, Sources: sources})
				}
				c = e.Done()
			}
		})
	}
}

// Load: 100k entities, 500k relations, 100k chunks, without making the input.
func BenchmarkLoad(b *testing.B) {
	const n = 100_000
	src := graph(n, 10)
	b.ReportAllocs()
	for b.Loop() {
		l := NewLoader()
		for id := range src.Entities() {
			l.AddEntity(id, src.EntityName(id))
			l.SetEntity(id, EntityRow{Sources: src.EntitySources(id)})
		}
		for id := range src.Relations() {
			x, y := src.Ends(id)
			l.AddRelation(id, x, y)
			l.SetRelation(id, RelationRow{Sources: src.RelationSources(id)})
		}
		for id := range src.Chunks() {
			l.AddChunk(id, ChunkRow{Doc: 1})
		}
		if c := l.Done(); l.Err() != nil || c.Counts() != src.Counts() {
			b.Fatal(l.Err(), c.Counts())
		}
	}
	total, _ := src.Bytes()
	b.ReportMetric(float64(total)/n, "B/entity")
}
