package hnsw_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/lightctl/lightrag/hnsw"
)

// colours are vectors anybody can check by eye; their ids are positions in names.
var (
	names   = []string{"red", "orange", "yellow", "green", "blue", "violet"}
	colours = [][]float32{{255, 0, 0}, {255, 128, 0}, {255, 255, 0}, {0, 255, 0}, {0, 0, 255}, {128, 0, 255}}
)

func colourIndex() *hnsw.Index {
	ix, err := hnsw.New(3, hnsw.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := ix.AddBatch([]uint64{0, 1, 2, 3, 4, 5}, colours); err != nil {
		log.Fatal(err)
	}
	return ix
}

// An index of three vectors, searched for the two nearest to a fourth.
func ExampleNew() {
	ix, err := hnsw.New(3, hnsw.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for id, v := range [][]float32{{1, 0, 0}, {0, 1, 0}, {0.6, 0.8, 0}} {
		if err := ix.Add(uint64(id), v); err != nil {
			log.Fatal(err)
		}
	}
	results, err := ix.Search([]float32{2, 0, 0}, 2, hnsw.IndexSearchOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results {
		fmt.Printf("id %d, cosine %.2f\n", r.ID, r.Score)
	}
	// Output:
	// id 0, cosine 1.00
	// id 2, cosine 0.60
}

// Many vectors at a time, and one less.
func ExampleIndex_AddBatch() {
	ix, err := hnsw.New(3, hnsw.Options{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	if err := ix.AddBatch([]uint64{0, 1, 2, 3, 4, 5}, colours); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ix.Len(), "colours")
	fmt.Println("red deleted:", ix.Delete(0), "again:", ix.Delete(0))

	results, err := ix.Search([]float32{255, 0, 0}, 1, hnsw.IndexSearchOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("nearest to red:", names[results[0].ID])
	// Output:
	// 6 colours
	// red deleted: true again: false
	// nearest to red: orange
}

// Adding under an id that is there replaces its vector.
func ExampleIndex_Add() {
	ix := colourIndex()
	if err := ix.Add(0, []float32{0, 0, 250}); err != nil {
		log.Fatal(err)
	}
	results, err := ix.Search([]float32{0, 0, 1}, 2, hnsw.IndexSearchOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ix.Len(), results[0].ID+results[1].ID)
	// Output: 6 4
}

// A search among some ids only. There are as many results as the list allows.
func ExampleIndex_Search_allow() {
	ix := colourIndex()
	cold := roaring64.BitmapOf(3, 4, 5)
	results, err := ix.Search([]float32{255, 0, 0}, 10, hnsw.IndexSearchOptions{Allow: cold})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results {
		fmt.Println(names[r.ID])
	}
	// Output:
	// violet
	// green
	// blue
}

// Ef belongs to the call: this one looks at more candidates than Options.EfSearch says, the next one does not.
func ExampleIndex_Search_ef() {
	ix := colourIndex()
	for _, o := range []hnsw.IndexSearchOptions{{Ef: 400}, {}, {Exact: true}} {
		results, err := ix.Search([]float32{200, 10, 190}, 1, o)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(names[results[0].ID])
	}
	// Output:
	// violet
	// violet
	// violet
}

// Results below a score are left out.
func ExampleIndex_Search_minScore() {
	results, err := colourIndex().Search([]float32{255, 64, 0}, 10, hnsw.IndexSearchOptions{MinScore: 0.9, HasMinScore: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results {
		fmt.Printf("%s %.2f\n", names[r.ID], r.Score)
	}
	// Output:
	// orange 0.98
	// red 0.97
}

// Save writes to anything, Load reads from anything with a size: here from memory, otherwise from an *os.File. To keep
// a file, SaveFile writes another one, syncs it, and renames it into place.
func ExampleLoad() {
	var file bytes.Buffer
	if err := colourIndex().Save(&file); err != nil {
		log.Fatal(err)
	}
	ix, err := hnsw.Load(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	results, err := ix.Search([]float32{0, 200, 20}, 1, hnsw.IndexSearchOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ix.Len(), names[results[0].ID])
	// Output: 6 green
}

// A store that numbers its vectors itself uses a Graph: appended rows are found at once, by a scan; linking, which
// may happen later and elsewhere, makes that fast.
func ExampleGraph_Link() {
	g, err := hnsw.NewGraph(3, hnsw.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range colours {
		if _, err := g.Append(v); err != nil {
			log.Fatal(err)
		}
	}
	search := func() {
		hits, err := g.Search([]float32{240, 240, 10}, 1, hnsw.SearchOptions{}, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d of %d linked: %s\n", g.Mark(), g.Bound(), names[hits[0].Slot])
	}
	search()
	if _, err := g.Link(context.Background(), 0); err != nil {
		log.Fatal(err)
	}
	search()
	// Output:
	// 0 of 6 linked: yellow
	// 6 of 6 linked: yellow
}

// A store with versions hides from a search what is newer than its view, or no longer part of it.
func ExampleGraph_Search() {
	g, err := hnsw.NewGraph(3, hnsw.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range colours {
		if _, err := g.Append(v); err != nil {
			log.Fatal(err)
		}
	}
	view := hnsw.SearchOptions{Bound: 4, Accept: func(slot uint32) bool { return slot != 2 }}
	hits := make([]hnsw.Hit, 0, 2) // used again and again, it is all a search allocates
	for _, q := range [][]float32{{200, 200, 0}, {0, 0, 255}} {
		if hits, err = g.Search(q, 1, view, hits); err != nil {
			log.Fatal(err)
		}
		fmt.Println(names[hits[0].Slot])
	}
	// Output:
	// orange
	// red
}

// An iterator goes on where it ended, for whoever cannot tell beforehand how many hits it takes.
func ExampleGraph_Iterate() {
	g, err := hnsw.NewGraph(3, hnsw.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range colours {
		if _, err := g.Append(v); err != nil {
			log.Fatal(err)
		}
	}
	it, err := g.Iterate([]float32{255, 120, 0}, hnsw.SearchOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer it.Close()
	var hits []hnsw.Hit
	for {
		if hits, err = it.Next(2, hits); err != nil {
			log.Fatal(err)
		}
		if len(hits) == 0 {
			break
		}
		var page []string
		for _, h := range hits {
			page = append(page, names[h.Slot])
		}
		fmt.Println(page)
	}
	// Output:
	// [orange yellow]
	// [red green]
	// [violet blue]
}
