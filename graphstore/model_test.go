package graphstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"
)

var (
	names  = rapid.SampledFrom([]string{"A", "B", "C", "D", "Érik", "Fé"})
	types  = rapid.SampledFrom([]string{"", "person", "place", "thing"})
	texts  = rapid.SampledFrom([]string{"", "short", "a longer text", "other", "äöüß", "the longest text of them all", "x1", "x2", "x3"})
	labels = rapid.SampledFrom([]string{"k1", "k2", "k3", "k4"})
)

// drawDoc draws a document of one to three chunks.
func drawDoc(t *rapid.T, id string) *testDoc {
	d := &testDoc{id: id}
	for i := range rapid.IntRange(1, 3).Draw(t, "chunks") {
		c := testChunk{order: uint32(i * 2)}
		index := uint16(0)
		for range rapid.IntRange(0, 4).Draw(t, "entities") {
			f := EntityFragment{Name: names.Draw(t, "name"), Type: types.Draw(t, "type"), Description: texts.Draw(t, "text")}
			f.Key.Pass, f.Key.Index = uint8(rapid.IntRange(0, 1).Draw(t, "pass")), index
			c.entities = append(c.entities, f)
			index++
		}
		for range rapid.IntRange(0, 3).Draw(t, "relations") {
			f := RelationFragment{Src: names.Draw(t, "src"), Tgt: names.Draw(t, "tgt"), Description: texts.Draw(t, "text"),
				Keywords: rapid.SliceOfNDistinct(labels, 0, 3, rapid.ID[string]).Draw(t, "keywords"),
				Weight:   rapid.Int64Range(0, 3).Draw(t, "weight") * 500_000}
			if f.Src == f.Tgt {
				continue
			}
			f.Key.Pass, f.Key.Index = uint8(rapid.IntRange(0, 1).Draw(t, "pass")), index
			c.relations = append(c.relations, f)
			index++
		}
		d.chunks = append(d.chunks, c)
	}
	return d
}

// TestDerivedValuesDoNotDependOnHistory runs random histories of registering,
// committing in any order, committing again, replacing, deleting, re-making
// and reopening, and compares everything a reader sees with the oracle.
func TestDerivedValuesDoNotDependOnHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fs := vfs.NewMem()
		limit := rapid.SampledFrom([]int{-1, 1, 2, 3, 5}).Draw(rt, "max sources")
		opts, sink := testOptions(fs)
		opts.MaxSources = limit
		s, err := Open("store", opts)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				rt.Error(err)
			}
		}()
		o := &oracle{max: limit, docs: make(map[DocID]*testDoc)}
		waiting := make(map[DocID]*testDoc) // registered
		ids := make(map[string]DocID)       // committed
		serial := 0
		ctx := context.Background()
		check := func() {
			checked(rt, s)
			o.matches(rt, s)
		}
		pick := func(m map[DocID]*testDoc) DocID {
			return rapid.SampledFrom(slices.Sorted(maps.Keys(m))).Draw(rt, "document")
		}
		rt.Repeat(map[string]func(*rapid.T){
			"register": func(rt *rapid.T) {
				serial++
				d := drawDoc(rt, fmt.Sprintf("doc %d", serial))
				waiting[register(rt, s, d)] = d
			},
			"replace": func(rt *rapid.T) {
				if len(ids) == 0 {
					rt.Skip()
				}
				id := rapid.SampledFrom(slices.Sorted(maps.Keys(ids))).Draw(rt, "id")
				for _, w := range waiting {
					if w.id == id {
						rt.Skip()
					}
				}
				d := drawDoc(rt, id)
				d.replace = true
				serial++
				d.chunks[0].entities = append(d.chunks[0].entities, e(99, fmt.Sprintf("N%d", serial), "", "new"))
				waiting[register(rt, s, d)] = d
			},
			"commit": func(rt *rapid.T) {
				if len(waiting) == 0 {
					rt.Skip()
				}
				doc := pick(waiting)
				d := waiting[doc]
				delete(waiting, doc)
				commit(rt, s, d, doc)
				if old, ok := ids[d.id]; ok {
					delete(o.docs, old)
				}
				o.docs[doc], ids[d.id] = d, doc
			},
			"commit again": func(rt *rapid.T) {
				if len(o.docs) == 0 {
					rt.Skip()
				}
				doc := pick(o.docs)
				d := drawDoc(rt, o.docs[doc].id)
				d.chunks = d.chunks[:min(len(d.chunks), len(o.docs[doc].chunks))]
				d.chunks = append(d.chunks, o.docs[doc].chunks[len(d.chunks):]...)
				commit(rt, s, d, doc)
				o.docs[doc] = d
			},
			"two at once": func(rt *rapid.T) { // prepared on one view, committed one after the other
				if len(waiting) < 2 {
					rt.Skip()
				}
				var ps []*Prepared
				docs := slices.Sorted(maps.Keys(waiting))[:2]
				for _, doc := range docs {
					p, err := prepared(s, waiting[doc], doc)
					if err != nil {
						rt.Fatal(err)
					}
					ps = append(ps, p)
				}
				for i, doc := range docs {
					if _, err := s.Commit(ctx, ps[i]); err != nil {
						rt.Fatal(err)
					}
					d := waiting[doc]
					delete(waiting, doc)
					if old, ok := ids[d.id]; ok {
						delete(o.docs, old)
					}
					o.docs[doc], ids[d.id] = d, doc
				}
			},
			"many in one step": func(rt *rapid.T) { // another commit or a deletion may come first
				if len(waiting) < 2 {
					rt.Skip()
				}
				committed := func(doc DocID) {
					d := waiting[doc]
					delete(waiting, doc)
					if old, ok := ids[d.id]; ok {
						delete(o.docs, old)
					}
					o.docs[doc], ids[d.id] = d, doc
				}
				docs := slices.Sorted(maps.Keys(waiting))
				first := rapid.SampledFrom([]string{"nothing", "commit", "delete"}).Draw(rt, "first")
				late := docs[0]
				if first == "commit" {
					docs = docs[1:]
				}
				p, err := preparedAll(s, waiting, docs...)
				if err != nil {
					rt.Fatal(err)
				}
				switch {
				case first == "commit":
					commit(rt, s, waiting[late], late)
					committed(late)
				case first == "delete" && len(o.docs) > 0:
					doc := pick(o.docs)
					if _, err := s.Delete(ctx, []DocID{doc}, DeleteOptions{}); err != nil {
						rt.Fatal(err)
					}
					delete(ids, o.docs[doc].id)
					delete(o.docs, doc)
				}
				info, err := s.Commit(ctx, p)
				if err != nil || len(info.Documents) != len(docs) {
					rt.Fatal(info, err)
				}
				for _, doc := range docs {
					committed(doc)
				}
			},
			"delete": func(rt *rapid.T) {
				if len(o.docs) == 0 {
					rt.Skip()
				}
				doc := pick(o.docs)
				// A commit that was prepared before must bear with it.
				var p *Prepared
				var late DocID
				if len(waiting) > 0 && rapid.Bool().Draw(rt, "overtake") {
					late = pick(waiting)
					if p, err = prepared(s, waiting[late], late); err != nil {
						rt.Fatal(err)
					}
				}
				if _, err := s.Delete(ctx, []DocID{doc}, DeleteOptions{}); err != nil {
					rt.Fatal(err)
				}
				delete(ids, o.docs[doc].id)
				delete(o.docs, doc)
				if p != nil {
					check()
					if _, err := s.Commit(ctx, p); err != nil {
						rt.Fatal(err)
					}
					d := waiting[late]
					delete(waiting, late)
					if old, ok := ids[d.id]; ok {
						delete(o.docs, old)
					}
					o.docs[late], ids[d.id] = d, late
				}
			},
			"refresh": func(rt *rapid.T) {
				refreshAll(rt, s)
				vectorsMatch(rt, s, sink)
			},
			"seal": func(rt *rapid.T) {
				if err := s.sealVectors(); err != nil {
					rt.Fatal(err)
				}
			},
			"reopen": func(rt *rapid.T) {
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				opts, sink = testOptions(fs)
				opts.MaxSources = limit
				if s, err = Open("store", opts); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(*rapid.T) { check() },
		})
	})
}
