package graphstore

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
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
func filled(b *testing.B, n int, terms Analyzer) (*Store, *rand.Rand) {
	b.Helper()
	s, _ := opened(b, vfs.NewMem(), func(o *Options) {
		o.CacheBytes, o.MemTableBytes = 0, 0
		o.Identity.Dim = testDim
		o.Terms = terms
	})
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for i := 0; s.Stats().Entities < uint64(n)*8/10; i++ {
		var d *testDoc
		if d = proseDoc(rng, fmt.Sprint("fill ", i), n); i%2 == 0 { // reach the rare ones too
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
	for _, terms := range []Analyzer{nil, fields{}} {
		for _, n := range []int{1_000, 20_000} {
			b.Run(fmt.Sprintf("entities=%d/terms=%v", n, terms != nil), func(b *testing.B) {
				s, rng := filled(b, n, terms)
				ctx := context.Background()
				serial := 0
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					serial++
					d := proseDoc(rng, fmt.Sprint("doc ", serial), n)
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
				b.ReportMetric(float64(s.Stats().PostingsWritten)/float64(s.Stats().Documents), "posting-B/doc")
			})
		}
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
	s, rng := filled(b, 1_000, nil)
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

// proseDoc is benchDoc with chunks of 4,500 bytes of words as frequent as those
// of a language.
func proseDoc(rng *rand.Rand, id string, n int) *testDoc {
	d := benchDoc(rng, id, n)
	for i := range d.chunks {
		d.chunks[i].prose = prose(rng, 700)
	}
	return d
}

// fields is an analyzer that costs nearly nothing.
type fields struct{}

func (fields) Name() string { return "fields" }

func (fields) Terms(text string, yield func(term []byte)) {
	var buf [64]byte
	for len(text) > 0 {
		word := text
		if i := strings.IndexAny(text, " \n"); i >= 0 {
			word, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		yield(append(buf[:0], word[:min(len(word), len(buf))]...))
	}
}

func prose(rng *rand.Rand, words int) string {
	var b strings.Builder
	for range words {
		fmt.Fprintf(&b, "w%d ", int(math.Pow(20_000, rng.Float64())))
	}
	return b.String()
}

// BenchmarkPostings reads one term of a store with n owners, which came in
// commits of ten: as they left it, and after all was compacted.
func BenchmarkPostings(b *testing.B) {
	for _, n := range []uint32{20_000, 100_000} {
		s, _ := opened(b, vfs.NewMem(), func(o *Options) { o.CacheBytes, o.MemTableBytes = 0, 0 })
		every := []struct {
			term string
			in   uint32
		}{{"three", n / 3}, {"200", n / 200}, {"5000", n / 5000}, {"half", 2}, {"all", 1}}
		for from := uint32(1); from <= n; from += 10 {
			if _, err := s.write(func(tx *txn) error {
				for owner := from; owner < from+10; owner++ {
					var edits []termEdit
					for _, t := range every {
						if owner%t.in == 0 {
							edits = append(edits, termEdit{t.term, uint64(t.in), 2})
						}
					}
					for range 30 { // others
						edits = append(edits, termEdit{fmt.Sprint("w", owner*7919%50_000+uint32(len(edits))), uint64(len(edits)), 1})
					}
					tx.index(format.KindChunk, owner, edits)
				}
				return nil
			}); err != nil {
				b.Fatal(err)
			}
		}
		for _, compacted := range []bool{false, true} {
			if compacted {
				if err := s.db.Compact(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			v, err := s.View()
			if err != nil {
				b.Fatal(err)
			}
			for _, t := range every {
				b.Run(fmt.Sprintf("owners=%d/compacted=%v/in=%s", n, compacted, t.term), func(b *testing.B) {
					var lists []PostingList
					b.ReportAllocs()
					for b.Loop() {
						if lists, err = v.Postings(format.KindChunk, []string{t.term}, lists); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(len(lists[0].Owners)), "owners")
				})
			}
			v.Close()
		}
	}
}
