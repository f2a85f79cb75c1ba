package engine

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

func chars4(t testing.TB) llm.Tokenizer {
	t.Helper()
	tok, err := llm.NewTokenizer("chars4")
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func texts(t testing.TB, text string, size int) []string {
	t.Helper()
	var out []string
	for i, c := range chunkParagraphs(chars4(t), text, size) {
		if c.Order != uint32(i) || int(c.Tokens) != chars4(t).Count(c.Text) || int(c.Tokens) > size {
			t.Errorf("chunk %d: %d tokens, %+v", i, size, c)
		}
		out = append(out, c.Text)
	}
	return out
}

func TestParagraphChunksHoldTheWholeText(t *testing.T) {
	squash := func(s string) string { return strings.Join(strings.Fields(s), "") }
	rng := rand.New(rand.NewPCG(3, 4))
	for _, text := range []string{
		"", " \n\n \t\n", "one", "one\n\ntwo", "\n\n one \r\n\r\n\ttwo\n\n\n\n", "a line\nand one more\n \nsecond\n",
		strings.Repeat("x", 10_000), strings.Repeat("same\n\n", 3000), strings.Join(prose(rng, 80), "\n\n"),
		strings.Join(prose(rng, 5), "\n \t \n") + strings.Repeat("long ", 4000),
	} {
		got := texts(t, text, 300)
		if squash(strings.Join(got, "")) != squash(text) || slices.Contains(got, "") {
			t.Errorf("%.40q: %d chunks do not make the text", text, len(got))
		}
	}
	if got := texts(t, "one\n\ntwo", 300); !slices.Equal(got, []string{"one\n\ntwo"}) {
		t.Errorf("%q", got)
	}
}

// Chunks are neither tiny nor as many as paragraphs.
func TestParagraphChunksAreAboutHalfOfTheLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	text := strings.Join(prose(rng, 1000), "\n\n")
	got := texts(t, text, 1200)
	mean := chars4(t).Count(text) / len(got)
	if mean < 400 || mean > 900 {
		t.Errorf("%d chunks of %d tokens on average", len(got), mean)
	}
}

// Borders far from an edit stay where they are: the rule that the limit of
// three rests on, over many more edits than a store is put through.
func TestAnEditMovesNoDistantBorder(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	worst := 0
	for round := range 40 {
		text := prose(rng, 100)
		old := texts(t, strings.Join(text, "\n\n"), 1200)
		known := make(map[string]bool)
		for _, c := range old {
			known[c] = true
		}
		for edit := range 30 {
			next := slices.Clone(text)
			at := rng.IntN(len(next))
			switch edit % 3 {
			case 0:
				next[at] = paragraphOf(rng, edit)
			case 1:
				next = slices.Insert(next, at, paragraphOf(rng, edit))
			case 2:
				next = slices.Delete(next, at, at+1)
			}
			fresh := 0
			for _, c := range texts(t, strings.Join(next, "\n\n"), 1200) {
				if !known[c] {
					fresh++
				}
			}
			worst = max(worst, fresh)
			if fresh > 3 {
				t.Errorf("round %d, edit %d at %d: %d new chunks", round, edit, at, fresh)
			}
		}
	}
	t.Logf("at most %d new chunks in 1200 edits", worst)
}
