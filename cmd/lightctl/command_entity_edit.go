package main

import (
	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

func (a *app) entityCreateCommand() *cobra.Command {
	var f valueFlags
	c := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an entity that no document needs to name",
		Args:  arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.change(cmd.Context(), args[0], nil, func(db *engine.DB) (*engine.CurationReport, error) {
				return db.CreateEntity(cmd.Context(), engine.NewEntity{Name: args[0], Type: f.typ, Description: f.description})
			})
		},
	}
	f.entity(c)
	return c
}

// entity registers the flags of an entity's values.
func (f *valueFlags) entity(c *cobra.Command) {
	c.Flags().StringVar(&f.typ, "type", "", "its type")
	c.Flags().StringVar(&f.description, "description", "", "its description")
}

func (a *app) entityEditCommand() *cobra.Command {
	var f valueFlags
	c := &cobra.Command{
		Use:   "edit NAME",
		Short: "Set type or description, whatever documents say",
		Args:  arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e := engine.EntityEdit{Type: given(cmd, "type", f.typ), Description: given(cmd, "description", f.description), Reset: f.fields()}
			return a.change(cmd.Context(), args[0], args[:1], func(db *engine.DB) (*engine.CurationReport, error) {
				return db.EditEntity(cmd.Context(), args[0], e)
			})
		},
	}
	f.entity(c)
	c.Flags().StringSliceVar(&f.reset, "reset", nil, "let documents decide again: type, description")
	return c
}

func (a *app) entityRenameCommand() *cobra.Command {
	var merge bool
	c := &cobra.Command{
		Use:   "rename NAME NEW-NAME",
		Short: "Give an entity another name; the old one leads to it",
		Args:  arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.change(cmd.Context(), args[0], args[:1], func(db *engine.DB) (*engine.CurationReport, error) {
				return db.RenameEntity(cmd.Context(), args[0], args[1], merge)
			})
		},
	}
	c.Flags().BoolVar(&merge, "merge", false, "merge with the entity of that name, if there is one")
	return c
}

func (a *app) entityMergeCommand() *cobra.Command {
	var f valueFlags
	var into, typeBy, descriptionBy, from string
	c := &cobra.Command{
		Use:   "merge NAME... [TARGET]",
		Short: "Let entities show as one",
		Long: "Let entities show as one: TARGET, the last name or that of --into, which may be new. What documents say\n" +
			"of any of them, now or later, is said of it, and their relations are its own. Undoing it parts them again.\n" +
			"With --from FILE the suggestions of `lightctl entity duplicates --json` that are left in it are applied.",
		Args: arguments(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if from != "" {
				if len(args) > 0 || into+typeBy+descriptionBy+f.typ+f.description != "" {
					return usagef("--from FILE stands alone: the file names what is merged")
				}
				return a.mergeFrom(cmd, from)
			}
			if len(args) == 0 {
				return usagef("usage: %s", cmd.UseLine())
			}
			target := into
			if !cmd.Flags().Changed("into") {
				target, args = args[len(args)-1], args[:len(args)-1]
			}
			if len(args) == 0 {
				return usagef("usage: %s", cmd.UseLine())
			}
			o := engine.MergeOptions{
				TypeBy: engine.MergeStrategy(typeBy), DescriptionBy: engine.MergeStrategy(descriptionBy),
				Type: given(cmd, "type", f.typ), Description: given(cmd, "description", f.description),
			}
			return a.change(cmd.Context(), target, args, func(db *engine.DB) (*engine.CurationReport, error) {
				return db.MergeEntities(cmd.Context(), args, target, o)
			})
		},
	}
	f.entity(c)
	c.Flags().StringVar(&from, "from", "", "apply the clusters in `FILE`, as `lightctl entity duplicates --json` writes them")
	c.Flags().StringVar(&into, "into", "", "the target")
	c.Flags().StringVar(&typeBy, "type-by", "", "keep_first or keep_last, of the target and then the others; else documents decide")
	c.Flags().StringVar(&descriptionBy, "description-by", "", "keep_first or keep_last; else documents decide: concatenate")
	return c
}

func (a *app) entityDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete NAME...",
		Short: "Remove entities and their relations, as if no document had named them",
		Long: "Remove entities and their relations, as if no document had named them. The documents stay, and so do the\n" +
			"entities that were related to them. It cannot be undone. If one does not exist, nothing is removed.",
		Args: arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.remove(cmd.Context(), args, "deleted", args, func(db *engine.DB) (*engine.CurationReport, error) {
				return db.DeleteEntities(cmd.Context(), args...)
			})
		},
	}
}
