package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

func (a *app) docsCommand() *cobra.Command {
	var o engine.DeleteOptions
	remove := &cobra.Command{
		Use:   "delete ID...",
		Short: "Remove documents and what only they said",
		Long: "Remove documents and what only they said from graph, vectors and passages; what others\n" +
			"said stays as if the deleted ones had never been there. Unknown ids are reported and\n" +
			"make the exit code 3; the others are deleted all the same. Their words stay in the files, where nothing\n" +
			"shows them, until lightctl compact.",
		Args: arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.docsDelete(cmd, o, args) },
	}
	remove.Flags().BoolVar(&o.Answers, "answers", false, "remove the cached model answers about them too")
	return group("docs", "Look at, delete and retry documents",
		&cobra.Command{
			Use:   "list",
			Short: "All documents, in the order they were accepted",
			Args:  arguments(0, 0),
			RunE:  func(*cobra.Command, []string) error { return a.docsList() },
		},
		&cobra.Command{
			Use:   "show ID",
			Short: "One document and its passages",
			Args:  arguments(1, 1),
			RunE:  func(_ *cobra.Command, args []string) error { return a.docsShow(args[0]) },
		},
		remove,
		&cobra.Command{
			Use:   "retry [ID...]",
			Short: "Process failed and unfinished documents again; finished model calls are not repeated",
			Args:  arguments(0, -1),
			RunE:  func(cmd *cobra.Command, args []string) error { return a.docsRetry(cmd, args) },
		},
	)
}

// documentJSON is a row of the document table.
type documentJSON struct {
	ID           string             `json:"id"`
	Path         string             `json:"path"`
	Status       string             `json:"status"`
	Chunks       int                `json:"chunks"`
	Entities     int                `json:"entities"`
	Relations    int                `json:"relations"`
	Malformed    int                `json:"malformed"`
	Removed      int                `json:"removed"`
	FailedChunks int                `json:"failed_chunks"`
	Error        *string            `json:"error"`
	Created      time.Time          `json:"created"`
	Updated      time.Time          `json:"updated"`
	Metadata     map[string]string  `json:"metadata,omitempty"`
	LLM          usageJSON          `json:"llm"`
	Failures     []chunkFailureJSON `json:"failures,omitempty"`
	Passages     []passageJSON      `json:"passages,omitempty"`
}

type passageJSON struct {
	ID      string `json:"id"`
	Path    string `json:"path"`
	Order   int    `json:"order"`
	Content string `json:"content"`
}

// chunkFailureJSON is a chunk without a usable answer.
type chunkFailureJSON struct {
	Order int    `json:"order"`
	Error string `json:"error"`
}

func newFailuresJSON(list []engine.ChunkFailure) []chunkFailureJSON {
	var out []chunkFailureJSON
	for _, f := range list {
		out = append(out, chunkFailureJSON{f.Order, message(f.Err)})
	}
	return out
}

func newDocumentJSON(d *engine.DocumentInfo) documentJSON {
	var u usageJSON
	u.add(d.Usage, 0)
	return documentJSON{
		LLM: u, Failures: newFailuresJSON(d.Failures),
		ID: d.ID, Path: d.Path, Status: string(d.Status), Chunks: d.Chunks, Entities: d.Entities,
		Relations: d.Relations, Malformed: d.Malformed, Removed: d.Removed, FailedChunks: d.Failed,
		Error: orNull(d.Error), Created: d.Created, Updated: d.Updated, Metadata: d.Metadata,
	}
}

// orNull makes "" a JSON null.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (a *app) docsList() error {
	db, err := a.openView()
	if err != nil {
		return err
	}
	defer db.Close()
	docs, err := db.Documents()
	if err != nil {
		return err
	}
	if a.json {
		out := rows[documentJSON]{Rows: make([]documentJSON, len(docs))}
		for i := range docs {
			out.Rows[i] = newDocumentJSON(&docs[i])
		}
		return writeJSON(a.out, out)
	}
	t := a.table()
	t.row("ID", "STATUS", "CHUNKS", "ENTITIES", "RELATIONS", "UPDATED", "ERROR")
	for i := range docs {
		d := &docs[i]
		t.row(d.ID, d.Status, d.Chunks, d.Entities, d.Relations, d.Updated.Format(time.DateTime), clip(d.Error, 80))
	}
	return t.flush()
}

func (a *app) docsShow(id string) error {
	db, err := a.openView()
	if err != nil {
		return err
	}
	defer db.Close()
	d, chunks, err := db.Document(id)
	if err != nil {
		return about(id, suggestDocuments(db, []string{id}, err))
	}
	if a.json {
		row := newDocumentJSON(d)
		for i := range chunks {
			c := &chunks[i]
			row.Passages = append(row.Passages, passageJSON{c.ID, c.Path, c.Order, c.Content})
		}
		return writeJSON(a.out, rows[documentJSON]{Rows: []documentJSON{row}})
	}
	t := a.table()
	t.row("id", d.ID)
	t.row("path", d.Path)
	t.row("status", d.Status)
	t.row("contributes", fmt.Sprintf("%s, %s from %s", plural(d.Entities, "entity"), plural(d.Relations, "relation"), plural(d.Chunks, "chunk")))
	if d.Malformed+d.Removed+d.Failed > 0 {
		t.row("lost", fmt.Sprintf("%d malformed records, %d unusable bytes or sequences removed, %d chunks failed", d.Malformed, d.Removed, d.Failed))
	}
	for i, f := range d.Failures {
		if i == maxListed && a.verbose == 0 {
			t.row("failed chunks", plural(len(d.Failures)-i, "more chunk"))
			break
		}
		t.row(fmt.Sprintf("chunk %d", f.Order), message(f.Err))
	}
	if d.Error != "" {
		t.row("error", d.Error)
	}
	if d.Usage.Calls > 0 {
		t.row("spent", usageText(d.Usage)) // as in stats; calls of rules count too
	}
	for _, k := range slices.Sorted(maps.Keys(d.Metadata)) {
		t.row(k, d.Metadata[k])
	}
	t.row("updated", d.Updated.Format(time.DateTime))
	if err := t.flush(); err != nil {
		return err
	}
	for i := range chunks {
		if err := a.say("\n--- %s\n%s\n", chunks[i].ID, chunks[i].Content); err != nil {
			return err
		}
	}
	return nil
}

type deletedJSON struct {
	ID     string `json:"id"`
	Status string `json:"status"` // deleted, not_found
}

func (a *app) docsDelete(cmd *cobra.Command, o engine.DeleteOptions, ids []string) error {
	db, err := a.openModels(cmd.Context(), engine.Options{MustExist: true})
	if err != nil {
		return err
	}
	rep, err := db.Delete(cmd.Context(), o, ids...)
	hints := make(map[string]string)
	if rep != nil && len(rep.NotFound) > 0 && !a.json {
		docs, _ := db.Documents() // without them there is no hint
		for _, id := range rep.NotFound {
			hints[id] = didYouMean(nearDocuments(docs, id))
		}
	}
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	if rep == nil {
		return err
	}
	missing := make(map[string]bool)
	for _, id := range rep.NotFound {
		missing[id] = true
	}
	out := struct {
		rows[deletedJSON]
		Stale int `json:"stale"`
	}{rows[deletedJSON]{[]deletedJSON{}}, rep.Stale}
	seen := make(map[string]bool)
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		row := deletedJSON{id, "deleted"}
		if missing[id] {
			row.Status = "not_found"
		}
		out.Rows = append(out.Rows, row)
	}
	if err := a.showDeleted(out.Rows, hints, out, rep.Stale); err != nil {
		return err
	}
	if err != nil { // the deletion stands, what follows it does not
		code := a.fail(err, false)
		return reported(code)
	}
	if len(rep.NotFound) > 0 {
		return reported(exitNotFound)
	}
	return nil
}

func (a *app) showDeleted(list []deletedJSON, hints map[string]string, doc any, stale int) error {
	if a.json {
		return writeJSON(a.out, doc)
	}
	for _, r := range list {
		word := "deleted"
		if r.Status != "deleted" {
			word = "not found:"
		}
		if err := a.say("%s %s%s\n", word, oneLine(r.ID), oneLine(hints[r.ID])); err != nil {
			return err
		}
	}
	if stale > 0 {
		a.note("%s or summaries are still to be re-made; `lightctl docs retry` does it", plural(stale, "vector"))
	}
	return nil
}

func (a *app) docsRetry(cmd *cobra.Command, ids []string) error {
	ctx := cmd.Context()
	p := a.newProgress()
	defer p.stop()
	db, err := a.openModels(ctx, engine.Options{MustExist: true, Progress: p.update})
	if err != nil {
		return err
	}
	started := time.Now()
	rep, err := db.Retry(ctx, ids...)
	p.stop()
	if err == nil {
		err = a.waitLinked(ctx, db.DB)
	}
	err = suggestDocuments(db.DB, ids, err)
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	if rep == nil || err != nil && len(rep.Documents) == 0 {
		return err
	}
	r := newIndexReport()
	r.addBatch(nil, rep)
	r.Seconds = seconds(time.Since(started))
	if a.json {
		err := writeJSON(a.out, struct {
			rows[*reportRow]
			Totals  reportTotals `json:"totals"`
			LLM     usageJSON    `json:"llm"`
			Seconds float64      `json:"seconds"`
		}{rows[*reportRow]{r.Documents}, r.Totals, r.LLM, r.Seconds})
		if err != nil {
			return err
		}
	} else if len(r.Documents) == 0 {
		if err := a.say("nothing to retry: no such document failed or is unfinished\n"); err != nil {
			return err
		}
	} else if err := a.printReport(r); err != nil {
		return err
	}
	return a.endReport(r, err)
}
