package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

// relation registers the flags of a relation's values.
func (f *valueFlags) relation(c *cobra.Command) {
	c.Flags().StringVar(&f.description, "description", "", "its description")
	c.Flags().StringVar(&f.keywords, "keywords", "", "its keywords, separated by commas")
	c.Flags().Float64Var(&f.weight, "weight", 1, "its weight")
}

func (f *valueFlags) keywordList() []string {
	out := []string{}
	for _, k := range strings.Split(f.keywords, ",") {
		if k = strings.TrimSpace(k); k != "" {
			out = append(out, k)
		}
	}
	return out
}

func (a *app) relationCreateCommand() *cobra.Command {
	var f valueFlags
	c := &cobra.Command{
		Use:   "create NAME NAME",
		Short: "Relate two entities",
		Args:  arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.change(cmd.Context(), args[0]+" - "+args[1], args, func(db *engine.DB) (*engine.CurationReport, error) {
				return db.CreateRelation(cmd.Context(), engine.NewRelation{
					Src: args[0], Tgt: args[1], Description: f.description, Keywords: f.keywordList(), Weight: f.weight,
				})
			})
		},
	}
	f.relation(c)
	return c
}

func (a *app) relationEditCommand() *cobra.Command {
	var f valueFlags
	c := &cobra.Command{
		Use:   "edit NAME NAME",
		Short: "Set description, keywords or weight, whatever documents say",
		Args:  arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			e := engine.RelationEdit{
				Description: given(cmd, "description", f.description), Keywords: given(cmd, "keywords", f.keywordList()),
				Weight: given(cmd, "weight", f.weight), Reset: f.fields(),
			}
			return a.change(cmd.Context(), args[0]+" - "+args[1], args, func(db *engine.DB) (*engine.CurationReport, error) {
				return db.EditRelation(cmd.Context(), args[0], args[1], e)
			})
		},
	}
	f.relation(c)
	c.Flags().StringSliceVar(&f.reset, "reset", nil, "let documents decide again: description, keywords, weight")
	return c
}

func (a *app) relationDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete NAME NAME",
		Short: "Remove the relation of two entities, which stay",
		Args:  arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.remove(cmd.Context(), []string{args[0] + " - " + args[1]}, "deleted", args, func(db *engine.DB) (*engine.CurationReport, error) {
				return db.DeleteRelations(cmd.Context(), [2]string{args[0], args[1]})
			})
		},
	}
}
