package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Report is what a report command prints.
type Report struct {
	Machine string `json:"machine"`
	Commit  string `json:"commit"`
	Rows    []Row  `json:"rows"`
}

// Row is one figure. A figure that could not be measured has no value, says
// why in Note, and never meets its goal.
type Row struct {
	Figure string   `json:"figure"`
	Value  *float64 `json:"value"`
	Unit   string   `json:"unit"`
	Goal   string   `json:"goal"` // "<= 1.5", "< 5", ">= 0.95", "= 20004"; "" = none
	Met    *bool    `json:"met"`  // null without a goal
	Note   string   `json:"note"`
}

// NewReport returns a report without rows about this machine and the commit
// of the working directory.
func NewReport() *Report { return &Report{Machine: Machine(), Commit: Commit(), Rows: []Row{}} }

// Add appends a measured figure. A goal that cannot be read is not met.
func (r *Report) Add(figure string, value float64, unit, goal, note string) {
	row := Row{Figure: figure, Value: &value, Unit: unit, Goal: goal, Note: note}
	if goal != "" {
		met := meets(value, goal)
		row.Met = &met
	}
	r.Rows = append(r.Rows, row)
}

// Missing appends a figure that could not be measured.
func (r *Report) Missing(figure, unit, goal, why string) {
	row := Row{Figure: figure, Unit: unit, Goal: goal, Note: "not measured: " + why}
	if goal != "" {
		row.Met = new(bool)
	}
	r.Rows = append(r.Rows, row)
}

// meets compares a value with a goal such as "<= 1.5".
func meets(value float64, goal string) bool {
	op, number, _ := strings.Cut(goal, " ")
	limit, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	switch op {
	case "<":
		return value < limit
	case "<=":
		return value <= limit
	case ">":
		return value > limit
	case ">=":
		return value >= limit
	case "=":
		return value == limit
	}
	return false
}

// WriteJSON writes the report as one JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// WriteTable writes the report for people.
func (r *Report) WriteTable(w io.Writer) error {
	fmt.Fprintf(w, "machine  %s\ncommit   %s\n\n", r.Machine, r.Commit)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "figure\tvalue\tunit\tgoal\tmet\tnote")
	for _, row := range r.Rows {
		value, met := "-", ""
		if row.Value != nil {
			value = Number(*row.Value)
		}
		if row.Met != nil {
			met = map[bool]string{true: "yes", false: "NO"}[*row.Met]
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", row.Figure, value, row.Unit, row.Goal, met, row.Note)
	}
	return t.Flush()
}

// Number formats a value with four significant digits, whole numbers in full.
func Number(v float64) string {
	if v == float64(int64(v)) || v >= 1000 || v <= -1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// Machine describes the processor and the system in one line.
func Machine() string {
	cpu := "unknown processor"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range bytes.Lines(b) {
			if k, v, ok := strings.Cut(string(line), ":"); ok && strings.TrimSpace(k) == "model name" {
				cpu = strings.TrimSpace(v)
				break
			}
		}
	}
	s := fmt.Sprintf("%s, %d cores, %s/%s, %s", cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		if load, _, ok := strings.Cut(string(b), " "); ok {
			s += ", load average " + load + " at the start"
		}
	}
	return s
}

// Commit names the commit that was measured, with a + when the working
// directory differs from it; "unknown" where there is none.
func Commit() string {
	revision, modified := "", false
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				revision = s.Value
			case "vcs.modified":
				modified = s.Value == "true"
			}
		}
	}
	if revision == "" { // go run does not stamp
		out, err := exec.Command("git", "rev-parse", "HEAD").Output()
		if err != nil {
			return "unknown"
		}
		revision = strings.TrimSpace(string(out))
		out, err = exec.Command("git", "status", "--porcelain").Output()
		modified = err != nil || len(out) > 0
	}
	if modified {
		revision += "+"
	}
	return revision
}
