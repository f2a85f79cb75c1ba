package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/llm"
)

func (a *app) promptsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "prompts DIR",
		Short: "Write the texts that models are asked with, to start one's own from",
		Long: "Write the prompts in use (the default ones, or those of --prompts) to DIR, one file each; files\n" +
			"that exist are left as they are. --prompts DIR then uses them: a file that is missing there is the\n" +
			"default text, and a text that lacks a placeholder it needs, or holds an unknown one, is refused.\n\n" +
			"extract_system.txt       rules of extraction: {{FORMAT}}, {{TYPES}}, {{LANGUAGE}}, {{MAX_ENTITIES}}, {{MAX_ROWS}}\n" +
			"extract_format_rows.txt  the form of the answer\n" +
			"extract_format_json.txt  the same with --extract-json\n" +
			"extract_user.txt         the passage: {{TEXT}}, {{FENCE}}\n" +
			"glean_user.txt           what was missed: {{NOTHING}}\n" +
			"summary_user.txt         joins descriptions: {{TEXT}}, {{FENCE}}, {{NAME}}, {{KIND}}, {{LANGUAGE}}, {{MAX_TOKENS}}\n" +
			"keywords_user.txt        search phrases of a question: {{TEXT}}, {{FENCE}}, {{LANGUAGE}}\n" +
			"answer_system.txt        rules of answering: {{TEXT}}, {{FENCE}}, {{RESPONSE_TYPE}}, {{USER_PROMPT}}",
		Args: arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error { return a.prompts(args[0]) },
	}
}

type promptFileJSON struct {
	File   string `json:"file"`
	Status string `json:"status"` // written, kept
}

func (a *app) prompts(dir string) error {
	p, err := a.loadPrompts()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return about(dir, err)
	}
	out := rows[promptFileJSON]{Rows: []promptFileJSON{}}
	for _, f := range p.Files() {
		path, status := filepath.Join(dir, f.Name), "written"
		if err := writeNew(path, f.Text); errors.Is(err, fs.ErrExist) {
			status = "kept"
		} else if err != nil {
			return about(path, err)
		}
		out.Rows = append(out.Rows, promptFileJSON{path, status})
	}
	if a.json {
		return writeJSON(a.out, out)
	}
	for _, r := range out.Rows {
		if err := a.say("%s %s\n", r.Status, oneLine(r.File)); err != nil {
			return err
		}
	}
	return nil
}

// writeNew writes a file that does not exist yet.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// loadPrompts reads the prompts of --prompts; without it they are the default.
func (a *app) loadPrompts() (llm.Prompts, error) {
	if a.promptDir == "" {
		return llm.Prompts{}, nil
	}
	p, err := llm.LoadPrompts(os.DirFS(a.promptDir))
	switch {
	case errors.Is(err, llm.ErrInvalid):
		return p, usagef("--prompts %s: %s", a.promptDir, err)
	case errors.Is(err, fs.ErrNotExist):
		text := fmt.Sprintf("--prompts %s: no such directory; `lightctl prompts %s` makes it", a.promptDir, a.promptDir)
		return p, about(a.promptDir, &plainError{err, text})
	case err != nil:
		return p, fmt.Errorf("--prompts %s: %w", a.promptDir, err)
	}
	return p, nil
}
