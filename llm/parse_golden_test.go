package llm

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sharedData returns the folder with recorded data, or skips the test.
func sharedData(t testing.TB, parts ...string) string {
	t.Helper()
	root := os.Getenv("LIGHTRAG_SHARED")
	if root == "" {
		t.Skip("LIGHTRAG_SHARED is not set: no recorded data")
	}
	return filepath.Join(append([]string{root}, parts...)...)
}

func readLines[T any](t testing.TB, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []T
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var v T
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func readJSON[T any](t testing.TB, path string) (v T) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

type replayLine struct {
	DocID      string  `json:"doc_id"`
	DocOrder   int     `json:"doc_order"`
	ChunkOrder int     `json:"chunk_order"`
	Extract    string  `json:"extract"`
	Glean      *string `json:"glean"`
}

func (l replayLine) parse() MergedExtraction {
	var glean Extraction
	if l.Glean != nil {
		glean = ParseExtraction(*l.Glean)
	}
	return MergeGleaning(ParseExtraction(l.Extract), glean)
}

// refusedRecord is a row of dropped_records.json: the fields of a record that
// the official parser refused, or the text of a piece it saw no record in.
type refusedRecord struct {
	Kind   string          `json:"kind"`
	Record json.RawMessage `json:"record"`
}

// refusals knows what the official parser refused, in its own segmentation.
type refusals struct {
	fields map[string]bool // joined, each cut to 120 characters
	texts  []string        // cut to 200 characters
}

func readRefusals(t *testing.T, path string) refusals {
	r := refusals{fields: map[string]bool{}}
	for _, d := range readJSON[[]refusedRecord](t, path) {
		var fields []string
		if json.Unmarshal(d.Record, &fields) == nil {
			r.fields[strings.Join(fields, "\x00")] = true
			continue
		}
		var text string
		if err := json.Unmarshal(d.Record, &text); err != nil {
			t.Fatal(err)
		}
		r.texts = append(r.texts, text)
	}
	return r
}

func (r refusals) holds(fields []string) bool {
	cut := make([]string, len(fields))
	for i, f := range fields {
		cut[i] = firstRunes(f, 120)
	}
	return r.fields[strings.Join(cut, "\x00")]
}

// officialRow is how the official parser of the old format finds a record in a
// piece: from the first parenthesis to the last one on the same line.
var officialRow = regexp.MustCompile(`\((.*)\)`)

func trimAll(fields []string) []string {
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields
}

// split cuts an answer into the pieces that the official parser accepted or
// had no reason to refuse, joined again, and those it refused.
func (r refusals) split(answer string) (accepted string, refused []string) {
	sep := "\n"
	if !strings.Contains(answer, delimiter) {
		sep = "##"
	}
	var kept []string
	for piece := range strings.SplitSeq(answer, sep) {
		bad := false
		if sep == "\n" {
			bad = r.holds(trimAll(strings.Split(piece, delimiter)))
		} else if m := officialRow.FindStringSubmatch(piece); m != nil {
			bad = r.holds(trimAll(strings.Split(m[1], oldDelimiter)))
		} else {
			text := firstRunes(strings.TrimSpace(piece), 200)
			bad = text != "" && slices.Contains(r.texts, text)
		}
		if bad {
			refused = append(refused, piece)
		} else {
			kept = append(kept, piece)
		}
	}
	return strings.Join(kept, sep), refused
}

// parsePiece reads a piece of an answer in the format of the whole.
func parsePiece(piece string) Extraction {
	var p parser
	if strings.Contains(piece, delimiter) {
		p.parseCurrent(piece)
	} else {
		p.parseOld(piece)
	}
	return p.out
}

func recordKeys(e Extraction) map[string]int {
	keys := map[string]int{}
	for _, r := range e.Entities {
		keys["entity "+r.Name+" / "+r.Type+" / "+r.Description]++
	}
	for _, r := range e.Relations {
		keys["relation "+r.Source+" / "+r.Target+" / "+r.Description]++
	}
	return keys
}

// TestReplayMatchesOfficialGraph replays recorded answers and compares the
// union of the records with the graph the official implementation made of
// them. What we read and it refused is taken out first, and must come from a
// piece that it is known to have refused.
func TestReplayMatchesOfficialGraph(t *testing.T) {
	for _, store := range []string{"pararthdave_lightrag", "stavidphan_books_ollama", "nano_afe8fad", "murali_main"} {
		t.Run(store, func(t *testing.T) {
			dir := sharedData(t, "data", "golden", store)
			refused := readRefusals(t, filepath.Join(dir, "dropped_records.json"))
			lines := readLines[replayLine](t, filepath.Join(dir, "replay.jsonl"))
			recovered := 0
			for i := range lines {
				for _, answer := range []*string{&lines[i].Extract, lines[i].Glean} {
					if answer == nil {
						continue
					}
					accepted, pieces := refused.split(*answer)
					ours, theirs := recordKeys(ParseExtraction(*answer)), recordKeys(ParseExtraction(accepted))
					possible := map[string]int{}
					for _, p := range pieces {
						for k, n := range recordKeys(parsePiece(p)) {
							possible[k] += n
						}
					}
					for k, n := range ours {
						if extra := n - theirs[k]; extra > 0 {
							recovered += extra
							t.Logf("recovered: %.160s", k)
							if extra > possible[k] {
								t.Errorf("not from a refused piece: %s", k)
							}
						}
					}
					for k, n := range theirs {
						if ours[k] < n {
							t.Errorf("lost beside a refused piece: %s", k)
						}
					}
					*answer = accepted
				}
			}
			want := readJSON[goldenGraph](t, filepath.Join(dir, "graph_expected.json"))
			compared, diffs := graphDiff(buildUnion(lines), want)
			t.Logf("compared %d fields, %d differ, %d records recovered", compared, len(diffs), recovered)
			for _, d := range diffs {
				t.Error(d)
			}
			if compared == 0 {
				t.Fatal("nothing compared")
			}
		})
	}
}

// TestReplaySurvivorsMatchesOfficialGraph does the same for the documents left
// after a deletion. The official parser refused one record of them at most.
func TestReplaySurvivorsMatchesOfficialGraph(t *testing.T) {
	for _, store := range []string{"incremental_pararthdave", "incremental_murali"} {
		t.Run(store, func(t *testing.T) {
			dir := sharedData(t, "data", "golden", store)
			var want goldenGraph
			fresh := readJSON[struct {
				Nodes []struct {
					Name, Type, Description string
					SourcePos               [][2]int `json:"source_pos"`
					Degree                  int
				}
				Edges []struct {
					Src, Tgt, Keywords, Description string
					Weight                          float64
					SourcePos                       [][2]int `json:"source_pos"`
				}
			}](t, filepath.Join(dir, "fresh_survivors.json"))
			for _, n := range fresh.Nodes {
				want.Nodes = append(want.Nodes, goldenNode{Name: n.Name, Type: n.Type, Degree: n.Degree,
					Fragments: strings.Split(n.Description, "<SEP>"), Sources: n.SourcePos})
			}
			for _, e := range fresh.Edges {
				g := goldenEdge{Src: e.Src, Tgt: e.Tgt, Weight: &e.Weight, Sources: e.SourcePos,
					Fragments: strings.Split(e.Description, "<SEP>")}
				if e.Keywords != "" {
					g.Keywords = strings.Split(e.Keywords, ",")
				}
				want.Edges = append(want.Edges, g)
			}
			compared, diffs := graphDiff(buildUnion(readLines[replayLine](t, filepath.Join(dir, "replay_survivors.jsonl"))), want)
			t.Logf("compared %d fields, %d differ", compared, len(diffs))
			for _, d := range diffs {
				t.Error(d)
			}
			if compared == 0 {
				t.Fatal("nothing compared")
			}
		})
	}
}
