package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/lightctl/lightrag/engine"
)

// tempDir keeps the examples from leaving stores behind.
func tempDir() (dir string, remove func()) {
	root, err := os.MkdirTemp("", "lightrag-example-")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(root, "knowledge.db"), func() { os.RemoveAll(root) }
}

func Example() {
	dir, remove := tempDir()
	defer remove()
	ctx := context.Background()
	db, err := engine.Open(dir, engine.Options{}) // the offline pair: no key, no network
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Insert(ctx, engine.Document{Path: "hooker.md", Text: "John Hooker paid for the telescope on Mount Wilson."}); err != nil {
		log.Fatal(err)
	}
	answer, err := db.Query(ctx, engine.Query{Text: "Who paid for the telescope on Mount Wilson?"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Answer) // ends with its sources, which answer.References has one by one
	// Output:
	// John Hooker paid for the telescope on Mount Wilson. [1]
	//
	// ### References
	//
	// - [1] hooker.md
}

func ExampleDB_Retrieve() {
	dir, remove := tempDir()
	defer remove()
	ctx := context.Background()
	db, err := engine.Open(dir, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	text := "Henrietta Leavitt worked at Harvard College Observatory. Henrietta Leavitt studied Cepheids."
	if _, err := db.Insert(ctx, engine.Document{ID: "leavitt", Path: "leavitt.md", Text: text}); err != nil {
		log.Fatal(err)
	}
	// Keywords that are given spare the model call that finds them.
	r, err := db.Retrieve(ctx, engine.Query{
		Text: "What did Leavitt study?", Mode: engine.Local, LowLevel: []string{"Henrietta Leavitt"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Entities[0].Name, "in", r.References[0].Path)
	// Output: Henrietta Leavitt in leavitt.md
}

func ExampleDB_View() {
	dir, remove := tempDir()
	defer remove()
	ctx := context.Background()
	db, err := engine.Open(dir, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	text := "Henrietta Leavitt worked at Harvard College Observatory. Henrietta Leavitt studied Cepheids."
	if _, err := db.Insert(ctx, engine.Document{ID: "leavitt", Text: text}); err != nil {
		log.Fatal(err)
	}
	view := db.View()
	defer view.Close()
	neighbours, err := view.Neighbors("Henrietta Leavitt", 1, 0)
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range neighbours {
		fmt.Println(n.Name)
	}
	// Output:
	// Cepheids
	// Harvard College Observatory
}
