package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// pageRank is the walk worked out on the whole graph, by as many rounds as it
// takes. The graph is made of what the public view shows, so that it shares
// nothing with the pusher.
func pageRank(t *testing.T, db *DB, docs []string, at map[string]float64, onward float64) map[string]float64 {
	t.Helper()
	v := db.View()
	defer v.Close()
	allowed := func(doc string) bool { return docs == nil || slices.Contains(docs, doc) }
	neighbours := make(map[string][]string)
	join := func(a, b string) {
		neighbours[a], neighbours[b] = append(neighbours[a], b), append(neighbours[b], a)
	}
	docOf := func(source string) string { return source[:slices.Index([]byte(source), '#')] }
	err := v.Entities(func(e *Entity) error {
		for _, s := range e.Sources {
			if allowed(docOf(s)) {
				join(e.Name, "passage "+s)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = v.Relations(func(r *Relation) error {
		if slices.ContainsFunc(r.Sources, func(s string) bool { return allowed(docOf(s)) }) {
			join(r.Src, r.Tgt)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	mass := make(map[string]float64)
	rest := at
	for range 200 {
		next := make(map[string]float64)
		for n, x := range rest {
			mass[n] += x * (1 - onward)
			for _, to := range neighbours[n] {
				next[to] += x * onward / float64(len(neighbours[n]))
			}
		}
		rest = next
	}
	return mass
}

func nodeName(t *testing.T, v *graphstore.View, n node) string {
	t.Helper()
	if n.kind == format.KindEntity {
		return v.EntityName(format.EntityID(n.id))
	}
	c, err := v.Chunks([]format.ChunkID{format.ChunkID(n.id)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("passage %s#%d", c[0].DocID, c[0].Order)
}

// At every node the push leaves what the whole walk leaves, short of what was not
// worth the way.
func TestPushIsPageRank(t *testing.T) {
	for seed := range uint64(6) {
		m := &fakeModel{}
		db := opened(t, fmt.Sprint("store", seed), testOptions(m))
		inserted(t, db, randomDocuments(seed, 12)...)
		for _, docs := range [][]string{nil, {"doc 1", "doc 4", "doc 7"}} {
			v, err := db.store.View()
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			f, err := db.newFilter(v, &Query{Documents: docs})
			if err != nil {
				t.Fatal(err)
			}
			var seeds []node
			for id := range v.Entities() {
				if len(seeds) < 3 && f.entity(id) {
					seeds = append(seeds, node{format.KindEntity, uint32(id)})
				}
			}
			for id := range v.ChunkIDs() {
				if doc, _ := v.ChunkPlace(id); len(seeds) < 5 && (f == nil || sorted(f.docs, doc)) {
					seeds = append(seeds, node{format.KindChunk, uint32(id)})
				}
			}
			for _, onward := range []float64{0.3, 0.5, 0.85} {
				p := new(pusher)
				p.begin(v, f.documents())
				at := make(map[string]float64)
				for i, n := range seeds {
					p.put(n, float64(i+1)/15)
					at[nodeName(t, v, n)] = float64(i+1) / 15
				}
				p.spread(onward, 1e-9)
				want := pageRank(t, db, docs, at, onward)
				seen := 0
				for _, n := range p.nodes {
					name := nodeName(t, v, n.node)
					if d := math.Abs(n.mass - want[name]); d > 1e-6 {
						t.Errorf("seed %d, documents %v, onward %g: %s has %.9f, want %.9f", seed, docs, onward, name, n.mass, want[name])
					}
					seen++
				}
				if seen != len(want) || seen < len(seeds) {
					t.Errorf("seed %d, documents %v: %d nodes reached, want %d", seed, docs, seen, len(want))
				}
			}
		}
	}
}

// However large the graph is, least bounds what is walked: a hub is left alone,
// what it was given stays.
func TestPushLeavesAHubAlone(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	lines := []string{"@e|Start|thing|The start."}
	for i := range 400 {
		lines = append(lines, fmt.Sprintf("@r|Hub|Leaf %d|has|The hub has leaf %d.", i, i))
	}
	lines = append(lines, "@r|Start|Hub|leads|The start leads to the hub.")
	inserted(t, db, Document{ID: "a", Chunks: []Chunk{{Content: strings.Join(lines, "\n")}}})
	v, err := db.store.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	start, _, err := v.FindEntity("Start")
	if err != nil {
		t.Fatal(err)
	}
	hub, _, err := v.FindEntity("Hub")
	if err != nil {
		t.Fatal(err)
	}
	reached := func(least float64) (int, float64) {
		p := new(pusher)
		p.begin(v, nil)
		p.put(node{format.KindEntity, uint32(start)}, 1)
		p.spread(0.5, least)
		total := 0.0
		for _, n := range p.nodes {
			total += n.mass
		}
		return len(p.nodes), total
	}
	// Start gives 0.25 each to the hub and to the passage, which mention 402 others.
	if n, total := reached(0.001); n != 3 || math.Abs(total-0.75) > 1e-12 {
		t.Errorf("%d nodes reached with %v, want Start, Hub and the passage with 0.75", n, total)
	}
	if n, _ := reached(0.0001); n != 403 {
		t.Errorf("%d nodes reached, want all 403", n)
	}
	if v.Degree(hub) != 401 {
		t.Errorf("the hub has %d relations", v.Degree(hub))
	}
}

func TestPushForgetsWhatWasBefore(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	inserted(t, db, randomDocuments(3, 8)...)
	v, err := db.store.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	walk := func(p *pusher, id uint32) []pushNode {
		p.begin(v, nil)
		p.put(node{format.KindEntity, id}, 1)
		p.spread(0.5, 1e-6)
		return slices.Concat(p.best(format.KindEntity), p.best(format.KindChunk))
	}
	used := new(pusher)
	for id := range v.Entities() {
		if got, want := walk(used, uint32(id)), walk(new(pusher), uint32(id)); !slices.Equal(got, want) {
			t.Fatalf("entity %d: %v, want %v", id, got, want)
		}
	}
}
