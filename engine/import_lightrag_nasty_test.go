package engine

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/format"
)

// putFile writes a file of a directory.
func putFile(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// editFile replaces the first place of old.
func editFile(t testing.TB, dir, name, old, now string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), old) {
		t.Fatalf("%s does not hold %q", name, old)
	}
	putFile(t, dir, name, strings.Replace(string(b), old, now, 1))
}

// matrixOf reads the matrix of a vdb file.
func matrixOf(t testing.TB, dir, name string) (file map[string]any, matrix []byte) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	if matrix, err = base64.StdEncoding.DecodeString(file["matrix"].(string)); err != nil {
		t.Fatal(err)
	}
	return file, matrix
}

func putJSON(t testing.TB, dir, name string, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, dir, name, string(b))
}

func TestDamagedDirectories(t *testing.T) {
	s := someStore(2, 3, 12, 21)
	entities, relations := len(s.nodes), len(s.edges)
	all := entities + relations + 6
	cases := []struct {
		name   string
		form   string
		damage func(t *testing.T, dir string)
		issue  string // that must be there
		count  int    // 0: any
		check  func(t *testing.T, db *DB, rep *ImportReport)
	}{
		{"the matrix is no base64", form13, func(t *testing.T, dir string) {
			editFile(t, dir, entityVectorsFile, `"matrix": "`, `"matrix": "!!!!`)
		}, "file damaged", 1, func(t *testing.T, _ *DB, rep *ImportReport) {
			if rep.Vectors != relations+6 || rep.VectorsMissing != entities {
				t.Errorf("%d vectors, %d missing", rep.Vectors, rep.VectorsMissing)
			}
		}},
		{"the matrix is no base64 and rows have vectors", form15, func(t *testing.T, dir string) {
			editFile(t, dir, entityVectorsFile, `"matrix": "`, `"matrix": "!!!!`)
		}, "vector recovered", entities, func(t *testing.T, _ *DB, rep *ImportReport) {
			if rep.Vectors != all || rep.VectorsMissing != 0 {
				t.Errorf("%d vectors, %d missing", rep.Vectors, rep.VectorsMissing)
			}
		}},
		{"the matrix ends early", form13, func(t *testing.T, dir string) {
			file, m := matrixOf(t, dir, entityVectorsFile)
			file["matrix"] = base64.StdEncoding.EncodeToString(m[:4*s.dim*2+10])
			putJSON(t, dir, entityVectorsFile, file)
		}, "matrix length", 1, func(t *testing.T, _ *DB, rep *ImportReport) {
			if rep.Vectors != 2+relations+6 || rep.Issue("vector unusable") != entities-2 {
				t.Errorf("%d vectors; %v", rep.Vectors, rep.kinds())
			}
		}},
		{"the matrix is too long", form13, func(t *testing.T, dir string) {
			file, m := matrixOf(t, dir, relationVectorsFile)
			file["matrix"] = base64.StdEncoding.EncodeToString(append(m, m[:4*s.dim]...))
			putJSON(t, dir, relationVectorsFile, file)
		}, "matrix length", 1, func(t *testing.T, _ *DB, rep *ImportReport) {
			if rep.Vectors != all {
				t.Errorf("%d vectors", rep.Vectors)
			}
		}},
		{"the matrix comes first", form13, func(t *testing.T, dir string) {
			file, _ := matrixOf(t, dir, entityVectorsFile)
			data, _ := json.Marshal(file["data"])
			putFile(t, dir, entityVectorsFile, fmt.Sprintf(`{"additional_data": {"x": [1, {}]}, "matrix": %q, "data": %s, "embedding_dim": %d}`, file["matrix"], data, s.dim))
		}, "", 0, func(t *testing.T, _ *DB, rep *ImportReport) {
			if rep.Vectors != all {
				t.Errorf("%d vectors", rep.Vectors)
			}
		}},
		{"rows hold NaN, Inf and zeros", form13, func(t *testing.T, dir string) {
			file, m := matrixOf(t, dir, entityVectorsFile)
			for i := range 4 * s.dim {
				m[i] = 0
			}
			binary.LittleEndian.PutUint32(m[4*s.dim:], math.Float32bits(float32(math.NaN())))
			binary.LittleEndian.PutUint32(m[2*4*s.dim:], math.Float32bits(float32(math.Inf(1))))
			file["matrix"] = base64.StdEncoding.EncodeToString(m)
			putJSON(t, dir, entityVectorsFile, file)
		}, "vector unusable", 3, func(t *testing.T, _ *DB, rep *ImportReport) {
			if rep.Vectors != all-3 || rep.VectorsMissing != 3 {
				t.Errorf("%d vectors, %d missing", rep.Vectors, rep.VectorsMissing)
			}
		}},
		{"another dimension", form13, func(t *testing.T, dir string) {
			file, _ := matrixOf(t, dir, entityVectorsFile)
			file["embedding_dim"] = 2 * s.dim
			putJSON(t, dir, entityVectorsFile, file)
		}, "vector dimension", 1, func(t *testing.T, _ *DB, rep *ImportReport) {
			if rep.Vectors != relations+6 {
				t.Errorf("%d vectors", rep.Vectors)
			}
		}},
		{"no vectors at all", form15, func(t *testing.T, dir string) {
			for _, name := range []string{entityVectorsFile, relationVectorsFile, chunkVectorsFile} {
				putFile(t, dir, name, fmt.Sprintf(`{"embedding_dim": %d, "data": [], "matrix": ""}`, s.dim))
			}
		}, "", 0, func(t *testing.T, db *DB, rep *ImportReport) {
			if n, err := db.store.StaleCount(); rep.Vectors != 0 || n != all || err != nil {
				t.Errorf("%d vectors, %d stale", rep.Vectors, n)
			}
		}},
		{"a vector of another text", form15, func(t *testing.T, dir string) {
			file, _ := matrixOf(t, dir, entityVectorsFile)
			file["data"].([]any)[0].(map[string]any)["content"] = "what it was before"
			putJSON(t, dir, entityVectorsFile, file)
		}, "vector of another text", 0, func(t *testing.T, db *DB, rep *ImportReport) {
			before := rep.VectorsStale
			if n, err := db.store.StaleCount(); err != nil || n != before || before == 0 || rep.Vectors != all {
				t.Errorf("%d stale, %d in the report, %d vectors", n, before, rep.Vectors)
			}
			v := db.View()
			defer v.Close()
			id, err := v.entity(s.nodes[0].name)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := v.v.Slot(format.KindEntity, uint32(id)); !ok {
				t.Error("the vector does not serve")
			}
		}},
		{"ids twice", form13, func(t *testing.T, dir string) {
			file, m := matrixOf(t, dir, entityVectorsFile)
			data := file["data"].([]any)
			file["data"] = append(data, data[0])
			file["matrix"] = base64.StdEncoding.EncodeToString(append(m, m[:4*s.dim]...))
			putJSON(t, dir, entityVectorsFile, file)
		}, "row twice", 1, nil},
		{"chunks twice", form13, func(t *testing.T, dir string) {
			c := s.docs[0].chunks[0]
			editFile(t, dir, textChunksFile, "{", fmt.Sprintf(`{"%s": {"content": "an older text of this chunk", "chunk_order_index": 0, "full_doc_id": %q},`, c.id, s.docs[0].id))
		}, "row twice", 1, nil},
		{"chunks of one order", form13, func(t *testing.T, dir string) {
			editFile(t, dir, textChunksFile, `"chunk_order_index": 1`, `"chunk_order_index": 0`)
		}, "chunk order twice", 1, nil},
		{"rows of other kinds", form13, func(t *testing.T, dir string) {
			for _, name := range []string{textChunksFile, fullDocsFile, docStatusFile, answersFile} {
				editFile(t, dir, name, "{", `{"a": null, "b": [1, 2, {"c": NaN}], "d": -Infinity, "e": "f",`)
			}
		}, "row malformed", 16, nil},
		{"byte order marks", form13, func(t *testing.T, dir string) {
			for _, name := range []string{textChunksFile, fullDocsFile, entityVectorsFile, graphFile} {
				editFile(t, dir, name, "", "\xef\xbb\xbf")
			}
		}, "", 0, nil},
		{"the graph ends early", form13, func(t *testing.T, dir string) {
			b, err := os.ReadFile(filepath.Join(dir, graphFile))
			if err != nil {
				t.Fatal(err)
			}
			putFile(t, dir, graphFile, string(b[:strings.LastIndex(string(b), "</edge>")]))
		}, "file damaged", 1, func(t *testing.T, _ *DB, rep *ImportReport) {
			if rep.Entities != entities || rep.Relations != relations-1 {
				t.Errorf("%d entities, %d relations", rep.Entities, rep.Relations)
			}
		}},
		{"the chunks end early", form13, func(t *testing.T, dir string) {
			b, err := os.ReadFile(filepath.Join(dir, textChunksFile))
			if err != nil {
				t.Fatal(err)
			}
			putFile(t, dir, textChunksFile, string(b[:len(b)-40]))
		}, "file damaged", 1, nil},
		{"control characters in the graph", form13, func(t *testing.T, dir string) {
			editFile(t, dir, graphFile, "as told in", "as\x0c to\x01ld &#x1; \xff\xed\xb2\x9a in")
		}, "text cleaned", 1, nil},
		{"a self loop", form13, func(t *testing.T, dir string) {
			editFile(t, dir, graphFile, "  </graph>", fmt.Sprintf("<edge source=%q target=%q/>  </graph>", s.nodes[0].name, s.nodes[0].name))
		}, "self loop", 1, nil},
		{"an edge to nowhere", form13, func(t *testing.T, dir string) {
			editFile(t, dir, graphFile, "  </graph>", fmt.Sprintf("<edge source=%q target=\"NOBODY\"/>  </graph>", s.nodes[0].name))
		}, "endpoint missing", 1, func(t *testing.T, db *DB, _ *ImportReport) {
			v := db.View()
			defer v.Close()
			if e, err := v.Entity("NOBODY"); err != nil || e.Type != "UNKNOWN" || len(e.Sources) != 1 || !strings.HasPrefix(e.Sources[0], unknownSourcesID) {
				t.Errorf("%+v %v", e, err)
			}
		}},
		{"entities made by hand", form13, func(t *testing.T, dir string) {
			node := func(name, text, source string) string {
				return fmt.Sprintf(`<node id=%q><data key="d11">person</data><data key="d10">%s</data><data key="d9">%s</data></node>`, name, text, source)
			}
			editFile(t, dir, graphFile, "  </graph>", node("HAND MADE", "Somebody wrote this.", "manual_creation")+node("CUSTOM", "From a custom graph.", "UNKNOWN")+
				node("NOWHERE", "From a chunk that is gone.", "chunk-gone")+"  </graph>")
		}, "source unknown", 3, func(t *testing.T, db *DB, _ *ImportReport) {
			v := db.View()
			defer v.Close()
			for _, name := range []string{"HAND MADE", "CUSTOM", "NOWHERE"} {
				if e, err := v.Entity(name); err != nil || len(e.Fragments) != 1 || e.Type != "person" {
					t.Errorf("%+v %v", e, err)
				}
			}
			_, chunks, err := db.Document(unknownSourcesID)
			if err != nil || len(chunks) != 3 || chunks[0].Content != "HAND MADE: Somebody wrote this." {
				t.Errorf("%+v %v", chunks, err)
			}
		}},
		{"a name that only we normalise", form13, func(t *testing.T, dir string) {
			editFile(t, dir, graphFile, `<node id="`+s.nodes[0].name+`">`, `<node id="“`+s.nodes[0].name+`”">`)
		}, "name changed", 1, nil},
		{"two names that are one", form13, func(t *testing.T, dir string) {
			editFile(t, dir, graphFile, "  </graph>", fmt.Sprintf(`<node id=" %s "><data key="d11">person</data><data key="d10">Also this.</data><data key="d9">%s</data></node>  </graph>`,
				s.nodes[0].name, s.docs[0].chunks[0].id))
		}, "name twice", 1, func(t *testing.T, db *DB, _ *ImportReport) {
			v := db.View()
			defer v.Close()
			if e, err := v.Entity(s.nodes[0].name); err != nil || !slices.Contains(e.Fragments, "Also this.") {
				t.Errorf("%+v %v", e, err)
			}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := s.write(t, c.form)
			c.damage(t, dir)
			m := &fakeModel{}
			db := opened(t, "store", importOptions(m, s.dim))
			rep := importRAG(t, db, dir, LightRAGImport{})
			switch n := rep.Issue(c.issue); {
			case c.issue == "" && len(slices.DeleteFunc(rep.Issues, func(i ImportIssue) bool { return i.Kind == "vector of another text" })) > 0:
				t.Errorf("issues: %v", rep.kinds())
			case c.issue != "" && (n == 0 || c.count != 0 && n != c.count):
				t.Errorf("%d of %q, want %d: %+v", n, c.issue, c.count, rep.Issues)
			}
			for _, i := range rep.Issues {
				if ImportIssueKinds[i.Kind] == "" {
					t.Errorf("nobody knows what %q means", i.Kind)
				}
			}
			v := db.View()
			counts := v.Counts()
			v.Close()
			if int(counts.Entities) < entities || int(counts.Relations) < relations-1 {
				t.Errorf("%+v", counts)
			}
			if c.check != nil {
				c.check(t, db, rep)
			}
			sound(t, db)
			if len(m.calls) > 0 {
				t.Error("a model was asked")
			}
		})
	}
}
