package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/lightctl/lightrag/llm/offline/internal/wordvec"
)

// vectors is the command of that name: it writes the table of word vectors.
func vectors(args []string) error {
	flags := flag.NewFlagSet("vectors", flag.ContinueOnError)
	work := flags.String("work", defaultWork(), "`directory` of unpacked packages")
	out := flags.String("o", "llm/offline/internal/wordvec/words.bin", "`file` to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	content, err := trainVectors(*work, defaults)
	if err != nil {
		return err
	}
	table, err := wordvec.Encode(content)
	if err != nil {
		return err
	}
	fmt.Printf("%d forms of %d words, %d components, %d bytes\n", len(content.Form), len(content.Count), content.Dims, len(table))
	return os.WriteFile(*out, table, 0o644)
}

// trainVectors makes the table from the packages under work.
func trainVectors(work string, s settings) (wordvec.Content, error) {
	var none wordvec.Content
	c, w, err := readCorpus(work)
	if err != nil {
		return none, err
	}
	v := newVocabulary(c, w, s.least)
	e, err := leftSingular(ppmi(c, v, s), s.dims, s.rounds)
	if err != nil {
		return none, err
	}
	level(e)
	return pack(c, w, v, e), nil
}

// level makes the mean of the rows zero, since a direction that all words share
// says nothing about any, and takes the square root of their lengths, which say
// more about how often a word was seen than about what it means.
func level(e *dense) {
	mean := make([]float64, e.k)
	for i := range e.n {
		addScaled(mean, 1/float64(e.n), e.row(i))
	}
	for i := range e.n {
		row, sum := e.row(i), 0.0
		addScaled(row, -1, mean)
		for _, x := range row {
			sum += float64(x * x)
		}
		scale := 1 / max(math.Sqrt(math.Sqrt(sum)), 1e-9)
		for k := range row {
			row[k] *= scale
		}
	}
}

// pack rounds the vectors to 8 bits and lists the forms of every word: those of
// the text, and those of WordNet that rules for endings would not find.
func pack(c *corpus, w *wordnet, v *vocabulary, e *dense) wordvec.Content {
	out := wordvec.Content{Dims: e.k}
	for i := range e.n {
		most := 0.0
		for _, x := range e.row(i) {
			most = max(most, math.Abs(x))
		}
		scale := max(most, 1e-9) / 127
		for _, x := range e.row(i) {
			out.Vector = append(out.Vector, int8(math.RoundToEven(x/scale)))
		}
		out.Scale = append(out.Scale, float32(scale))
		out.Count = append(out.Count, uint32(v.count[i]))
	}
	rows := map[string]int{}
	for i, word := range v.words {
		rows[word] = i
	}
	forms := map[string]int{}
	for i, form := range c.forms {
		if r := v.row[i]; r >= 0 && (c.count[i] > 1 || v.words[r] == form) {
			forms[form] = int(r)
		}
	}
	for _, part := range wordnetParts {
		for form := range w.bases[part.pos] {
			if r, ok := rows[w.base(form)]; ok {
				forms[form] = r
			}
		}
	}
	for form := range forms {
		out.Form = append(out.Form, form)
	}
	slices.Sort(out.Form)
	for _, form := range out.Form {
		out.Row = append(out.Row, forms[form])
	}
	return out
}
