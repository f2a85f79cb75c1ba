package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm"
)

func (a *app) entityCommand() *cobra.Command {
	var limit int
	var typ string
	list := &cobra.Command{
		Use:   "list",
		Short: "All entities in name order",
		Args:  arguments(0, 0),
		RunE:  func(*cobra.Command, []string) error { return a.entityList(typ, limit) },
	}
	list.Flags().IntVar(&limit, "limit", 0, "at most this many (0 = all)")
	list.Flags().StringVar(&typ, "type", "", "only entities of this type")
	return group("entity", "Look at entities and curate them", list,
		&cobra.Command{
			Use:   "show NAME",
			Short: "Everything that is known about an entity",
			Args:  arguments(1, 1),
			RunE:  func(_ *cobra.Command, args []string) error { return a.entityShow(args[0]) },
		},
		a.entityCreateCommand(), a.entityEditCommand(), a.entityRenameCommand(), a.entityMergeCommand(), a.entityDeleteCommand(),
		a.duplicatesCommand(), a.undoCommand(), a.changesCommand(),
	)
}

type entityJSON struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Fragments   []string `json:"fragments"`
	Sources     []string `json:"sources"`
	Degree      int      `json:"degree"`
	Pending     bool     `json:"pending"`
	Aliases     []string `json:"aliases"`

	Curated []engine.Field `json:"curated"`
}

func entityDoc(e *engine.Entity) entityJSON {
	return entityJSON{
		e.Name, e.Type, e.Description, list(e.Fragments), list(e.Sources), e.Degree, e.Pending, list(e.Aliases), list(e.Curated),
	}
}

type entityRow struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Degree      int    `json:"degree"`
	Description string `json:"description"`
}

// view runs fn on the newest view of the store.
func (a *app) view(fn func(v *engine.View) error) error {
	db, err := a.openView()
	if err != nil {
		return err
	}
	defer db.Close()
	v := db.View()
	defer v.Close()
	if err := v.Err(); err != nil {
		return err
	}
	return fn(v)
}

func (a *app) entityList(typ string, limit int) error {
	if limit < 0 {
		return usagef("--limit must not be negative")
	}
	if typ != "" {
		n, ok := llm.NormalizeType(typ)
		if !ok {
			return usagef("--type %q is no type", typ)
		}
		typ = n
	}
	return a.view(func(v *engine.View) error {
		out := rows[entityRow]{Rows: []entityRow{}}
		var failed error
		v.EntityNames(func(name string, degree int) bool {
			var e *engine.Entity
			if e, failed = v.Entity(name); failed != nil {
				return false
			}
			if typ == "" || strings.EqualFold(e.Type, typ) {
				out.Rows = append(out.Rows, entityRow{name, e.Type, degree, e.Description})
			}
			return limit == 0 || len(out.Rows) < limit
		})
		if failed != nil {
			return failed
		}
		if typ != "" && len(out.Rows) == 0 {
			hint, err := missingType(v, []string{typ})
			if err != nil {
				return err
			}
			a.note("%s", hint)
		}
		if a.json {
			return writeJSON(a.out, out)
		}
		t := a.table()
		t.row("NAME", "TYPE", "DEGREE", "DESCRIPTION")
		for _, r := range out.Rows {
			t.row(r.Name, r.Type, r.Degree, clip(inOneLine(r.Description), 80))
		}
		return t.flush()
	})
}

func (a *app) entityShow(name string) error {
	return a.view(func(v *engine.View) error {
		e, err := v.Entity(name)
		if err != nil {
			return about(name, suggestEntity(v, name, err))
		}
		if a.json {
			return writeJSON(a.out, entityDoc(e))
		}
		return a.printEntity(e)
	})
}

func (a *app) printEntity(e *engine.Entity) error {
	t := a.table()
	t.row("name", e.Name)
	if len(e.Aliases) > 0 {
		t.row("aliases", strings.Join(e.Aliases, ", "))
	}
	t.row("type", e.Type)
	t.row("neighbours", e.Degree)
	t.row("sources", strings.Join(e.Sources, ", "))
	a.curatedRow(t, e.Curated)
	if err := t.flush(); err != nil {
		return err
	}
	return a.describeFragments(e.Description, e.Fragments, e.Pending)
}

// curatedRow says which values were set by hand.
func (a *app) curatedRow(t *table, fields []engine.Field) {
	if len(fields) == 0 {
		return
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = string(f)
	}
	t.row("curated", strings.Join(names, ", "))
}

// separator stands between the descriptions that a record joins.
const separator = "<SEP>"

// inOneLine is a description for a cell, with a slash between those that it
// joins.
func inOneLine(description string) string {
	return strings.ReplaceAll(description, separator, " / ")
}

func (a *app) describeFragments(description string, fragments []string, pending bool) error {
	if pending {
		a.note("this description waits for its summary; `lightctl docs retry` makes it")
	}
	several := strings.Split(description, separator)
	if !slices.Equal(several, fragments) {
		if err := a.texts(several); err != nil || len(fragments) <= 1 {
			return err
		}
		if err := a.say("\nmade from"); err != nil {
			return err
		}
	}
	return a.texts(fragments)
}

// texts prints one text as it is, and several as a list.
func (a *app) texts(list []string) error {
	if len(list) == 1 {
		return a.say("\n%s\n", list[0])
	}
	if err := a.say("\n"); err != nil {
		return err
	}
	for _, text := range list {
		if err := a.say("  - %s\n", oneLine(text)); err != nil {
			return err
		}
	}
	return nil
}
