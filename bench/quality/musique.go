package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lightctl/lightrag/engine/eval"
)

// musique is the recorded set: questions of several hops, the passages that
// they need among others, and what a model extracted from every passage (see the
// README of the recorded data).
type musique struct {
	eval.Set
	answers map[string]string // extraction by content of the passage
}

type recordedDoc struct {
	Passage  string     `json:"passage"`
	Entities []string   `json:"extracted_entities"`
	Triples  [][]string `json:"extracted_triples"`
}

// loadMusique reads the set from the folder of recorded data.
func loadMusique(shared string) (*musique, error) {
	dir := filepath.Join(shared, "data", "musique")
	var passages []struct{ Title, Text string }
	if err := readJSON(filepath.Join(dir, "musique_train_corpus.json"), &passages); err != nil {
		return nil, err
	}
	m := &musique{answers: make(map[string]string, len(passages))}
	byContent := make(map[string]string, len(passages))
	for i, p := range passages {
		one := eval.Passage{ID: strconv.Itoa(i), Title: p.Title, Text: p.Text}
		m.Corpus = append(m.Corpus, one)
		byContent[one.Content()] = one.ID
	}
	var questions []struct {
		Question   string
		Paragraphs []struct {
			Title      string
			Text       string `json:"paragraph_text"`
			Supporting bool   `json:"is_supporting"`
		}
	}
	if err := readJSON(filepath.Join(dir, "musique_train.json"), &questions); err != nil {
		return nil, err
	}
	for _, q := range questions {
		one := eval.Question{Text: q.Question}
		for _, p := range q.Paragraphs {
			if !p.Supporting {
				continue
			}
			id, ok := byContent[p.Title+"\n"+p.Text]
			if !ok {
				return nil, fmt.Errorf("musique: %q is not in the corpus", p.Title)
			}
			one.Gold = append(one.Gold, id)
		}
		m.Questions = append(m.Questions, one)
	}
	docs, err := readRecorded(filepath.Join(dir, "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json"))
	if err != nil {
		return nil, err
	}
	for i := range docs {
		m.answers[docs[i].Passage] = docs[i].answer()
	}
	for i := range m.Corpus {
		if _, ok := m.answers[m.Corpus[i].Content()]; !ok {
			return nil, fmt.Errorf("musique: nothing is recorded of passage %d", i)
		}
	}
	return m, m.Check(nil)
}

func readJSON(name string, v any) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// readRecorded reads the first field, "docs". What follows it is no JSON: it
// holds NaN.
func readRecorded(name string) (docs []recordedDoc, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	for range 2 { // the brace and the name
		if _, err := d.Token(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := d.Decode(&docs); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return docs, nil
}

// answer writes the recorded entities and triples as a model would have
// written them for this engine: the description of a relation is its triple, that
// of an entity its triples in the passage. What is not a triple is left out.
func (d *recordedDoc) answer() string {
	var b strings.Builder
	said := make(map[string][]string)
	for _, t := range d.Triples {
		if len(t) != 3 {
			continue
		}
		fact := strings.Join(t, " ")
		fmt.Fprintf(&b, "relation<|#|>%s<|#|>%s<|#|>%s<|#|>%s\n", field(t[0]), field(t[2]), field(strings.ReplaceAll(t[1], ",", " ")), field(fact))
		said[t[0]] = append(said[t[0]], fact)
		said[t[2]] = append(said[t[2]], fact)
	}
	title, _, _ := strings.Cut(d.Passage, "\n")
	for _, e := range d.Entities {
		about := strings.Join(said[e], ". ")
		if about == "" {
			about = e + ", " + title
		}
		fmt.Fprintf(&b, "entity<|#|>%s<|#|>other<|#|>%s\n", field(e), field(about))
	}
	b.WriteString("<|COMPLETE|>")
	return b.String()
}

// field keeps a text from ending its field or its record.
func field(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("<|", "< |", "|>", "| >").Replace(s)), " ")
}
