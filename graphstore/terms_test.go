package graphstore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkEdits compares the edits between two texts with the counts of their
// words.
func checkEdits(t tb, x *lexer, old, now string) {
	t.Helper()
	var counts [2]map[string]int
	for i, text := range [2]string{old, now} {
		counts[i] = make(map[string]int)
		for _, word := range strings.Fields(text) {
			counts[i][word]++
		}
	}
	got := make(map[string]int)
	for _, e := range x.edits(old, now) {
		if _, twice := got[e.term]; twice {
			t.Fatalf("%q twice", e.term)
		}
		got[e.term] = int(e.count)
	}
	want := make(map[string]int)
	for _, m := range counts {
		for term := range m {
			if was, is := min(counts[0][term], 255), min(counts[1][term], 255); was != is {
				want[term] = is
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Fatalf("%q to %q: %v, want %v", old, now, got, want)
	}
}

func TestTermEditsAreTheDifference(t *testing.T) {
	x := newLexer(words{"words-1"})
	rapid.Check(t, func(t *rapid.T) {
		var texts [2]string
		for i := range texts {
			var b strings.Builder
			for range rapid.SampledFrom([]int{0, 3, 700, 5000}).Draw(t, "words") {
				fmt.Fprintf(&b, "w%d ", rapid.IntRange(0, 1500).Draw(t, "word"))
			}
			b.WriteString(strings.Repeat("many ", rapid.IntRange(0, 600).Draw(t, "many")))
			texts[i] = b.String()
		}
		checkEdits(t, x, texts[0], texts[1])
	})
}

func TestTermEditsOfTextsThatShareLines(t *testing.T) {
	x := newLexer(words{"words-1"})
	line := rapid.StringMatching(`([a-c]{1,2}( [a-c]{1,2}){0,3})?`)
	rapid.Check(t, func(t *rapid.T) {
		old := rapid.SliceOfN(line, 0, 6).Draw(t, "old")
		from := rapid.IntRange(0, len(old)).Draw(t, "from")
		to := rapid.IntRange(from, len(old)).Draw(t, "to")
		now := slices.Concat(old[:from], rapid.SliceOfN(line, 0, 2).Draw(t, "lines"), old[to:])
		checkEdits(t, x, strings.Join(old, "\n"), strings.Join(now, "\n"))
	})
}

func TestSharedLines(t *testing.T) {
	for _, c := range []struct {
		a, b       string
		head, tail int
	}{
		{"", "x", 0, 0},
		{"a", "a\nb", 1, 0},
		{"b", "a\nb", 0, 1},
		{"a\nb", "a\nx\nb", 2, 1},
		{"ab", "ac", 0, 0},
		{"a\nbx\nc", "a\nby\nc", 2, 2},
		{"xa\nc", "a\nc", 0, 2},
		{"a\na", "a\na\na", 3, 0},
	} {
		if head, tail := sharedLines(c.a, c.b); head != c.head || tail != c.tail {
			t.Errorf("%q and %q: %d and %d bytes, want %d and %d", c.a, c.b, head, tail, c.head, c.tail)
		}
		if head, tail := sharedLines(c.b, c.a); head != c.head || tail != c.tail {
			t.Errorf("%q and %q: %d and %d bytes, want %d and %d", c.b, c.a, head, tail, c.head, c.tail)
		}
	}
}
