package graphstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

// benchDoc is a document of ten chunks that mentions 80 of n entities and 80
// of their pairs; names are drawn with a bias to the small ones.
func benchDoc(rng *rand.Rand, id string, n int) *testDoc {
	d := &testDoc{id: id}
	name := func() string { return fmt.Sprintf("Entity number %d", int(float64(n)*rng.Float64()*rng.Float64())) }
	for i := range 10 {
		c := testChunk{order: uint32(i)}
		for j := range 8 {
			c.entities = append(c.entities, e(uint16(j), name(), "person", fmt.Sprintf(
				"A description of about one hundred and fifty bytes, which is what a model writes about an entity it has met in a chunk, number %d %d %s.", i, j, id)))
		}
		for j := range 8 {
			a, b := c.entities[j].Name, c.entities[(j+1)%8].Name
			if a != b {
				c.relations = append(c.relations, r(uint16(20+j), a, b, fmt.Sprintf("How the two are related, in some words, %d %d %s.", i, j, id), 1_000_000, "related", "words"))
			}
		}
		d.chunks = append(d.chunks, c)
	}
	return d
}

// filled returns a store that holds n entities or nearly so.
func filled(b *testing.B, n int) (*Store, *rand.Rand) {
	b.Helper()
	s, _ := opened(b, vfs.NewMem(), func(o *Options) {
		o.CacheBytes, o.MemTableBytes = 0, 0
		o.Identity.Dim = testDim
	})
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for i := 0; s.Stats().Entities < uint64(n)*8/10; i++ {
		var d *testDoc
		if d = benchDoc(rng, fmt.Sprint("fill ", i), n); i%2 == 0 { // reach the rare ones too
			for j := range d.chunks {
				for k := range d.chunks[j].entities {
					d.chunks[j].entities[k].Name = fmt.Sprintf("Entity number %d", rng.IntN(n))
				}
				d.chunks[j].relations = nil
			}
		}
		insert(b, s, d)
	}
	return s, rng
}

func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{1_000, 20_000} {
		b.Run(fmt.Sprintf("entities=%d", n), func(b *testing.B) {
			s, rng := filled(b, n)
			ctx := context.Background()
			serial := 0
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				serial++
				d := benchDoc(rng, fmt.Sprint("doc ", serial), n)
				doc := register(b, s, d)
				v, err := s.View()
				if err != nil {
					b.Fatal(err)
				}
				chunks, err := v.DocumentChunks(doc)
				v.Close()
				if err != nil {
					b.Fatal(err)
				}
				c := d.contribution(doc, chunks)
				b.StartTimer()
				p, err := s.Prepare(ctx, c)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := s.Commit(ctx, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkView(b *testing.B) {
	s, _ := opened(b, vfs.NewMem(), nil)
	insert(b, s, oneChunk("a", "A"))
	b.ReportAllocs()
	for b.Loop() {
		v, err := s.View()
		if err != nil {
			b.Fatal(err)
		}
		v.Close()
	}
}

func BenchmarkRecords(b *testing.B) {
	s, rng := filled(b, 1_000)
	v, err := s.View()
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	var all []EntityID
	for id := range v.Entities() {
		all = append(all, id)
	}
	for _, n := range []int{1, 60} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			ids := make([]EntityID, n)
			var dst []format.Record
			b.ReportAllocs()
			for b.Loop() {
				for i := range ids {
					ids[i] = all[rng.IntN(len(all))]
				}
				if dst, err = v.EntityRecords(ids, dst[:0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
