package engine

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

// The recorded stores, and what their import must come to.
var realStores = []struct {
	name   string
	dim    int
	want   ImportReport
	issues map[string]int
}{
	{"dickens-gpt4o-mini", 1536, ImportReport{
		Documents: 1, Chunks: 42, Entities: 378, Relations: 259, Answers: 84, Replayed: 42, Vectors: 376 + 259 + 42,
		VectorsMissing: 2, Unquoted: true,
	}, map[string]int{"description summarised": 2, "sources more": 1}},
	{"books-ollama", 768, ImportReport{
		Documents: 2, Chunks: 52, Entities: 978, Relations: 630, Answers: 104, Replayed: 52, Vectors: 929 + 630 + 52,
		VectorsMissing: 49, Unquoted: true,
	}, map[string]int{
		"answer without row": 21, "description differs": 9, "description summarised": 2, "keywords differ": 2, "name changed": 20,
		"name twice": 2, "self loop": 1, "sources more": 66, "type differs": 1, "vector without owner": 1, "weight differs": 45,
	}},
}

func TestRecordedStoresImportCompletely(t *testing.T) {
	for _, c := range realStores {
		t.Run(c.name, func(t *testing.T) {
			dir := sharedData(t, "stores", c.name)
			m := &fakeModel{}
			o := importOptions(m, c.dim)
			o.Tokenizer = ""
			db, err := Open("store", o)
			if err != nil {
				t.Fatal(err)
			}
			rep := importRAG(t, db, dir, LightRAGImport{})
			if kinds := rep.kinds(); !maps.Equal(kinds, c.issues) {
				t.Errorf("issues: %#v", kinds)
				for _, i := range rep.Issues {
					t.Logf("%s: %+v", i.Kind, i.Examples)
				}
			}
			got := *rep
			got.Source, got.Files, got.Issues, got.FromRows = "", nil, nil, 0
			if want := c.want; fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Errorf("report %+v\nwant   %+v", got, want)
			}
			v := db.View()
			if n := v.Counts(); int(n.Entities) != c.want.Entities || int(n.Relations) != c.want.Relations || int(n.Chunks) != c.want.Chunks {
				t.Errorf("%+v", n)
			}
			v.Close()
			sound(t, db)
			want := exported(t, db)
			if again := importRAG(t, db, dir, LightRAGImport{}); again.Documents != 0 || again.Vectors != 0 || exported(t, db) != want {
				t.Errorf("the second import is not idle: %+v", again)
			}
			docs, err := db.Documents()
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			db = opened(t, "store", o)
			if exported(t, db) != want {
				t.Error("the reopened store differs")
			}
			gone, err := db.DeleteDocuments(t.Context(), docs[0].ID)
			if err != nil || len(gone.Deleted) != 1 {
				t.Fatalf("%+v %v", gone, err)
			}
			if strings.Contains(exported(t, db), docs[0].ID) {
				t.Error("the deleted document is still a source")
			}
			sound(t, db)
			for _, call := range m.calls {
				t.Errorf("a model was asked: %s", call.Task)
			}
		})
	}
}

// fixed embeds the questions of a test as what they stand for.
type fixed struct {
	*words
	vectors map[string][]float32
}

func (f fixed) Embed(_ context.Context, texts []string, _ llm.Purpose) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if out[i] = f.vectors[t]; out[i] == nil {
			return nil, fmt.Errorf("unexpected text %q", t)
		}
	}
	return out, nil
}

// vdbOf reads a file of vectors in the plainest way.
func vdbOf(t *testing.T, dir, name string) (rows []map[string]any, vectors [][]float32) {
	t.Helper()
	var file struct {
		Dim    int              `json:"embedding_dim"`
		Data   []map[string]any `json:"data"`
		Matrix string           `json:"matrix"`
	}
	readJSON(t, filepath.Join(dir, name), &file)
	b, err := base64.StdEncoding.DecodeString(file.Matrix)
	if err != nil {
		t.Fatal(err)
	}
	for range file.Data {
		v := make([]float32, file.Dim)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		b = b[4*file.Dim:]
		vectors = append(vectors, v)
	}
	return file.Data, vectors
}

// scored is a name and how near it is.
type scored struct {
	name  string
	score float64
}

// nearestInFile is what a scan of the file finds.
func nearestInFile(q []float32, names []string, vectors [][]float32) []scored {
	var all []scored
	for i, v := range vectors {
		if s := cosine(q, v); names[i] != "" && s >= 0.2 {
			all = append(all, scored{names[i], s})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	return all
}

// sameHits compares names in order, and lets names change places whose scores
// are equal but for rounding.
func sameHits(got []string, want []scored, k int) error {
	if n := min(k, len(want)); len(got) != n {
		return fmt.Errorf("%d hits, want %d", len(got), n)
	}
	at := make(map[string]float64, len(want))
	for _, w := range want {
		at[w.name] = w.score
	}
	for i, name := range got {
		s, ok := at[name]
		delete(at, name)
		if !ok || math.Abs(s-want[i].score) > 1e-5 {
			return fmt.Errorf("hit %d is %q with %v, want %q with %v", i, name, s, want[i].name, want[i].score)
		}
	}
	return nil
}

func TestImportedVectorsAreFoundAsByBruteForce(t *testing.T) {
	unquote := func(v any) string { s, _ := v.(string); return (&lightragImport{quoted: true}).storeName(s) }
	for _, c := range realStores {
		t.Run(c.name, func(t *testing.T) {
			dir := sharedData(t, "stores", c.name)
			entities, entityVectors := vdbOf(t, dir, entityVectorsFile)
			relations, relationVectors := vdbOf(t, dir, relationVectorsFile)
			chunks, chunkVectors := vdbOf(t, dir, chunkVectorsFile)
			rng := rand.New(rand.NewPCG(1, 2))
			emb := fixed{&words{name: "model-of-the-store", dim: c.dim}, make(map[string][]float32)}
			var questions []string
			for i := range 20 { // between two texts, and noise
				q := make([]float32, c.dim)
				for _, v := range [][]float32{entityVectors[rng.IntN(len(entities))], chunkVectors[rng.IntN(len(chunks))]} {
					for j := range q {
						q[j] += v[j] + float32(rng.NormFloat64())*0.01
					}
				}
				questions = append(questions, fmt.Sprintf("question %d", i))
				emb.vectors[questions[i]] = q
			}
			o := importOptions(&fakeModel{}, c.dim)
			o.Embedder = emb
			db := opened(t, "store", o)
			importRAG(t, db, dir, LightRAGImport{})

			v := db.View()
			defer v.Close()
			var entityNames, relationNames, chunkNames []string
			last := make(map[string]int) // of two rows of one name the last counts
			for i, row := range entities {
				e, err := v.Entity(unquote(row["entity_name"]))
				if err != nil {
					t.Fatal(err)
				}
				if j, twice := last[e.Name]; twice {
					entityNames[j] = ""
				}
				last[e.Name] = i
				entityNames = append(entityNames, e.Name)
			}
			for _, row := range relations {
				name := ""
				if r, err := v.Relation(unquote(row["src_id"]), unquote(row["tgt_id"])); err == nil {
					name = r.Src + " - " + r.Tgt
				}
				relationNames = append(relationNames, name)
			}
			order := make(map[string]string)
			var texts map[string]struct {
				Doc   string `json:"full_doc_id"`
				Order int    `json:"chunk_order_index"`
			}
			readJSON(t, filepath.Join(dir, textChunksFile), &texts)
			for id, x := range texts {
				order[id] = fmt.Sprintf("%s#%d", x.Doc, x.Order)
			}
			for _, row := range chunks {
				chunkNames = append(chunkNames, order[row["__id__"].(string)])
			}

			compared := 0
			for _, q := range questions {
				vec := emb.vectors[q]
				big := Query{Text: q, Match: MatchVectors, TopK: 40, ChunkTopK: 20, MaxEntityTokens: 1e6, MaxRelationTokens: 1e6, MaxTotalTokens: 4e6, MaxChunkTokens: 1e6}
				local, global, naive := big, big, big
				local.Mode, local.LowLevel = Local, []string{q}
				global.Mode, global.HighLevel = Global, []string{q}
				naive.Mode = Naive
				for _, x := range []struct {
					q    Query
					want []scored
					k    int
					hits func(r *Result) []string
				}{
					{local, nearestInFile(vec, entityNames, entityVectors), 40, func(r *Result) (out []string) {
						for _, e := range r.Entities {
							out = append(out, e.Name)
						}
						return out
					}},
					{global, nearestInFile(vec, relationNames, relationVectors), 40, func(r *Result) (out []string) {
						for _, e := range r.Relations {
							out = append(out, e.Src+" - "+e.Tgt)
						}
						return out
					}},
					{naive, nearestInFile(vec, chunkNames, chunkVectors), 20, func(r *Result) (out []string) {
						for _, e := range r.Chunks {
							out = append(out, e.ID)
						}
						return out
					}},
				} {
					r, err := db.Retrieve(t.Context(), x.q)
					if err != nil {
						t.Fatal(err)
					}
					if err := sameHits(x.hits(r), x.want, x.k); err != nil {
						t.Errorf("%s, %s: %v", x.q.Mode, q, err)
					}
					compared += len(x.want)
				}
			}
			if compared == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}
