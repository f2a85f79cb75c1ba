package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

// changedEntity is an entity after a change of it.
type changedEntity struct {
	entityJSON
	changeJSON
}

// changedRelation is a relation after a change of it.
type changedRelation struct {
	relationJSON
	changeJSON
}

// changeJSON is what the verbs that curate add to the record.
type changeJSON struct {
	Change   uint32            `json:"change"`
	Resolved map[string]string `json:"resolved,omitempty"`
	Stale    int               `json:"stale"`
}

// removed is what the deleting verbs and undo report.
type removed struct {
	rows[removedRow]
	changeJSON
}

type removedRow struct {
	Name   string `json:"name"`
	Status string `json:"status"` // deleted, undone
}

// curate runs one change of the graph, which needs the entities of names.
func (a *app) curate(ctx context.Context, object string, names []string, fn func(db *engine.DB) (*engine.CurationReport, error)) (*engine.CurationReport, error) {
	db, err := a.openModels(ctx, engine.Options{MustExist: true})
	if err != nil {
		return nil, err
	}
	rep, err := fn(db.DB)
	err = suggestEntities(db.DB, names, err)
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, about(object, err)
	}
	for _, name := range slices.Sorted(maps.Keys(rep.Resolved)) {
		a.note("%q is an alias of %q", name, rep.Resolved[name])
	}
	if rep.Stale > 0 {
		a.note("%s or summaries are still to be re-made; `lightctl docs retry` does it", plural(rep.Stale, "vector"))
	}
	return rep, nil
}

// change runs one change and prints the record that it has made.
func (a *app) change(ctx context.Context, object string, names []string, fn func(db *engine.DB) (*engine.CurationReport, error)) error {
	rep, err := a.curate(ctx, object, names, fn)
	if err != nil {
		return err
	}
	return a.showChange(rep)
}

// remove runs one change that takes gone away, and says so; names are the
// entities that it needs.
func (a *app) remove(ctx context.Context, gone []string, status string, names []string, fn func(db *engine.DB) (*engine.CurationReport, error)) error {
	rep, err := a.curate(ctx, strings.Join(gone, ", "), names, fn)
	if err != nil {
		return err
	}
	return a.showRemoved(rep, status, gone...)
}

func changeOf(rep *engine.CurationReport) changeJSON {
	return changeJSON{rep.Change, rep.Resolved, rep.Stale}
}

// showChange prints the record that a change has made.
func (a *app) showChange(rep *engine.CurationReport) error {
	switch {
	case rep.Entity != nil && a.json:
		return writeJSON(a.out, changedEntity{entityDoc(rep.Entity), changeOf(rep)})
	case rep.Relation != nil && a.json:
		return writeJSON(a.out, changedRelation{relationDoc(rep.Relation), changeOf(rep)})
	case a.json:
		return writeJSON(a.out, removed{rows[removedRow]{[]removedRow{}}, changeOf(rep)})
	}
	if rep.Change == 0 {
		if err := a.say("nothing to change\n\n"); err != nil {
			return err
		}
	} else if err := a.say("change %d; `lightctl entity undo %d` takes it back\n\n", rep.Change, rep.Change); err != nil {
		return err
	}
	switch {
	case rep.Entity != nil:
		return a.printEntity(rep.Entity)
	case rep.Relation != nil:
		return a.printRelation(rep.Relation)
	}
	return nil
}

// showRemoved reports what is gone.
func (a *app) showRemoved(rep *engine.CurationReport, status string, names ...string) error {
	if a.json {
		out := removed{changeJSON: changeOf(rep)}
		for _, n := range names {
			out.Rows = append(out.Rows, removedRow{n, status})
		}
		return writeJSON(a.out, out)
	}
	for _, n := range names {
		if err := a.say("%s %s\n", status, oneLine(n)); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) undoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "undo CHANGE",
		Short: "Take a change of entities or relations back",
		Long: "Take a change back, by the number that it was reported with; `lightctl entity changes` lists them.\n" +
			"A deletion cannot be undone, nor can a change that a later one builds upon: undo that first.",
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseUint(args[0], 10, 32)
			if err != nil {
				return usagef("%q is not the number of a change; see lightctl entity changes", args[0])
			}
			return a.remove(cmd.Context(), args, "undone", nil, func(db *engine.DB) (*engine.CurationReport, error) {
				rep, err := db.Undo(cmd.Context(), uint32(id))
				if errors.Is(err, engine.ErrNotFound) {
					err = fmt.Errorf("%w; `lightctl entity changes` lists those that there are", err)
				}
				return rep, err
			})
		},
	}
}

func (a *app) changesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "changes",
		Short: "What was changed by hand, oldest first",
		Args:  arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			return a.view(func(v *engine.View) error {
				changes, err := v.Changes()
				if err != nil {
					return err
				}
				if a.json {
					return writeJSON(a.out, rows[engine.Change]{changes})
				}
				t := a.table()
				t.row("CHANGE", "MADE", "WHAT", "NAMES", "STATE")
				for _, c := range changes {
					state := "stands"
					switch {
					case c.Undone != nil:
						state = "undone"
					case !c.CanUndo:
						state = "for good"
					}
					t.row(c.ID, c.Made.Format("2006-01-02 15:04:05"), c.Kind+" "+c.Of, strings.Join(c.Names, ", "), state)
				}
				return t.flush()
			})
		},
	}
}

// valueFlags are the fields that the verbs which make or edit set.
type valueFlags struct {
	typ, description, keywords string
	weight                     float64
	reset                      []string
}

// given returns the value of a flag, nil if the flag was not given.
func given[T any](cmd *cobra.Command, flag string, value T) *T {
	if !cmd.Flags().Changed(flag) {
		return nil
	}
	return &value
}

func (f *valueFlags) fields() []engine.Field {
	out := make([]engine.Field, len(f.reset))
	for i, name := range f.reset {
		out[i] = engine.Field(name)
	}
	return out
}
