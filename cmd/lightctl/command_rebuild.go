package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

func (a *app) rebuildCommand() *cobra.Command {
	var reembed bool
	c := &cobra.Command{
		Use:   "rebuild-index",
		Short: "Make the vector index anew, or all vectors with another embedder",
		Long: "Make the vector index anew from the stored vectors, and the postings of lexical matching from the\n" +
			"texts. With --re-embed make all vectors anew with the embedder that the flags name (--embed-url and\n" +
			"so on; none = the offline one), which becomes that of the store. The old vectors stay until the last\n" +
			"new one is there, then one atomic change puts the new ones in their place. An interrupted run goes\n" +
			"on where it stopped and pays for nothing twice.",
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.rebuild(cmd.Context(), reembed) },
	}
	c.Flags().BoolVar(&reembed, "re-embed", false, "embed everything with the embedder that the flags name")
	return c
}

type rebuildJSON struct {
	ReEmbedded bool                         `json:"re_embedded"`
	Texts      int                          `json:"texts"` // embedded by this run
	Identity   engine.Identity              `json:"identity"`
	Index      map[string]engine.IndexStats `json:"index"`
	Seconds    float64                      `json:"seconds"`
}

func (a *app) rebuild(ctx context.Context, reembed bool) error {
	started := time.Now()
	out := rebuildJSON{ReEmbedded: reembed}
	if reembed {
		var err error
		if out.Texts, err = a.reEmbed(ctx); err != nil {
			return err
		}
	}
	db, err := a.openView()
	if err != nil {
		return err
	}
	out.Identity = db.Identity()
	if err := db.Close(); err != nil {
		return err
	}
	bar := a.newBar("vectors linked")
	defer bar.stop()
	out.Index, err = engine.RebuildIndex(ctx, a.db, engine.Options{Embedder: nobody{dim: out.Identity.Dim}, Logger: a.log}, bar.update)
	bar.stop()
	if err != nil {
		return about(a.db, a.explainOpen(err))
	}
	out.Seconds = seconds(time.Since(started))
	if a.json {
		return writeJSON(a.out, out)
	}
	n := 0
	for _, x := range out.Index {
		n += int(x.Vectors)
	}
	if reembed {
		if err := a.say("embedded %s with %s, dimension %d\n", plural(out.Texts, "text"), out.Identity.Embedder, out.Identity.Dim); err != nil {
			return err
		}
	}
	return a.say("the index of %s is made anew\n", plural(n, "vector"))
}

// reEmbed changes the embedder and returns how many texts it embedded.
func (a *app) reEmbed(ctx context.Context) (texts int, err error) {
	m, err := a.models(ctx)
	if err != nil {
		return 0, err
	}
	defer m.close()
	db, err := a.openEdit()
	if err != nil {
		return 0, err
	}
	bar := a.newBar("texts embedded")
	defer bar.stop()
	err = db.ReEmbed(ctx, m.embedder, func(p engine.ReEmbedProgress) {
		texts = p.Texts
		bar.update(p.Done, p.Total)
	})
	bar.stop()
	err = errors.Join(err, db.Close())
	if err != nil && ctx.Err() != nil {
		a.warn("interrupted: the store is as it was, %s kept; run the same command again to go on", plural(texts, "new vector"))
	}
	return texts, about(a.db, err)
}
