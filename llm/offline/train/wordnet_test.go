package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tinyWordnet is a database of two nouns, a verb, and an adjective, in the
// format of wndb(5WN).
func tinyWordnet(t *testing.T) *wordnet {
	files := map[string]string{
		"data.noun": "  1 licence\n" +
			"00000100 05 n 02 dog 0 domestic_dog 0 001 @ 00000200 n 0000 | a member of the genus Canis; \"the dog barked\"\n" +
			"00000200 03 n 01 animal 0 000 | a living organism\n",
		"data.verb":   "00000100 38 v 01 run 0 000 01 + 02 00 | move fast\n",
		"data.adj":    "00000100 00 s 01 Fast(a) 0 001 & 00000100 s 0000 | quick\n",
		"data.adv":    "",
		"index.noun":  "  1 licence\ndog n 1 1 @ 1 1 00000100\ndomestic_dog n 1 1 @ 1 0 00000100\nanimal n 1 0 1 1 00000200\n",
		"index.verb":  "run v 1 0 1 1 00000100\n",
		"index.adj":   "fast a 1 1 & 1 1 00000100\n",
		"index.adv":   "",
		"noun.exc":    "",
		"verb.exc":    "ran run\nrunning run\n",
		"adj.exc":     "",
		"adv.exc":     "",
		"cntlist.rev": "dog%1:05:00:: 1 42\nrun%2:38:00:: 1 106\nfast%5:00:00:: 1 7\n",
	}
	s := source{root: t.TempDir()}
	if err := os.MkdirAll(s.path(wordnetDir), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.path(wordnetDir), name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w, err := readWordnet(s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestReadWordnet(t *testing.T) {
	w := tinyWordnet(t)
	if len(w.synsets) != 4 {
		t.Fatalf("%d synsets", len(w.synsets))
	}
	dog := w.synsets[w.senses["domestic_dog"]['n'][0]]
	if !slices.Equal(dog.words, []string{"dog", "domestic_dog"}) || !strings.HasPrefix(dog.gloss, "a member") || dog.pos != 'n' {
		t.Errorf("%+v", dog)
	}
	if p := dog.pointers; len(p) != 1 || p[0].kind != "@" || w.synsets[p[0].to].words[0] != "animal" {
		t.Errorf("%+v", p)
	}
	if fast := w.synsets[w.senses["fast"]['a'][0]]; fast.words[0] != "fast" || fast.pointers[0].to != 3 {
		t.Errorf("%+v", fast)
	}
	if w.tagged["dog"]['n'] != 42 || w.tagged["run"]['v'] != 106 || w.tagged["fast"]['a'] != 7 {
		t.Errorf("%v", w.tagged)
	}
}

func TestBase(t *testing.T) {
	w := tinyWordnet(t)
	for form, want := range map[string]string{"dogs": "dog", "ran": "run", "running": "run", "dog": "dog", "perl": "perl", "s": "s"} {
		if got := w.base(form); got != want {
			t.Errorf("%s is a form of %s, want %s", form, got, want)
		}
	}
}
