package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/bench/workload"
	"github.com/lightctl/lightrag/llm"
)

// The golden tests compare with what the reference implementation made of
// recorded model answers. They need a folder with that data.

func sharedData(t testing.TB, elem ...string) string {
	t.Helper()
	root := os.Getenv("LIGHTRAG_SHARED")
	if root == "" {
		t.Skip("LIGHTRAG_SHARED names no folder with recorded data")
	}
	path := filepath.Join(append([]string{root, "data"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no recorded data: %v", err)
	}
	return path
}

func readJSON(t testing.TB, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// replayLine is one recorded chunk and the answers a model gave for it.
type replayLine struct {
	Doc       string  `json:"doc_id"`
	DocOrder  int     `json:"doc_order"`
	Order     int     `json:"chunk_order"`
	Content   string  `json:"content"`
	Extract   string  `json:"extract"`
	Glean     *string `json:"glean"`
	Path      string  `json:"file_path"`
	ChunkID14 string  `json:"chunk_id_v14"`
	ChunkID15 string  `json:"chunk_id_v15"`
}

func readReplay(t testing.TB, path string) []replayLine {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []replayLine
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var l replayLine
		if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// replayer answers extraction and gleaning calls with what was recorded for
// the chunk whose text stands in the prompt.
type replayer struct {
	lines map[string]*replayLine
}

func newReplayer(lines []replayLine) *replayer {
	r := &replayer{lines: make(map[string]*replayLine)}
	for i := range lines {
		r.lines[lines[i].Content] = &lines[i]
	}
	return r
}

func (r *replayer) Model() string { return "recorded" }

func (r *replayer) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	l := r.lines[req.Input.Text]
	if l == nil {
		return llm.Response{}, fmt.Errorf("no recorded answer for %.40q", req.Input.Text)
	}
	if !strings.Contains(req.Messages[1].Content, l.Content) {
		return llm.Response{}, fmt.Errorf("the chunk does not stand verbatim in the prompt")
	}
	switch req.Task {
	case llm.TaskExtract:
		return llm.Response{Text: l.Extract, Usage: llm.Usage{Calls: 1}}, nil
	case llm.TaskGlean:
		if l.Glean == nil {
			return llm.Response{Text: "<|COMPLETE|>"}, nil
		}
		return llm.Response{Text: *l.Glean, Usage: llm.Usage{Calls: 1}}, nil
	}
	return llm.Response{}, fmt.Errorf("unexpected %s call", req.Task)
}

// documentsOf groups replay lines into pre-chunked documents.
func documentsOf(lines []replayLine) []Document {
	var docs []Document
	at := make(map[string]int)
	for _, l := range lines {
		i, ok := at[l.Doc]
		if !ok {
			i = len(docs)
			at[l.Doc] = i
			docs = append(docs, Document{ID: l.Doc})
		}
		docs[i].Chunks = append(docs[i].Chunks, Chunk{Order: l.Order, Path: l.Path, Content: l.Content})
	}
	return docs
}

func goldenOptions(c llm.Completer) Options {
	return Options{
		Completer: c, Embedder: workload.NewEmbedder(384), Tokenizer: "chars4",
		SummaryFragments: -1, MaxExtractTokens: -1,
	}
}

// goldenGraph is a graph in comparable form.
type goldenGraph struct {
	Nodes []goldenNode `json:"nodes"`
	Edges []goldenEdge `json:"edges"`
}

type goldenNode struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	Fragments []string `json:"fragments"`
	Sources   [][2]int `json:"sources"`
	Degree    int      `json:"degree"`
	Skip      []string `json:"skip"`
}

type goldenEdge struct {
	Src       string   `json:"src"`
	Tgt       string   `json:"tgt"`
	Weight    float64  `json:"weight"`
	Keywords  []string `json:"keywords"`
	Fragments []string `json:"fragments"`
	Sources   [][2]int `json:"sources"`
	Skip      []string `json:"skip"`
}

// exportGraph reads the graph back through its export.
func exportGraph(t testing.TB, db *DB, docOrder map[string]int) goldenGraph {
	t.Helper()
	v := db.View()
	defer v.Close()
	var buf bytes.Buffer
	if err := v.ExportJSONL(&buf); err != nil {
		t.Fatal(err)
	}
	var g goldenGraph
	places := func(sources []string) (out [][2]int) {
		for _, s := range sources {
			i := strings.LastIndexByte(s, '#')
			order, err := strconv.Atoi(s[i+1:])
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, [2]int{docOrder[s[:i]], order})
		}
		return out
	}
	sc := bufio.NewScanner(&buf)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var l struct {
			Kind, Name, Type, Src, Tgt   string
			Fragments, Sources, Keywords []string
			Weight                       float64
			Degree                       int
		}
		if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		if l.Kind == "entity" {
			g.Nodes = append(g.Nodes, goldenNode{l.Name, l.Type, l.Fragments, places(l.Sources), l.Degree, nil})
		} else {
			g.Edges = append(g.Edges, goldenEdge{l.Src, l.Tgt, l.Weight, l.Keywords, l.Fragments, places(l.Sources), nil})
		}
	}
	return g
}

func sameSet[T any](a, b []T) bool {
	key := func(xs []T) []string {
		out := make([]string, len(xs))
		for i, x := range xs {
			out[i] = fmt.Sprint(x)
		}
		sort.Strings(out)
		return slices.Compact(out)
	}
	return slices.Equal(key(a), key(b))
}

// diff is the outcome of a comparison of graphs.
type diff struct {
	compared int
	extra    []string // items that only our graph has
	missing  []string // items that only the expected graph has
	wrong    []string // everything that differs, missing items too
}

func (d *diff) badf(format string, args ...any) {
	d.wrong = append(d.wrong, fmt.Sprintf(format, args...))
}

func compareGraphs(got, want goldenGraph) *diff {
	d := &diff{}
	nodes := make(map[string]goldenNode)
	for _, n := range got.Nodes {
		nodes[n.Name] = n
	}
	for _, w := range want.Nodes {
		if slices.Contains(w.Skip, "name") {
			for name := range nodes { // ours is cut to the longest name there is
				if strings.HasPrefix(w.Name, name) && len(name) > 200 || name == w.Name {
					delete(nodes, name)
				}
			}
			continue
		}
		d.compared++
		g, ok := nodes[w.Name]
		delete(nodes, w.Name)
		if !ok {
			d.missing = append(d.missing, w.Name)
			d.badf("node %q is missing", w.Name)
			continue
		}
		skip := func(f string) bool { return slices.Contains(w.Skip, f) }
		if g.Type != w.Type && !skip("type") {
			d.badf("node %q: type %q, want %q", w.Name, g.Type, w.Type)
		}
		if !sameSet(g.Fragments, w.Fragments) && !skip("fragments") {
			d.badf("node %q: fragments %q, want %q", w.Name, g.Fragments, w.Fragments)
		}
		if !sameSet(g.Sources, w.Sources) && !skip("sources") {
			d.badf("node %q: sources %v, want %v", w.Name, g.Sources, w.Sources)
		}
		if g.Degree != w.Degree && !skip("degree") {
			d.badf("node %q: degree %d, want %d", w.Name, g.Degree, w.Degree)
		}
	}
	for name := range nodes {
		d.extra = append(d.extra, name)
	}
	edges := make(map[[2]string]goldenEdge)
	for _, e := range got.Edges {
		edges[[2]string{e.Src, e.Tgt}] = e
	}
	for _, w := range want.Edges {
		k := [2]string{w.Src, w.Tgt}
		d.compared++
		g, ok := edges[k]
		delete(edges, k)
		if !ok {
			d.missing = append(d.missing, w.Src+" -- "+w.Tgt)
			d.badf("edge %q is missing", k)
			continue
		}
		skip := func(f string) bool { return slices.Contains(w.Skip, f) }
		if diff := g.Weight - w.Weight; (diff > 1e-6 || diff < -1e-6) && !skip("weight") {
			d.badf("edge %q: weight %v, want %v", k, g.Weight, w.Weight)
		}
		if !sameSet(g.Keywords, w.Keywords) && !skip("keywords") {
			d.badf("edge %q: keywords %q, want %q", k, g.Keywords, w.Keywords)
		}
		if !sameSet(g.Fragments, w.Fragments) && !skip("fragments") {
			d.badf("edge %q: fragments %q, want %q", k, g.Fragments, w.Fragments)
		}
		if !sameSet(g.Sources, w.Sources) && !skip("sources") {
			d.badf("edge %q: sources %v, want %v", k, g.Sources, w.Sources)
		}
	}
	for k := range edges {
		d.extra = append(d.extra, k[0]+" -- "+k[1])
	}
	slices.Sort(d.extra)
	return d
}

// refusals knows what the reference parser refused, in its own segmentation:
// records by their fields, pieces in which it saw no record by their text.
type refusals struct {
	fields map[string]bool // joined, each cut to 120 characters
	texts  map[string]bool // cut to 200 characters
}

func readRefusals(t *testing.T, dir string) refusals {
	r := refusals{make(map[string]bool), make(map[string]bool)}
	var rows []struct {
		Record any `json:"record"`
	}
	readJSON(t, filepath.Join(dir, "dropped_records.json"), &rows)
	for _, row := range rows {
		switch rec := row.Record.(type) {
		case string:
			r.texts[rec] = true
		case []any:
			fields := make([]string, len(rec))
			for i, f := range rec {
				fields[i] = fmt.Sprint(f)
			}
			r.fields[strings.Join(fields, "\x00")] = true
		}
	}
	return r
}

var parenthesised = regexp.MustCompile(`\((.*)\)`)

// strip takes out of an answer the pieces that the reference refused, and
// returns how many they were.
func (r refusals) strip(answer string) (string, int) {
	sep, delimiter := "\n", "<|#|>"
	old := !strings.Contains(answer, delimiter)
	if old {
		sep, delimiter = "##", "<|>"
	}
	var kept []string
	n := 0
	for piece := range strings.SplitSeq(answer, sep) {
		row := piece
		if m := parenthesised.FindStringSubmatch(piece); old && m != nil {
			row = m[1]
		}
		fields := strings.Split(row, delimiter)
		for i := range fields {
			fields[i] = firstRunes(strings.TrimSpace(fields[i]), 120)
		}
		if r.fields[strings.Join(fields, "\x00")] || old && r.texts[firstRunes(strings.TrimSpace(piece), 200)] {
			n++
			continue
		}
		kept = append(kept, piece)
	}
	return strings.Join(kept, sep), n
}

func firstRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

var goldenStores = []string{"murali_main", "pararthdave_lightrag", "stavidphan_books_ollama", "nano_afe8fad"}

// TestRecordedAnswersGiveTheExpectedGraph compares twice: without the records
// that the reference refused nothing at all may differ; with them nothing may
// be missing, and what comes in addition is listed.
func TestRecordedAnswersGiveTheExpectedGraph(t *testing.T) {
	for _, store := range goldenStores {
		t.Run(store, func(t *testing.T) {
			dir := sharedData(t, "golden", store)
			var want goldenGraph
			readJSON(t, filepath.Join(dir, "graph_expected.json"), &want)
			compare := func(lines []replayLine) *diff {
				order := make(map[string]int)
				for _, l := range lines {
					order[l.Doc] = l.DocOrder
				}
				db, err := Open(t.TempDir(), goldenOptions(newReplayer(lines)))
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				docs := documentsOf(lines)
				rep, err := db.Insert(t.Context(), docs...)
				if err != nil {
					t.Fatal(err)
				}
				if rep.Count(StatusProcessed) != len(docs) {
					t.Fatalf("report: %+v", rep)
				}
				return compareGraphs(exportGraph(t, db, order), want)
			}
			lines := readReplay(t, filepath.Join(dir, "replay.jsonl"))
			full := compare(lines)

			refused := readRefusals(t, dir)
			taken := 0
			for i := range lines {
				for _, answer := range []*string{&lines[i].Extract, lines[i].Glean} {
					if answer != nil {
						text, n := refused.strip(*answer)
						*answer = text
						taken += n
					}
				}
			}
			d := compare(lines)
			t.Logf("%s: %d items compared, %d differ, %d extra; %d records that the reference refused were taken out before",
				store, d.compared, len(d.wrong), len(d.extra), taken)
			if d.compared == 0 {
				t.Error("nothing was compared")
			}
			for _, w := range d.wrong {
				t.Error(w)
			}
			for _, x := range d.extra {
				t.Errorf("unexpected item %s", x)
			}

			t.Logf("%s: with them, %d items more and %d changed:", store, len(full.extra), len(full.wrong))
			for _, x := range full.extra {
				t.Logf("recovered: %.120s", x)
			}
			for _, w := range full.wrong {
				t.Logf("changed by a recovered record: %.200s", w)
			}
			if n := len(full.extra) + len(full.wrong); n > 4*taken {
				t.Errorf("%d differences are too many for %d recovered records", n, taken)
			}
			if len(full.missing) > 0 {
				t.Errorf("missing beside recovered records: %q", full.missing)
			}
		})
	}
}

// goldenStep is a graph after one step of an incremental run.
type goldenStep struct {
	Step  string           `json:"step"`
	Nodes []map[string]any `json:"nodes"`
	Edges []map[string]any `json:"edges"`
}

// graph resolves the rows whose recorded value follows a known quirk of the
// reference.
func (s *goldenStep) graph() goldenGraph {
	var g goldenGraph
	str := func(m map[string]any, k string) string { v, _ := m[k].(string); return v }
	pos := func(m map[string]any) (out [][2]int) {
		list, _ := m["source_pos"].([]any)
		for _, p := range list {
			xy := p.([]any)
			out = append(out, [2]int{int(xy[0].(float64)), int(xy[1].(float64))})
		}
		return out
	}
	for _, m := range s.Nodes {
		n := goldenNode{Name: str(m, "name"), Type: str(m, "type"), Sources: pos(m), Degree: int(m["degree"].(float64))}
		n.Fragments = strings.Split(str(m, "description"), "<SEP>")
		if v := str(m, "full_vote_type"); v != "" {
			n.Type = v
		}
		if v, ok := m["fresh_ingest_value"].(map[string]any); ok {
			if x := str(v, "type"); x != "" {
				n.Type = x
			}
		} else if v := str(m, "fresh_ingest_value"); v != "" {
			n.Type = v
		}
		g.Nodes = append(g.Nodes, n)
	}
	for _, m := range s.Edges {
		e := goldenEdge{Src: str(m, "src"), Tgt: str(m, "tgt"), Weight: m["weight"].(float64), Sources: pos(m)}
		e.Fragments = strings.Split(str(m, "description"), "<SEP>")
		kw := str(m, "keywords")
		if v, ok := m["fresh_ingest_value"].(map[string]any); ok {
			if x := str(v, "keywords"); x != "" {
				kw = x
			}
		} else if v := str(m, "fresh_ingest_value"); v != "" {
			kw = v
		}
		for _, k := range strings.Split(kw, ",") {
			if k = strings.TrimSpace(k); k != "" {
				e.Keywords = append(e.Keywords, k)
			}
		}
		g.Edges = append(g.Edges, e)
	}
	return g
}

func TestRecordedDocumentsOneByOneAndDeleted(t *testing.T) {
	for _, store := range []string{"incremental_murali", "incremental_pararthdave"} {
		t.Run(store, func(t *testing.T) {
			dir := sharedData(t, "golden", store)
			lines := readReplay(t, filepath.Join(dir, "replay.jsonl"))
			var steps struct {
				Steps []goldenStep `json:"steps"`
			}
			readJSON(t, filepath.Join(dir, "steps.json"), &steps)
			db, err := Open(t.TempDir(), goldenOptions(newReplayer(lines)))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			order := make(map[string]int)
			for _, l := range lines {
				order[l.Doc] = l.DocOrder
			}
			refused := readRefusals(t, sharedData(t, "golden", map[string]string{
				"incremental_murali": "murali_main", "incremental_pararthdave": "pararthdave_lightrag",
			}[store]))
			for i := range lines {
				lines[i].Extract, _ = refused.strip(lines[i].Extract)
				if lines[i].Glean != nil {
					*lines[i].Glean, _ = refused.strip(*lines[i].Glean)
				}
			}
			docs := documentsOf(lines)
			for i := range steps.Steps {
				s := &steps.Steps[i]
				if i < len(docs) {
					if rep, err := db.Insert(t.Context(), docs[i]); err != nil || rep.Count(StatusProcessed) != 1 {
						t.Fatalf("insert: %v %+v", err, rep)
					}
				} else {
					id := strings.TrimPrefix(s.Step, "after_delete_")
					if rep, err := db.DeleteDocuments(t.Context(), id); err != nil || len(rep.Deleted) != 1 {
						t.Fatalf("delete: %v %+v", err, rep)
					}
				}
				d := compareGraphs(exportGraph(t, db, order), s.graph())
				t.Logf("%s: %d items compared, %d differ, %d extra", s.Step, d.compared, len(d.wrong), len(d.extra))
				if d.compared == 0 || len(d.wrong) > 0 || len(d.extra) > 0 {
					t.Errorf("%s: %d compared\nwrong %q\nextra %q", s.Step, d.compared, d.wrong, d.extra)
				}
			}
			if len(steps.Steps) != len(docs)+1 {
				t.Errorf("%d steps for %d documents", len(steps.Steps), len(docs))
			}
		})
	}
}
