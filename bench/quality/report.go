package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/lightctl/lightrag/bench/measure"
	"github.com/lightctl/lightrag/engine/eval"
)

// report gathers rows, and the tables in which people compare them.
type report struct {
	*measure.Report
	quick  bool
	tables []table
}

// table holds the outcomes of several ways to rank for one set of questions, the
// first being what the others are compared with.
type table struct {
	name  string
	lines []line
}

type line struct {
	system   string
	outcomes eval.Outcomes
}

// The ranks at which is counted.
var (
	recallAt = []int{1, 2, 5, 10, 20}
	allAt    = []int{2, 5, 10, 20}
)

func (r *report) note(s string) string {
	switch {
	case !r.quick:
		return s
	case s == "":
		return "quick"
	}
	return "quick; " + s
}

func (r *report) missing(figure, unit, goal, why string) { r.Missing(figure, unit, goal, r.note(why)) }

// interval adds the mean of v.
func (r *report) interval(figure, unit, goal string, v eval.Values, note string) {
	i := v.Interval()
	n := fmt.Sprintf("95 %% interval %.3f to %.3f", i.Low, i.High)
	if note != "" {
		n += "; " + note
	}
	r.Add(figure, i.Mean, unit, goal, r.note(n))
}

// figure is one measure of outcomes.
type figure struct {
	name string
	of   func(eval.Outcomes) eval.Values
}

func figures() (list []figure) {
	for _, k := range recallAt {
		list = append(list, figure{"recall@" + strconv.Itoa(k), func(o eval.Outcomes) eval.Values { return o.Recall(k) }})
	}
	for _, k := range allAt {
		list = append(list, figure{"all-gold@" + strconv.Itoa(k), func(o eval.Outcomes) eval.Values { return o.AllGold(k) }})
	}
	return append(list, figure{"MRR", eval.Outcomes.ReciprocalRank})
}

// add makes the rows of one line of the last table. goals are by the name of the
// figure, those of the low end of the interval of the difference to the first line by
// "above " and it.
func (r *report) add(system string, o eval.Outcomes, goals map[string]string) {
	t := &r.tables[len(r.tables)-1]
	t.lines = append(t.lines, line{system, o})
	base := &t.lines[0]
	name := func(f string) string { return figureName(t.name, system, f) }
	for _, f := range figures() {
		v, note := f.of(o), ""
		if base.system != system {
			note = fmt.Sprintf("minus %s: %s", base.system, signed(v.Minus(f.of(base.outcomes)).Interval()))
		}
		r.interval(name(f.name), "share", goals[f.name], v, note)
		if goal := goals["above "+f.name]; goal != "" {
			d := v.Minus(f.of(base.outcomes)).Interval()
			r.Add(name(f.name+aboveBase), d.Low, "share", goal, r.note("low end of the 95 % interval of the paired difference, whose mean is "+fmt.Sprintf("%+.3f", d.Mean)))
		}
		if goal := goals["not below "+f.name]; goal != "" {
			d := v.Minus(f.of(base.outcomes)).Interval()
			r.Add(name(f.name+minusBase), d.Mean, "share", goal, r.note(signed(d)))
		}
	}
}

// What a row is called that compares with the first line, which is always BM25.
const (
	aboveBase = " above BM25"
	minusBase = " minus BM25"
)

func figureName(table, system, figure string) string {
	return fmt.Sprintf("%s: %s: %s", table, system, figure)
}

// missingGoals adds the rows that have a goal, without values.
func (r *report) missingGoals(table, system string, goals map[string]string, why error) {
	for _, f := range figures() {
		for _, kind := range [][2]string{{"", ""}, {"above ", aboveBase}, {"not below ", minusBase}} {
			if goal := goals[kind[0]+f.name]; goal != "" {
				r.missing(figureName(table, system, f.name+kind[1]), "share", goal, why.Error())
			}
		}
	}
}

func signed(i eval.Interval) string {
	return fmt.Sprintf("%+.3f [%+.3f, %+.3f]", i.Mean, i.Low, i.High)
}

// writeTables writes the report for people: one line a way to rank, then the
// rows that have a goal, or no value.
func (r *report) writeTables(w io.Writer) error {
	for i := range r.tables {
		if err := r.tables[i].write(w); err != nil {
			return err
		}
	}
	goals := measure.Report{Machine: r.Machine, Commit: r.Commit}
	for _, row := range r.Rows {
		if row.Met != nil || row.Value == nil {
			goals.Rows = append(goals.Rows, row)
		}
	}
	return goals.WriteTable(w)
}

func (t *table) write(w io.Writer) error {
	fmt.Fprintf(w, "%s\n\n", t.name)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "R = recall, A = all-gold at")
	for _, k := range recallAt {
		fmt.Fprintf(tw, "\tR@%d", k)
	}
	for _, k := range allAt {
		fmt.Fprintf(tw, "\tA@%d", k)
	}
	fmt.Fprintf(tw, "\tMRR\tR@10 minus %s\tA@10 minus %s\n", t.lines[0].system, t.lines[0].system)
	for i, l := range t.lines {
		fmt.Fprint(tw, l.system)
		for _, f := range figures() {
			fmt.Fprintf(tw, "\t%.3f", f.of(l.outcomes).Mean())
		}
		if i > 0 {
			base := t.lines[0].outcomes
			fmt.Fprintf(tw, "\t%s\t%s", signed(l.outcomes.Recall(10).Minus(base.Recall(10)).Interval()),
				signed(l.outcomes.AllGold(10).Minus(base.AllGold(10)).Interval()))
		}
		fmt.Fprintln(tw)
	}
	fmt.Fprintln(tw)
	return tw.Flush()
}
