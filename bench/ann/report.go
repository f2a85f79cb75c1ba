package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/lightctl/lightrag/bench/measure"
)

// report is the rows of the contract, and the curves they come from.
type report struct {
	measure.Report
	Curves []curveSet `json:"curves"`
	label  string
}

// curveSet is what one index has shown on one data set, seed by seed.
type curveSet struct {
	Data    string  `json:"data"`
	Index   string  `json:"index"`
	Version string  `json:"version,omitempty"`
	Seeds   []curve `json:"seeds"`
}

func newReport(label string) *report {
	return &report{Report: *measure.NewReport(), Curves: []curveSet{}, label: label}
}

func (r *report) note(note string) string {
	switch {
	case r.label == "":
		return note
	case note == "":
		return r.label
	}
	return r.label + "; " + note
}

func (r *report) add(figure string, value float64, unit, goal, note string) {
	r.Add(figure, value, unit, goal, r.note(note))
}

func (r *report) missing(figure, unit, goal, why string) {
	r.Missing(figure, unit, goal, r.note(why))
}

// maybe adds a value that may not have been reached.
func (r *report) maybe(figure string, value float64, ok bool, unit, goal, note, why string) {
	if ok {
		r.add(figure, value, unit, goal, note)
	} else {
		r.missing(figure, unit, goal, why)
	}
}

func (r *report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// draw writes the curves into the file of --plot.
func (r *runner) draw() error {
	path, err := filepath.Abs(r.o.plot)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := r.writeJSON(&b); err != nil {
		return err
	}
	cmd := exec.CommandContext(r.ctx, "go", "run", "./plot", path)
	cmd.Dir, cmd.Stdin, cmd.Stderr = r.shop.source, &b, os.Stderr
	return cmd.Run()
}

// recalls are the columns of the table of curves.
var recalls = []float64{0.80, 0.90, 0.95, 0.98, 0.99}

func (r *report) writeText(w io.Writer) error {
	if err := r.WriteTable(w); err != nil {
		return err
	}
	for i, set := range r.Curves {
		if i == 0 || r.Curves[i-1].Data != set.Data {
			fmt.Fprintf(w, "\n%s: recall@%d / queries per CPU second, by ef (median of the seeds)\n", set.Data, topK)
		}
		fmt.Fprintf(w, "  %s:", set.title())
		for j, p := range set.Seeds[0] { // a curve of a lucky seed may end earlier than the others
			if slices.ContainsFunc(set.Seeds, func(c curve) bool { return j >= len(c) }) {
				break
			}
			var rs, qs []float64
			for _, c := range set.Seeds {
				rs, qs = append(rs, c[j].Recall), append(qs, c[j].QPS)
			}
			fmt.Fprintf(w, "  %d: %.4f / %.0f", p.Ef, median(rs), median(qs))
		}
		fmt.Fprintln(w)
		if i+1 == len(r.Curves) || r.Curves[i+1].Data != set.Data {
			r.rates(w, set.Data)
		}
	}
	return nil
}

// rates writes the table of one data set: an index a line, a recall a column.
func (r *report) rates(w io.Writer, data string) {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "  index\t")
	for _, recall := range recalls {
		fmt.Fprintf(t, "QPS@%.2f\t", recall)
	}
	fmt.Fprintln(t)
	for _, set := range r.Curves {
		if set.Data != data || len(set.Seeds[0]) < 2 {
			continue
		}
		fmt.Fprintf(t, "  %s\t", set.title())
		for _, recall := range recalls {
			if v, ok := medianAt(set.Seeds, recall); ok {
				fmt.Fprintf(t, "%.0f\t", v)
			} else {
				fmt.Fprint(t, "-\t")
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

func (s *curveSet) title() string {
	if s.Version == "" {
		return s.Index
	}
	return s.Index + " " + s.Version
}
