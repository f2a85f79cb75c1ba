package poslex

import (
	"fmt"
	"testing"
)

func TestEmbeddedLexicon(t *testing.T) {
	table, err := Open(embedded)
	if err != nil {
		t.Fatal(err)
	}
	if len(embedded) > 160<<10 || table.Len() < 30000 {
		t.Errorf("%d words in %d bytes", table.Len(), len(embedded))
	}
	for word, want := range map[string]struct {
		most   Tag
		kind   Kind
		proper Proper
	}{
		"table": {Noun, Thing, NoName}, "run": {Verb, Thing, NoName}, "yellow": {Adjective, Thing, NoName}, "quickly": {Adverb, Thing, NoName},
		"physicist": {Noun, Person, NoName}, "committee": {Noun, Group, NoName}, "province": {Noun, Place, NoName},
		"warsaw": {0, Thing, PlaceName}, "krakow": {0, Thing, PlaceName}, "albert": {0, Thing, GivenName}, "einstein": {0, Thing, Surname},
	} {
		tag := Lookup(word)
		if tag.Most() != want.most || want.kind != Thing && tag.Kind() != want.kind || tag.Proper() != want.proper {
			t.Errorf("%q: mostly %d, kind %d, proper %d", word, tag.Most(), tag.Kind(), tag.Proper())
		}
	}
	for _, word := range []string{"", "zorblatt", "pgvector", "한국"} {
		if tag := Lookup(word); tag != 0 {
			t.Errorf("%q has the tag %#x", word, uint16(tag))
		}
	}
}

func TestTags(t *testing.T) {
	tag := Make(Noun|Verb, Verb, Event, Surname)
	if !tag.May(Noun) || !tag.May(Adjective|Verb) || tag.May(Adverb) || tag.Most() != Verb || tag.Kind() != Event || tag.Proper() != Surname || !tag.Common() {
		t.Errorf("%#x", uint16(tag))
	}
	if name := Make(0, 0, Thing, PlaceName); name.Most() != 0 || name.Common() || name.Proper() != PlaceName {
		t.Errorf("%#x", uint16(name))
	}
}

func TestBuild(t *testing.T) {
	var words []Word
	for i := range 20000 {
		words = append(words, Word{fmt.Sprint("word", i), Make(Noun, Noun, Kind(i)%kinds, Proper(i)%propers)})
	}
	data, dropped, err := Build(words)
	if err != nil {
		t.Fatal(err)
	}
	table, err := Open(string(data))
	if err != nil {
		t.Fatal(err)
	}
	if table.Len()+dropped != len(words) || dropped > 20 {
		t.Fatalf("%d words, %d dropped", table.Len(), dropped)
	}
	wrong := 0
	for _, w := range words {
		if table.Lookup(w.Text) != w.Tag {
			wrong++
		}
	}
	if wrong > dropped {
		t.Errorf("%d of %d words have another's tag, %d were dropped", wrong, len(words), dropped)
	}
	if _, _, err := Build([]Word{{"x", 0}}); err == nil {
		t.Error("a word without a tag was taken")
	}
}

func FuzzOpen(f *testing.F) {
	small, _, err := Build([]Word{{"table", Make(Noun, Noun, Thing, NoName)}, {"warsaw", Make(0, 0, Thing, PlaceName)}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(small), "table")
	f.Add(string(small[:headerBytes]), "")
	f.Add(magic, "x")
	f.Fuzz(func(t *testing.T, data, word string) {
		table, err := Open(data)
		if err != nil {
			return
		}
		if tag := table.Lookup(word); tag.Kind() >= kinds || tag.Proper() >= propers {
			t.Fatalf("%q has the tag %#x", word, uint16(tag))
		}
	})
}

func BenchmarkLookup(b *testing.B) {
	words := []string{"the", "physicist", "discovered", "radioactivity", "zorblatt", "warsaw", "quickly", "and"}
	b.ReportAllocs()
	for b.Loop() {
		for _, w := range words {
			Lookup(w)
		}
	}
}
