package main

import (
	"github.com/spf13/cobra"
)

func (a *app) checkCommand() *cobra.Command {
	var deep bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Recompute what the store derives and compare",
		Long: "Recompute what the store derives from its documents and compare. Nothing is changed.\n" +
			"The exit code is 4 when something was found.",
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.check(cmd, deep) },
	}
	c.Flags().BoolVar(&deep, "deep", false, "also read every block of every table and vector segment, and compare the postings with the texts")
	return c
}

type findingJSON struct {
	Row   string `json:"row"`
	Error string `json:"error"`
}

func (a *app) check(cmd *cobra.Command, deep bool) error {
	db, err := a.openView()
	if err != nil {
		return err
	}
	defer db.Close()
	found, err := db.Check(cmd.Context(), deep)
	if err != nil {
		return about(a.db, err)
	}
	if a.json {
		out := struct {
			OK       bool          `json:"ok"`
			Deep     bool          `json:"deep"`
			Findings []findingJSON `json:"findings"`
		}{len(found) == 0, deep, make([]findingJSON, len(found))}
		for i, f := range found {
			out.Findings[i] = findingJSON{f.Row, f.Err.Error()}
		}
		err = writeJSON(a.out, out)
	} else {
		err = a.printFindings(found)
	}
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return reported(exitCorrupt)
	}
	return nil
}
