package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

func (a *app) duplicatesCommand() *cobra.Command {
	var o engine.DuplicateOptions
	c := &cobra.Command{
		Use:   "duplicates",
		Short: "Suggest entities that may be one, and say why",
		Long: "Suggest entities that may be one: other spellings, titles and particles, acronyms, parts of names, and\n" +
			"names that are spelled alike with alike descriptions. Nothing is changed. To apply suggestions, write them\n" +
			"to a file with --json, delete from it what is wrong, and run `lightctl entity merge --from FILE`.",
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Limit < 0 || o.MinScore < 0 || o.MinScore > 1 {
				return usagef("--limit must not be negative, and --min-score is from 0 to 1")
			}
			return a.duplicates(cmd, o)
		},
	}
	c.Flags().Float64Var(&o.MinScore, "min-score", 0.6, "least score of a suggestion, up to 1")
	c.Flags().IntVar(&o.Limit, "limit", 0, "at most this many clusters, the best ones (0 = all)")
	return c
}

func (a *app) duplicates(cmd *cobra.Command, o engine.DuplicateOptions) error {
	if o.MinScore == 0 {
		o.MinScore = -1 // all of them
	}
	db, err := a.openView()
	if err != nil {
		return err
	}
	defer db.Close()
	clusters, err := db.Duplicates(cmd.Context(), o)
	if err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, rows[engine.DuplicateCluster]{list(clusters)})
	}
	if len(clusters) == 0 {
		return a.say("nothing that looks like one entity under two names\n")
	}
	t := a.table()
	t.row("SCORE", "ENTITY", "MAY ALSO BE", "WHY")
	for _, c := range clusters {
		for _, m := range c.Members {
			why := make([]string, len(m.Evidence))
			for i, e := range m.Evidence {
				why[i] = strings.ReplaceAll(string(e.Kind), "_", " ") + " (" + e.Detail + ")"
			}
			t.row(fmt.Sprintf("%.2f", m.Score), c.Target, m.Name, strings.Join(why, "; "))
		}
	}
	return t.flush()
}

// mergedRow is one suggestion that was applied, or not.
type mergedRow struct {
	Name   string `json:"name"`
	Target string `json:"target"`
	Change uint32 `json:"change,omitempty"`
	Error  string `json:"error,omitempty"`
}

// mergeFrom applies the reviewed clusters of a file, each name on its own: what
// cannot be merged is reported, and the others are.
func (a *app) mergeFrom(cmd *cobra.Command, path string) error {
	clusters, err := readClusters(path)
	if err != nil {
		return about(path, err)
	}
	db, err := a.openModels(cmd.Context(), engine.Options{MustExist: true})
	if err != nil {
		return err
	}
	out, failed := mergeClusters(cmd.Context(), db.DB, clusters)
	if err := db.Close(); err != nil {
		return err
	}
	for i := range out.Rows {
		out.Rows[i].Error = a.scrub(out.Rows[i].Error)
	}
	if a.json {
		if err := writeJSON(a.out, out); err != nil {
			return err
		}
	} else {
		t := a.table()
		t.row("CHANGE", "ENTITY", "INTO", "ERROR")
		for _, r := range out.Rows {
			change := strconv.FormatUint(uint64(r.Change), 10)
			if r.Error != "" {
				change = "-"
			}
			t.row(change, r.Name, r.Target, r.Error)
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	if failed != nil {
		code, _ := classify(failed)
		return reported(code)
	}
	return nil
}

// mergeClusters returns what became of each member, and the last error.
func mergeClusters(ctx context.Context, db *engine.DB, clusters []engine.DuplicateCluster) (out rows[mergedRow], failed error) {
	for _, c := range clusters {
		for _, m := range c.Members {
			row := mergedRow{Name: m.Name, Target: c.Target}
			if rep, err := db.MergeEntities(ctx, []string{m.Name}, c.Target, engine.MergeOptions{}); err != nil {
				failed = suggestEntities(db, []string{m.Name}, err)
				row.Error = message(failed)
			} else {
				row.Change = rep.Change
			}
			out.Rows = append(out.Rows, row)
			if ctx.Err() != nil {
				return out, failed
			}
		}
	}
	return out, failed
}

// readClusters reads what `entity duplicates --json` wrote, or the list in it
// alone. Of a cluster only target and the names of its members count.
func readClusters(path string) ([]engine.DuplicateCluster, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var doc rows[engine.DuplicateCluster]
	if err = json.Unmarshal(b, &doc.Rows); err != nil {
		if err = json.Unmarshal(b, &doc); err != nil {
			return nil, usagef("--from %s is not what `lightctl entity duplicates --json` writes: %v", path, err)
		}
	}
	if len(doc.Rows) == 0 {
		return nil, usagef("--from %s holds no clusters; each is {\"target\": NAME, \"members\": [{\"name\": NAME}]}", path)
	}
	for i, c := range doc.Rows {
		if strings.TrimSpace(c.Target) == "" || len(c.Members) == 0 {
			return nil, usagef("--from %s: cluster %d has no target or no members", path, i+1)
		}
		for _, m := range c.Members {
			if strings.TrimSpace(m.Name) == "" {
				return nil, usagef("--from %s: a member of cluster %d (%q) has no name", path, i+1, c.Target)
			}
		}
	}
	return doc.Rows, nil
}
