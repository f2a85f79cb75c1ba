package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/lightctl/lightrag/engine"
)

// Set is a corpus, which may be empty, and questions about it.
type Set struct {
	Corpus    []Passage
	Questions []Question
}

// Passage is one document of a corpus.
type Passage struct {
	ID, Title, Text string

	place string // file:line
}

// Content is what a retriever sees of the document: title and text.
func (p *Passage) Content() string {
	if p.Title == "" {
		return p.Text
	}
	return p.Title + "\n" + p.Text
}

// Question is a question and the ids of the documents that answer it, distinct
// and at least one.
type Question struct {
	Text string
	Gold []string

	place string
}

// maxLine bounds one line of a set, in bytes.
const maxLine = 64 << 20

// Read appends the lines of r. The error matches engine.ErrInvalid and begins
// with the name and the number of the line that cannot be used.
func (s *Set) Read(name string, r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := lines.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		place := fmt.Sprintf("%s:%d", name, n)
		if err := s.add(line, place); err != nil {
			return fmt.Errorf("%s: %w: %w", place, engine.ErrInvalid, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%s:%d: %w: the line is longer than %d MiB", name, n+1, engine.ErrInvalid, maxLine>>20)
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// record is one line of either kind. Absent and null are the same.
type record struct {
	ID       *string  `json:"id"`
	Title    *string  `json:"title"`
	Text     *string  `json:"text"`
	Question *string  `json:"question"`
	Gold     []string `json:"gold"`
}

func (s *Set) add(line []byte, place string) error {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return explain(err)
	}
	if r.Question == nil {
		return s.addPassage(&r, place)
	}
	if r.Text != nil {
		return errors.New(`the line has both "question" and "text": it is either a question or a document`)
	}
	if strings.TrimSpace(*r.Question) == "" {
		return errors.New("the question is blank")
	}
	if len(r.Gold) == 0 {
		return errors.New(`the question has no "gold": the ids of the documents that answer it`)
	}
	seen := make(map[string]bool, len(r.Gold))
	for _, id := range r.Gold {
		if strings.TrimSpace(id) == "" {
			return errors.New("an id of gold is blank")
		}
		if seen[id] {
			return fmt.Errorf("gold names %q twice", id)
		}
		seen[id] = true
	}
	s.Questions = append(s.Questions, Question{Text: *r.Question, Gold: r.Gold, place: place})
	return nil
}

func (s *Set) addPassage(r *record, place string) error {
	switch {
	case r.Gold != nil:
		return errors.New(`"gold" without "question"`)
	case r.Text == nil:
		return errors.New(`neither "question" nor "text": a line is a question or a document`)
	case r.ID == nil || strings.TrimSpace(*r.ID) == "":
		return errors.New(`the document has no "id"`)
	case strings.TrimSpace(*r.Text) == "":
		return fmt.Errorf("the text of document %q is blank", *r.ID)
	}
	p := Passage{ID: *r.ID, Text: *r.Text, place: place}
	if r.Title != nil {
		p.Title = *r.Title
	}
	s.Corpus = append(s.Corpus, p)
	return nil
}

// explain says what is wrong with a line of JSON without the names of Go types.
func explain(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("no JSON object: %w (at byte %d)", err, syntax.Offset)
	case errors.As(err, &kind) && kind.Field == "gold":
		return errors.New(`"gold" is not an array of strings`)
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("%q is not a string", kind.Field)
	}
	return errors.New("no JSON object")
}

// Check makes sure that the set can be measured: there is a question, no
// document is there twice, under one id or under two, and every gold document is in the corpus or, without
// one, is known. The error matches engine.ErrInvalid and begins with the place
// of what is wrong.
func (s *Set) Check(known func(id string) bool) error {
	if len(s.Questions) == 0 {
		return fmt.Errorf("%w: there is no question", engine.ErrInvalid)
	}
	if len(s.Corpus) > 0 {
		at := make(map[string]string, len(s.Corpus))
		texts := make(map[string]string, len(s.Corpus))
		for i := range s.Corpus {
			p := &s.Corpus[i]
			if first, twice := at[p.ID]; twice {
				return fmt.Errorf("%s: %w: document %q is in %s already", p.place, engine.ErrInvalid, p.ID, first)
			}
			if first, twice := texts[p.Content()]; twice {
				return fmt.Errorf("%s: %w: document %q has the text of the one in %s: which of them is found is a matter of chance", p.place, engine.ErrInvalid, p.ID, first)
			}
			texts[p.Content()] = p.place
			at[p.ID] = p.place
		}
		known = func(id string) bool { _, ok := at[id]; return ok }
	}
	for i := range s.Questions {
		q := &s.Questions[i]
		for _, id := range q.Gold {
			if !known(id) {
				return fmt.Errorf("%s: %w: there is no document %q, which gold names", q.place, engine.ErrInvalid, id)
			}
		}
	}
	return nil
}
