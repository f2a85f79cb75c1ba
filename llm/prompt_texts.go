package llm

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Prompts are the texts that models are asked with. A field left empty is the
// default text; DefaultPrompts has them all, to start from. What is filled in
// stands in a text as {{NAME}}; Validate says which names a text may and must
// hold. A changed text changes the keys of cached answers.
type Prompts struct {
	ExtractSystem     string // extract_system.txt: rules of extraction. {{FORMAT}}, {{TYPES}}, {{LANGUAGE}}, {{MAX_ENTITIES}}, {{MAX_ROWS}}
	ExtractFormatRows string // extract_format_rows.txt: the form of the answer, for {{FORMAT}}
	ExtractFormatJSON string // extract_format_json.txt: the same, when JSON is asked for
	ExtractUser       string // extract_user.txt: the passage. {{TEXT}} between lines of {{FENCE}}
	GleanUser         string // glean_user.txt: asks for what was missed. {{NOTHING}} says how to answer if nothing was
	KeywordsUser      string // keywords_user.txt: asks for search phrases. {{TEXT}}, {{FENCE}}, {{LANGUAGE}}
	SummaryUser       string // summary_user.txt: joins descriptions. {{TEXT}}, {{FENCE}}, {{NAME}}, {{KIND}}, {{LANGUAGE}}, {{MAX_TOKENS}}
	AnswerSystem      string // answer_system.txt: rules of answering. {{TEXT}}, {{FENCE}}, {{RESPONSE_TYPE}}, {{USER_PROMPT}}; may hold {{REFERENCES}}
}

// promptText names one text and knows its file.
type promptText int

const (
	extractSystem promptText = iota
	extractFormatRows
	extractFormatJSON
	extractUser
	gleanUser
	keywordsUser
	summaryUser
	answerSystem
	promptTexts
)

// promptRule says what a text must hold: the placeholders of need and the words
// of must. It may hold the placeholders of may.
type promptRule struct {
	file            string
	need, may, must []string
}

var promptRules = [promptTexts]promptRule{
	extractSystem:     {"extract_system.txt", []string{"FORMAT"}, []string{"TYPES", "LANGUAGE", "MAX_ENTITIES", "MAX_ROWS"}, nil},
	extractFormatRows: {"extract_format_rows.txt", nil, nil, []string{delimiter, completeUpper, "entity", "relation"}},
	extractFormatJSON: {"extract_format_json.txt", nil, nil, []string{`"entities"`, `"relationships"`}},
	extractUser:       {"extract_user.txt", []string{"TEXT", "FENCE"}, nil, nil},
	gleanUser:         {"glean_user.txt", nil, []string{"NOTHING"}, nil},
	keywordsUser:      {"keywords_user.txt", []string{"TEXT", "FENCE"}, []string{"LANGUAGE"}, []string{"high_level_keywords", "low_level_keywords"}},
	summaryUser:       {"summary_user.txt", []string{"TEXT", "FENCE", "NAME"}, []string{"KIND", "LANGUAGE", "MAX_TOKENS"}, nil},
	answerSystem:      {"answer_system.txt", []string{"TEXT", "FENCE", "RESPONSE_TYPE", "USER_PROMPT"}, []string{"REFERENCES"}, nil},
}

var (
	//go:embed prompts/extract_system.txt
	defaultExtractSystem string
	//go:embed prompts/extract_format_rows.txt
	defaultExtractFormatRows string
	//go:embed prompts/extract_format_json.txt
	defaultExtractFormatJSON string
	//go:embed prompts/extract_user.txt
	defaultExtractUser string
	//go:embed prompts/glean_user.txt
	defaultGleanUser string
	//go:embed prompts/keywords_user.txt
	defaultKeywordsUser string
	//go:embed prompts/summary_user.txt
	defaultSummaryUser string
	//go:embed prompts/answer_system.txt
	defaultAnswerSystem string
)

var defaultTexts = [promptTexts]string{
	extractSystem:     defaultExtractSystem,
	extractFormatRows: defaultExtractFormatRows,
	extractFormatJSON: defaultExtractFormatJSON,
	extractUser:       defaultExtractUser,
	gleanUser:         defaultGleanUser,
	keywordsUser:      defaultKeywordsUser,
	summaryUser:       defaultSummaryUser,
	answerSystem:      defaultAnswerSystem,
}

// fields are the texts in the order of promptText.
func (p *Prompts) fields() [promptTexts]*string {
	return [promptTexts]*string{
		&p.ExtractSystem, &p.ExtractFormatRows, &p.ExtractFormatJSON, &p.ExtractUser, &p.GleanUser, &p.KeywordsUser, &p.SummaryUser, &p.AnswerSystem,
	}
}

// text returns a text or its default.
func (p *Prompts) text(t promptText) string {
	if s := *p.fields()[t]; s != "" {
		return s
	}
	return defaultTexts[t]
}

// DefaultPrompts returns the default texts.
func DefaultPrompts() Prompts {
	var p Prompts
	for t, f := range p.fields() {
		*f = defaultTexts[t]
	}
	return p
}

// PromptFile is one text and the name of its file.
type PromptFile struct{ Name, Text string }

// Files returns all texts under the names that LoadPrompts reads, sorted.
func (p *Prompts) Files() []PromptFile {
	var out []PromptFile
	for t := range promptTexts {
		out = append(out, PromptFile{promptRules[t].file, p.text(t)})
	}
	slices.SortFunc(out, func(a, b PromptFile) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// maxPromptBytes bounds a file that LoadPrompts reads.
const maxPromptBytes = 1 << 20

// LoadPrompts reads prompts from the *.txt files of a directory; a missing file
// leaves the default text. The error names a file that is no prompt, so that a
// misspelt one does not go unnoticed, and everything Validate finds.
func LoadPrompts(dir fs.FS) (Prompts, error) {
	var p Prompts
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return p, fmt.Errorf("llm: load prompts: %w", err)
	}
	fields := p.fields()
	var errs []error
	for _, e := range entries {
		if path.Ext(e.Name()) != ".txt" || e.IsDir() {
			continue
		}
		t := slices.IndexFunc(promptRules[:], func(r promptRule) bool { return r.file == e.Name() })
		if t < 0 {
			errs = append(errs, fmt.Errorf("%w: %s is not the name of a prompt; they are %s", ErrInvalid, e.Name(), promptNames()))
			continue
		}
		if info, err := e.Info(); err == nil && info.Size() > maxPromptBytes {
			errs = append(errs, fmt.Errorf("%w: %s has %d bytes, at most %d are read", ErrInvalid, e.Name(), info.Size(), maxPromptBytes))
			continue
		}
		b, err := fs.ReadFile(dir, e.Name())
		switch {
		case err != nil:
			errs = append(errs, err)
		case strings.TrimSpace(string(b)) == "":
			errs = append(errs, fmt.Errorf("%w: %s is empty; remove the file to use the default text", ErrInvalid, e.Name()))
		default:
			*fields[t] = string(b)
		}
	}
	if err := errors.Join(append(errs, p.Validate())...); err != nil {
		return Prompts{}, fmt.Errorf("llm: load prompts: %w", err)
	}
	return p, nil
}

func promptNames() string {
	var names []string
	for t := range promptRules {
		names = append(names, promptRules[t].file)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

var placeholder = regexp.MustCompile(`\{\{\s*([A-Za-z_]+)\s*\}\}`)

// Validate checks the texts that are not default. The error is ErrInvalid and
// names every placeholder that is unknown or missing, with the text's file.
func (p *Prompts) Validate() error {
	var errs []error
	for t, f := range p.fields() {
		if *f == "" {
			continue
		}
		rule := &promptRules[t]
		bad := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("llm: prompt %s: %w: "+format, append([]any{rule.file, ErrInvalid}, args...)...))
		}
		if !utf8.ValidString(*f) || strings.ContainsRune(*f, 0) {
			bad("it is not clean text")
		}
		known := append(slices.Clone(rule.need), rule.may...)
		for _, m := range placeholder.FindAllStringSubmatch(*f, -1) {
			if m[0] != "{{"+m[1]+"}}" || !slices.Contains(known, m[1]) {
				bad("%s is not a placeholder of it%s", m[0], listOf("; it may hold ", known))
			}
		}
		for _, name := range rule.need {
			if !p.Has(rule.file, name) {
				bad("the placeholder {{%s}} is missing", name)
			}
		}
		for _, word := range rule.must {
			if !strings.Contains(*f, word) {
				bad("%s is missing, by which the answer is read", word)
			}
		}
	}
	return errors.Join(errs...)
}

// Has reports whether the text of that file holds a placeholder: an option whose
// placeholder is missing would have no effect.
func (p *Prompts) Has(file, name string) bool {
	for t := range promptTexts {
		if promptRules[t].file == file {
			return strings.Contains(p.text(t), "{{"+name+"}}")
		}
	}
	return false
}

func listOf(before string, names []string) string {
	if len(names) == 0 {
		return "; it holds none"
	}
	return before + "{{" + strings.Join(names, "}}, {{") + "}}"
}
