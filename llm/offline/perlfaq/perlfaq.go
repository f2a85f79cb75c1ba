// Package perlfaq reads the questions of perl's FAQ with their answers, which tell how
// well the answer of a question is found. Tests and benchmarks use it.
package perlfaq

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ErrMissing says how to get the questions.
var ErrMissing = errors.New("perlfaq is not installed: apt-get install perl-doc")

// Pair is a question and the first 1,000 characters of its answer, without code.
type Pair struct{ Question, Answer string }

var (
	index  = regexp.MustCompile(`X<[^>]*>`)
	format = regexp.MustCompile(`[A-Z]<{1,2}\s*([^<>|]*\|)?([^<>]*?)\s*>{1,2}`)
	head1  = regexp.MustCompile(`(?m)^=head1 `)
	head2  = regexp.MustCompile(`(?m)^=head2 `)
)

// Pairs returns all questions whose answers are longer than 120 characters, in the
// order of the FAQ. Without the Debian package perl-doc it fails with ErrMissing.
func Pairs() ([]Pair, error) {
	dirs, _ := filepath.Glob("/usr/share/perl/5.*.*/pod") // not the link 5.*, which leads to one of them
	if len(dirs) == 0 {
		return nil, ErrMissing
	}
	files, _ := filepath.Glob(filepath.Join(slices.Max(dirs), "perlfaq[1-9].pod"))
	if len(files) == 0 {
		return nil, ErrMissing
	}
	slices.Sort(files)
	var pairs []Pair
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, part := range head2.Split(string(text), -1)[1:] {
			question, body, _ := strings.Cut(part, "\n")
			if answer := []rune(prose(head1.Split(body, 2)[0])); len(answer) > 120 {
				pairs = append(pairs, Pair{strings.TrimSpace(plain(question)), string(answer[:min(1000, len(answer))])})
			}
		}
	}
	return pairs, nil
}

// plain takes the marks of the format out of a text.
func plain(s string) string { return format.ReplaceAllString(index.ReplaceAllString(s, ""), "$2") }

// prose returns the paragraphs of a text that are no code, on one line.
func prose(pod string) string {
	var lines []string
	for line := range strings.SplitSeq(plain(pod), "\n") {
		if line != "" && !strings.ContainsRune(" \t=", rune(line[0])) {
			lines = append(lines, line)
		}
	}
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}
