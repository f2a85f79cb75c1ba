package workload

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"testing"
)

// writeLine hashes a chunk as a line of the published file: ", " and ": "
// between the parts of the object, ASCII only.
func writeLine(h hash.Hash, c Chunk) {
	esc := func(s string) string {
		b, _ := json.Marshal(s)
		return string(b)
	}
	answer := esc(c.Answer)
	// encoding/json escapes < and >; the published file does not.
	var plain []byte
	for i := 0; i < len(answer); i++ {
		if i+6 <= len(answer) && answer[i:i+6] == `\u003c` {
			plain = append(plain, '<')
			i += 5
		} else if i+6 <= len(answer) && answer[i:i+6] == `\u003e` {
			plain = append(plain, '>')
			i += 5
		} else {
			plain = append(plain, answer[i])
		}
	}
	fmt.Fprintf(h, `{"id": %s, "text": %s, "answer": %s}`+"\n", esc(c.ID), esc(c.Text), plain)
}

func TestCorpusHasThePublishedBytes(t *testing.T) {
	c := NewCorpus()
	h := sha256.New()
	sizes := map[int]Size{
		147:  {147, 1176, 1002, 1176},
		836:  {836, 6688, 5002, 6681},
		3785: {3785, 30280, 20004, 30097},
	}
	for i := 1; i <= 3985; i++ {
		writeLine(h, c.Next())
		if want, ok := sizes[i]; ok && c.Size() != want {
			t.Fatalf("after %d chunks: %+v, want %+v", i, c.Size(), want)
		}
	}
	const want = "cef37675e6e637efa634c153f896832313914b722e5b25ca1dbffd520cdd25af"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("sha256 of the first 3,985 chunks is %s, want %s", got, want)
	}
}

func TestQuestionsAreThePublishedOnes(t *testing.T) {
	shared := os.Getenv("LIGHTRAG_SHARED")
	if shared == "" {
		t.Skip("LIGHTRAG_SHARED names no folder with recorded data")
	}
	f, err := os.Open(filepath.Join(shared, "data/workload/queries.jsonl"))
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	c := NewCorpus()
	for range 836 {
		c.Next()
	}
	got := c.Questions(200)
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); n++ {
		var q struct {
			ID, Query string
			LL, HL    []string
		}
		if err := json.Unmarshal(sc.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprint(q.ID, q.Query, q.LL, q.HL); fmt.Sprint(got[n].ID, got[n].Text, got[n].Low, got[n].High) != want {
			t.Fatalf("question %d: %+v, want %s", n, got[n], want)
		}
	}
	if n != 200 {
		t.Fatalf("compared %d questions, want 200", n)
	}
}

func TestEmbeddingHasThePublishedValues(t *testing.T) {
	e := NewEmbedder(384)
	for _, tc := range []struct {
		text string
		head [4]float32
		last float32
	}{
		{"Hello world", [4]float32{0.08700728, 0.06669313, 0.04572451, -0.04656748}, 0.03241674},
		{"Ebenezer Scrooge\nA miser who is visited by three Ghosts.", [4]float32{-0.10685873, 0.02313464, 0.00015318, -0.10008309}, -0.03547142},
		{"南开大学 Nankai University 2023 — Café, ИНН 42", [4]float32{0.02991609, 0.10041938, 0.13379391, -0.00717629}, -0.01580948},
		{"推免研究生", [4]float32{-0.00516478, -0.00521048, 0.06006673, -0.03764973}, 0.01708904},
		{"", [4]float32{-0.00516478, -0.00521048, 0.06006673, -0.03764973}, 0.01708904},
	} {
		v := e.Vector(tc.text)
		for i, want := range append(tc.head[:], tc.last) {
			got := v[min(i, 3)]
			if i == 4 {
				got = v[383]
			}
			if d := got - want; d > 1e-8 || d < -1e-8 {
				t.Errorf("%q: component %d is %.8f, want %.8f", tc.text, i, got, want)
			}
		}
	}
}
