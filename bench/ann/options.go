package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// options is the command line.
type options struct {
	quick, json bool
	hnswlib     string
	faiss       string
	plot        string
	profile     string
	only        []string // nil = all sections
	peers       []string // nil = all peers

	seeds   int           // of ours and of the peers that run on everything
	rows    int           // most rows of a mixture; 0 = as it is
	repeats int           // of which the median counts
	atLeast time.Duration // of one repeat
	others  int           // rows for the peers that do not run on everything
	queries int           // of a mixture, and for those peers
	widest  int           // largest ef
	copies  int           // of each of three vectors, for duplicates
	updates int           // of each of 50 vectors, for churn
	label   string        // in the notes of all rows
}

// efs are the widths of a search.
var efs = []int{10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512}

const quickRows = 20_000

func parse(args []string, output io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("ann", flag.ContinueOnError)
	f.SetOutput(output)
	f.BoolVar(&o.quick, "quick", false, "smaller data and one seed, within three minutes on two cores")
	f.BoolVar(&o.json, "json", false, "print one JSON object and nothing else")
	f.StringVar(&o.hnswlib, "hnswlib", "", "checkout of hnswlib to measure instead of the installed one")
	f.StringVar(&o.faiss, "faiss", "", "folder of an installed faiss (include, lib) to measure instead of the package")
	f.StringVar(&o.plot, "plot", "", "SVG or PNG `file` for the curves")
	f.StringVar(&o.profile, "profile", "", "`folder` for CPU profiles of our builds and searches")
	only := f.String("only", "", "comma-separated sections: "+strings.Join(sectionNames(), ", "))
	peers := f.String("peers", "", "comma-separated peers: "+strings.Join(peerNames(), ", ")+"; none = ours alone")
	f.IntVar(&o.seeds, "seeds", 0, "number of seeds (default 3, with --quick 1)")
	f.IntVar(&o.rows, "rows", 0, "most rows of a mixture (default all, with --quick 20000 of 384 dimensions, and fewer of more)")
	f.IntVar(&o.repeats, "repeats", 0, "repeats per point, of which the median counts (default 3, with --quick 2)")
	f.DurationVar(&o.atLeast, "at-least", 0, "CPU time of a repeat (default 250ms, with --quick 50ms)")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	var errs []error
	if f.NArg() > 0 {
		errs = append(errs, fmt.Errorf("unexpected argument %q", f.Arg(0)))
	}
	var err error
	if o.only, err = choices("only", *only, sectionNames()); err != nil {
		errs = append(errs, err)
	}
	if *peers == "none" {
		o.peers = []string{}
	} else if o.peers, err = choices("peers", *peers, peerNames()); err != nil {
		errs = append(errs, err)
	}
	if o.seeds < 0 || o.rows < 0 || o.repeats < 0 || o.atLeast < 0 {
		errs = append(errs, errors.New("seeds, rows, repeats and at-least must not be negative"))
	}
	o.fill()
	return o, errors.Join(errs...)
}

// fill puts the defaults in.
func (o *options) fill() {
	pick := func(v *int, whole, quick int) {
		if *v == 0 && o.quick {
			*v = quick
		} else if *v == 0 {
			*v = whole
		}
	}
	pick(&o.seeds, 3, 1)
	pick(&o.rows, 0, quickRows)
	pick(&o.repeats, 3, 2)
	pick(&o.others, 20_000, 4_000)
	pick(&o.queries, 1000, 300)
	pick(&o.widest, 512, 256)
	o.copies, o.updates = 2000, 200
	if o.atLeast == 0 {
		o.atLeast = 250 * time.Millisecond
		if o.quick {
			o.atLeast = 50 * time.Millisecond
		}
	}
	if o.quick {
		o.label = "quick"
	}
}

// choices splits a list of names; nil when it is empty.
func choices(flag, list string, known []string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	names := strings.Split(list, ",")
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--%s: no %q; there are %s", flag, name, strings.Join(known, ", "))
		}
	}
	return names, nil
}

func (o *options) wants(section string) bool {
	return o.only == nil || slices.Contains(o.only, section)
}

func peerNames() []string {
	var names []string
	for _, r := range recipes() {
		names = append(names, r.peer)
	}
	return names
}
