package main

import (
	"math"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

func (a *app) graphCommand() *cobra.Command {
	var hops, limit int
	near := &cobra.Command{
		Use:   "neighbors NAME",
		Short: "The entities around one, nearest first",
		Args:  arguments(1, 1),
		RunE:  func(_ *cobra.Command, args []string) error { return a.neighbors(args[0], hops, limit) },
	}
	near.Flags().IntVar(&hops, "hops", 1, "how far to go")
	near.Flags().IntVar(&limit, "limit", 0, "at most this many (0 = all)")

	return group("graph", "Explore and export the graph", near, a.exportCommand())
}

type neighborJSON struct {
	Name   string  `json:"name"`
	Hops   int     `json:"hops"`
	Via    string  `json:"via"`
	Weight float64 `json:"weight"`
	Degree int     `json:"degree"`
}

type neighborsJSON struct {
	rows[neighborJSON]
	Truncated bool `json:"truncated"` // --limit cut the list
}

func (a *app) neighbors(name string, hops, limit int) error {
	if hops < 1 || limit < 0 {
		return usagef("--hops must be at least 1 and --limit not negative")
	}
	return a.view(func(v *engine.View) error {
		ask := limit
		if limit > 0 && limit < math.MaxInt {
			ask++ // to know whether there are more
		}
		found, err := v.Neighbors(name, hops, ask)
		if err != nil {
			return about(name, suggestEntity(v, name, err))
		}
		cut := limit > 0 && len(found) > limit
		if cut {
			found = found[:limit]
		}
		if a.json {
			out := neighborsJSON{rows[neighborJSON]{make([]neighborJSON, len(found))}, cut}
			for i, n := range found {
				out.Rows[i] = neighborJSON{n.Name, n.Hops, n.Via, n.Weight, n.Degree}
			}
			return writeJSON(a.out, out)
		}
		t := a.table()
		t.row("HOPS", "NAME", "VIA", "WEIGHT", "NEIGHBOURS")
		for _, n := range found {
			t.row(n.Hops, n.Name, n.Via, n.Weight, n.Degree)
		}
		if err := t.flush(); err != nil {
			return err
		}
		if cut {
			a.note("there are more: --limit %d cut the list", limit)
		}
		return nil
	})
}
