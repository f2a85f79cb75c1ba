package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"

	"github.com/lightctl/lightrag/bench/measure"
)

// goals of the comparison with hnswlib, by data set.
type goals struct{ qps, rows, build string }

func goalsOf(d *dataset) goals {
	switch {
	case d.name == "real text":
		return goals{qps: ">= 4", rows: ">= 1.9", build: "<= 0.25"}
	case d.dim == 384:
		return goals{qps: ">= 3", build: "<= 0.25"}
	}
	return goals{qps: ">= 3"}
}

// compared reports what the contenders have shown on a data set, with the goals at a recall.
func (r *runner) compared(d *dataset, at float64, all []*contender, missing map[string]error, whole bool) {
	ours := find(all, onCodes.title)
	if whole {
		r.againstHnswlib(d, at, all, missing["hnswlib"])
		r.add(fmt.Sprintf("%s: highest recall of lightrag", d), median(reaches(ours.curves)), "share", ">= 0.99", fmt.Sprintf("up to ef %d", widest(ours.curves)))
		if d.dim == 384 {
			r.add(fmt.Sprintf("%s: hot memory of a vector", d), ours.hot, "B", "<= 560", "codes, links and state, without the float32 row, by Stats")
		}
	} else {
		r.againstSQ(d, ours, find(all, "faiss-sq8"), missing["faiss-sq8"])
	}
	for _, c := range all {
		title := strings.TrimSpace(c.name() + " " + c.version())
		if c.scans() {
			p := c.curves[0][0]
			r.add(fmt.Sprintf("%s, exact: %s", d, title), p.QPS, "queries/CPU s", "", "recall "+measure.Number(p.Recall))
		} else {
			for _, recall := range recalls {
				v, ok := medianAt(c.curves, recall)
				r.maybe(fmt.Sprintf("%s, recall %v: %s", d, recall, title), v, ok, "queries/CPU s", "", seedsNote(c.curves), "not reached, or the narrowest search is above")
			}
		}
		var cpu, rss []float64
		for _, b := range c.builds {
			cpu, rss = append(cpu, b.CPU.Seconds()), append(rss, float64(b.RSS)/float64(d.rows()))
		}
		r.add(fmt.Sprintf("%s, build CPU: %s", d, title), median(cpu), "s", "", "of the process; "+seedsNote(c.curves))
		r.add(fmt.Sprintf("%s, memory of a vector: %s", d, title), rss[0], "B", "", memoryNote(c))
		r.Curves = append(r.Curves, curveSet{Data: d.String(), Index: c.name(), Version: c.version(), Seeds: c.curves})
	}
	for _, p := range wanted(recipes(), r.o.peers) {
		if err := missing[p.peer]; err != nil {
			r.missing(fmt.Sprintf("%s: %s", d, p.peer), "", "", err.Error())
		}
	}
}

// find returns the contender of a title of ours, or of a peer; nil where there is none.
func find(all []*contender, name string) *contender {
	for _, c := range all {
		if c.ours != nil && c.ours.mode.title == name || c.ours == nil && c.peer.peer == name {
			return c
		}
	}
	return nil
}

func seedsNote(curves []curve) string {
	if len(curves) == 1 {
		return "one seed"
	}
	return fmt.Sprintf("median of %d seeds", len(curves))
}

func memoryNote(c *contender) string {
	const note = "growth of the resident set over the first build"
	if c.peer.keeps {
		return note + ", without the float32 rows, which it shares with its caller"
	}
	return note + ", float32 rows included where it has them"
}

// absent says why a peer is not there.
func absent(err error) string {
	if err == nil {
		return "--peers leaves it out"
	}
	return err.Error()
}

// againstHnswlib reports the ratios to hnswlib.
func (r *runner) againstHnswlib(d *dataset, at float64, all []*contender, err error) {
	goal, hnswlib := goalsOf(d), find(all, "hnswlib")
	for _, m := range []mode{onCodes, onRows} {
		c := find(all, m.title)
		if c == nil {
			continue // see compare
		}
		wanted := goal.qps
		if m == onRows {
			wanted = goal.rows
		}
		figure := fmt.Sprintf("%s, recall %v: %s / hnswlib", d, at, c.name())
		if hnswlib == nil {
			r.missing(figure, "ratio", wanted, absent(err))
			continue
		}
		v, ok := ratioAt(c.curves, hnswlib.curves, at)
		note := seedsNote(c.curves) + "; queries per CPU second, hnswlib " + hnswlib.version()
		r.maybe(figure, v, ok, "ratio", wanted, note, "not both reach this recall, or one starts above it")
	}
	figure := fmt.Sprintf("%s, build CPU: lightrag / hnswlib", d)
	if hnswlib == nil {
		r.missing(figure, "ratio", goal.build, absent(err))
		return
	}
	c := find(all, onCodes.title)
	var ratios []float64
	for i, b := range c.builds {
		ratios = append(ratios, b.CPU.Seconds()/hnswlib.builds[i].CPU.Seconds())
	}
	r.add(figure, median(ratios), "ratio", goal.build, seedsNote(c.curves)+", the first built with one thread, the others with two")
}

// widest returns the largest ef of some curves.
func widest(curves []curve) (ef int) {
	for _, c := range curves {
		for _, p := range c {
			ef = max(ef, p.Ef)
		}
	}
	return ef
}

func reaches(curves []curve) []float64 {
	var all []float64
	for _, c := range curves {
		all = append(all, c.reach())
	}
	return all
}

// againstSQ compares with an index that has a ceiling: over all recalls that both reach.
func (r *runner) againstSQ(d *dataset, c, sq *contender, err error) {
	figure, goal := fmt.Sprintf("%s: lightrag / faiss SQ8, least over the recalls both reach", d), "> 1"
	if sq == nil {
		r.missing(figure, "ratio", goal, absent(err))
		return
	}
	low, high := 0.0, 1.0
	for _, curves := range [][]curve{c.curves, sq.curves} {
		for _, one := range curves {
			low, high = max(low, one.start()), min(high, one.reach())
		}
	}
	least, ok := 0.0, false
	const steps = 50
	for i := range steps + 1 {
		if v, reached := ratioAt(c.curves, sq.curves, low+(high-low)*float64(i)/steps); reached && (!ok || v < least) {
			least, ok = v, true
		}
	}
	r.maybe(figure, least, ok, "ratio", goal, fmt.Sprintf("recall %.3f to %.3f; faiss %s ends at %.3f", low, high, sq.version(), sq.curves[0].reach()),
		"no recall that both reach")
}

// profiled starts a CPU profile of ours, where one is wanted.
func (r *runner) profiled(c *contender, d *dataset, what string) (stop func(), err error) {
	if r.o.profile == "" || c.ours == nil || len(c.builds) > 0 {
		return func() {}, nil
	}
	name := strings.ReplaceAll(fmt.Sprintf("%s-%s-%s.prof", what, c.name(), d), " ", "-")
	f, err := os.Create(filepath.Join(r.o.profile, name))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}
