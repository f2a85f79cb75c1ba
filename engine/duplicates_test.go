package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// suggestions returns the clusters as lines "target < member [kinds]".
func suggestions(t *testing.T, db *DB, o DuplicateOptions) []string {
	t.Helper()
	clusters, err := db.Duplicates(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range clusters {
		for _, m := range c.Members {
			kinds := make([]string, len(m.Evidence))
			for i, e := range m.Evidence {
				kinds[i] = string(e.Kind)
			}
			out = append(out, fmt.Sprintf("%s < %s %s", c.Target, m.Name, kinds))
		}
	}
	return out
}

func TestDuplicates(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"case and punctuation",
			[]string{"@e|Electrons|concept|Small.", "@e|electrons|concept|Negative."},
			[]string{"Electrons < electrons [same_spelling]"}},
		{"an acronym with its long form, both near the same city",
			[]string{"@e|WHO|organization|An agency.", "@e|World Health Organization|organization|Works for health.",
				"@r|WHO|Geneva|seat|The WHO sits in Geneva.", "@r|World Health Organization|Geneva|seat|It sits there."},
			[]string{"WHO < World Health Organization [acronym shared_neighbor]"}},
		{"a title and a particle",
			[]string{"@e|이순신|person|장군.", "@e|이순신은|person|승리했다."},
			[]string{"이순신 < 이순신은 [same_form]"}},
		{"a part of a name with a common acquaintance",
			[]string{"@e|Jon|person|A boy.", "@e|Jon Marquez|person|A student.", "@e|Ana|person|A friend.",
				"@r|Jon|Ana|friends|They meet.", "@r|Jon Marquez|Ana|friends|They learn."},
			[]string{"Jon < Jon Marquez [part shared_neighbor]"}},
		{"a part of a name, and nothing else",
			[]string{"@e|Jon|person|A boy of nine.", "@e|Jon Marquez|person|Teaches chemistry."}, nil},
		{"a part of two names speaks for neither",
			[]string{"@e|Jon|person|A.", "@e|Jon Marquez|person|B.", "@e|Jon Smith|person|C.", "@e|Ana|person|D.",
				"@r|Jon|Ana|k|E.", "@r|Jon Marquez|Ana|k|F.", "@r|Jon Smith|Ana|k|G."}, nil},
		{"titles that differ",
			[]string{"@e|Mr. Smith|person|A man.", "@e|Mrs. Smith|person|A woman."}, nil},
		{"a name that fits two titles",
			[]string{"@e|Fezziwig|person|A master.", "@e|Mr. Fezziwig|person|Dances.", "@e|Mrs. Fezziwig|person|Smiles."},
			[]string{"Fezziwig < Mr. Fezziwig [same_form ambiguous]", "Fezziwig < Mrs. Fezziwig [same_form ambiguous]"}},
		{"types that differ are no certain duplicates",
			[]string{"@e|Apple|organization|Computers.", "@e|apple|food|A fruit."},
			[]string{"Apple < apple [same_spelling types_differ]"}},
		{"numbers tell apart",
			[]string{"@e|Apollo 11|event|A flight to the moon.", "@e|Apollo 12|event|A flight to the moon."}, nil},
		{"a slip of the pen, with the same description",
			[]string{"@e|Sherlock Holmes|person|A detective in Baker Street.", "@e|Sherlok Holmes|person|A detective in Baker Street."},
			[]string{"Sherlock Holmes < Sherlok Holmes [alike_spelling near_vectors]"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, db := graphOf(t, strings.Join(tt.lines, "\n"))
			if got := suggestions(t, db, DuplicateOptions{}); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// Every member has evidence with the target itself: likenesses in a chain do not
// add up to a cluster.
func TestNoChainOfDuplicates(t *testing.T) {
	_, db := graphOf(t, "@e|NASA|organization|1.\n@e|nasa|organization|2.\n@e|National Aeronautics and Space Administration|organization|3.",
		"@e|National Aeronautics and Space Administration|organization|4.")
	clusters, err := db.Duplicates(t.Context(), DuplicateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]int)
	for _, c := range clusters {
		seen[c.Target]++
		for _, m := range c.Members {
			seen[m.Name]++
			if len(m.Evidence) == 0 {
				t.Errorf("nothing speaks for %q being %q", m.Name, c.Target)
			}
		}
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%q is in %d clusters", name, n)
		}
	}
	if len(clusters) != 1 || clusters[0].Target != "NASA" && clusters[0].Target != "nasa" {
		t.Errorf("got %+v", clusters)
	}
}

func TestCertainDuplicates(t *testing.T) {
	_, db := graphOf(t, "@e|Electrons|concept|1.\n@e|ELECTRONS|concept|2.\n@e|Electron|concept|3.", "@e|Electrons|concept|4.")
	clusters, err := db.Duplicates(t.Context(), DuplicateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(clusters) != 1 || clusters[0].Target != "Electrons" || clusters[0].Sources != 2 || clusters[0].Score != 1 {
		t.Fatalf("got %+v", clusters)
	}
	for _, m := range clusters[0].Members {
		if want := m.Name == "ELECTRONS"; m.Certain != want {
			t.Errorf("%q is certain: %v", m.Name, m.Certain)
		}
	}
	if got := suggestions(t, db, DuplicateOptions{MinScore: 1}); len(got) != 1 {
		t.Errorf("of score 1 there are %q", got)
	}
	if got := suggestions(t, db, DuplicateOptions{Limit: 1, MinScore: 0.1}); len(got) != 2 {
		t.Errorf("in the best cluster there are %q", got)
	}
}

func TestDuplicatesOfNothing(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	if got := suggestions(t, db, DuplicateOptions{}); got != nil {
		t.Errorf("an empty store has duplicates %q", got)
	}
	inserted(t, db, doc("a", "@e|X|t|x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Duplicates(ctx, DuplicateOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
