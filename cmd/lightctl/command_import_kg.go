package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

func (a *app) importKGCommand() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "kg FILE.json",
		Short: "A graph made by hand",
		Long: "Take over a graph in the form of LightRAG's insert_custom_kg: {\"chunks\": [{content, source_id}],\n" +
			"\"entities\": [{entity_name, entity_type?, description?, source_id?}], \"relationships\": [{src_id, tgt_id,\n" +
			"description, keywords, weight?, source_id?}]}. Every source_id is a document, FILE.json#source_id.\n" +
			"The same file again changes nothing; a changed one takes the place of the documents it names.\n" +
			"Nothing is stored if anything is wrong with the file.",
		Args:        arguments(1, 1),
		Annotations: map[string]string{namesEmbedder: ""},
		RunE:        func(cmd *cobra.Command, args []string) error { return a.importKG(cmd, &f, args[0]) },
	}
	f.register(c)
	return c
}

func (a *app) importKG(cmd *cobra.Command, f *importFlags, file string) error {
	started := time.Now()
	opts, err := f.options(cmd)
	if err != nil {
		return err
	}
	in, err := os.Open(file)
	if err != nil {
		return about(file, err)
	}
	defer in.Close()
	fresh := a.noStore()
	p := a.newProgress()
	defer p.stop()
	opts.Progress = p.update
	db, err := a.openModels(cmd.Context(), opts)
	if err != nil {
		return err
	}
	rep, err := db.ImportKG(cmd.Context(), in, engine.KGImport{Name: file})
	p.stop()
	return a.endImport(cmd.Context(), &ending{db: db, object: file, started: started, fresh: fresh, print: a.printKG}, rep, err)
}

// printKG reports the import of a graph made by hand. Such a graph brings
// neither vectors nor answers: what it needs is made by the models at once.
func (a *app) printKG(r *importReport) error {
	if err := a.printIssues(r); err != nil {
		return err
	}
	if err := a.printImported(r); err != nil {
		return err
	}
	if err := a.printStore(&r.Store); err != nil {
		return err
	}
	if r.Stale > 0 {
		a.note("%s or summaries are still to be made; the next `index` or `docs retry` makes them", plural(r.Stale, "vector"))
	}
	return a.dim(fmt.Sprintf("%.1f s", r.Seconds))
}
