package main

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// A corpus is text as numbers of word forms. Paragraphs end with -1.
type corpus struct {
	forms []string
	count []int
	text  []int32
	ids   map[string]int32
}

func newCorpus() *corpus { return &corpus{ids: map[string]int32{}} }

const maxForm = 24

// add appends a paragraph: its runs of letters, in lower case. What is there a
// second time, to make neighbours of its words, is not counted again.
func (c *corpus) add(paragraph string, counted bool) {
	n := len(c.text)
	isLetter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }
	for word := range strings.FieldsFuncSeq(strings.ToLower(paragraph), func(r rune) bool { return !isLetter(r) && !unicode.IsDigit(r) }) {
		// What holds a digit, or is one long run, is no word: it keeps its place.
		id := int32(-2)
		if len(word) <= maxForm && strings.IndexFunc(word, unicode.IsDigit) < 0 {
			var ok bool
			if id, ok = c.ids[word]; !ok {
				id = int32(len(c.forms))
				c.ids[word] = id
				c.forms = append(c.forms, word)
				c.count = append(c.count, 0)
			}
			if counted {
				c.count[id]++
			}
		}
		c.text = append(c.text, id)
	}
	if len(c.text) > n {
		c.text = append(c.text, -1)
	}
}

// A vocabulary gives forms of one word one row.
type vocabulary struct {
	words []string // of the rows, most frequent first
	count []int    // of all forms of each
	row   []int32  // of each form of the corpus, or -1
}

// newVocabulary keeps words that occur at least least times in all their forms.
func newVocabulary(c *corpus, w *wordnet, least int) *vocabulary {
	total := map[string]int{}
	base := make([]string, len(c.forms))
	for i, form := range c.forms {
		base[i] = w.base(form)
		total[base[i]] += c.count[i]
	}
	v := &vocabulary{row: make([]int32, len(c.forms))}
	for word, n := range total {
		if n >= least && len(word) > 1 {
			v.words = append(v.words, word)
		}
	}
	slices.SortFunc(v.words, func(a, b string) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), strings.Compare(a, b))
	})
	at := make(map[string]int32, len(v.words))
	for i, word := range v.words {
		at[word] = int32(i)
		v.count = append(v.count, total[word])
	}
	for i := range base {
		v.row[i] = -1
		if r, ok := at[base[i]]; ok {
			v.row[i] = r
		}
	}
	return v
}

// detachments are the endings of morphy(7WN) by part of speech.
var detachments = map[byte][][2]string{
	'n': {{"s", ""}, {"ses", "s"}, {"xes", "x"}, {"zes", "z"}, {"ches", "ch"}, {"shes", "sh"}, {"ies", "y"}},
	'v': {{"s", ""}, {"ies", "y"}, {"es", "e"}, {"es", ""}, {"ed", "e"}, {"ed", ""}, {"ing", "e"}, {"ing", ""}},
	'a': {{"er", ""}, {"est", ""}, {"er", "e"}, {"est", "e"}},
}

// base returns the word that form is a form of: the one that the tagged texts
// have most, or form itself if that is about as common or nothing is known.
func (w *wordnet) base(form string) string {
	best, most := form, 0
	for _, n := range w.tagged[form] {
		most += 4 * n
	}
	if w.senses[form] == nil {
		most = -1
	}
	try := func(pos byte, word string) {
		if w.senses[word][pos] == nil || len(word) < 2 {
			return
		}
		if n := w.tagged[word][pos]; n > most {
			best, most = word, n
		}
	}
	for _, part := range wordnetParts {
		for _, word := range w.bases[part.pos][form] {
			try(part.pos, word)
		}
		for _, d := range detachments[part.pos] {
			if stem, ok := strings.CutSuffix(form, d[0]); ok {
				try(part.pos, stem+d[1])
			}
		}
	}
	return best
}
