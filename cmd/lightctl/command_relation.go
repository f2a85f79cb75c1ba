package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

func (a *app) relationCommand() *cobra.Command {
	return group("relation", "Look at relations and curate them",
		&cobra.Command{
			Use:   "show NAME NAME",
			Short: "Everything that is known about the relation of two entities, in either order",
			Args:  arguments(2, 2),
			RunE:  func(_ *cobra.Command, args []string) error { return a.relationShow(args[0], args[1]) },
		},
		a.relationCreateCommand(), a.relationEditCommand(), a.relationDeleteCommand(),
	)
}

type relationJSON struct {
	Src         string   `json:"src"`
	Tgt         string   `json:"tgt"`
	Weight      float64  `json:"weight"`
	Keywords    []string `json:"keywords"`
	Description string   `json:"description"`
	Fragments   []string `json:"fragments"`
	Sources     []string `json:"sources"`
	Pending     bool     `json:"pending"`

	Curated []engine.Field `json:"curated"`
}

func relationDoc(r *engine.Relation) relationJSON {
	return relationJSON{
		r.Src, r.Tgt, r.Weight, list(r.Keywords), r.Description, list(r.Fragments), list(r.Sources), r.Pending, list(r.Curated),
	}
}

func (a *app) relationShow(x, y string) error {
	return a.view(func(v *engine.View) error {
		r, err := v.Relation(x, y)
		if err != nil {
			for _, name := range []string{x, y} {
				if _, nerr := v.Entity(name); nerr != nil {
					return about(name, suggestEntity(v, name, nerr))
				}
			}
			return about(x+" - "+y, err)
		}
		if a.json {
			return writeJSON(a.out, relationDoc(r))
		}
		return a.printRelation(r)
	})
}

func (a *app) printRelation(r *engine.Relation) error {
	t := a.table()
	t.row("between", r.Src)
	t.row("and", r.Tgt)
	t.row("weight", r.Weight)
	t.row("keywords", strings.Join(r.Keywords, ", "))
	t.row("sources", strings.Join(r.Sources, ", "))
	a.curatedRow(t, r.Curated)
	if err := t.flush(); err != nil {
		return err
	}
	return a.describeFragments(r.Description, r.Fragments, r.Pending)
}
