package engine

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// quoting is what the names of a graph file look like. LightRAG up to 1.2.1
// stored them in upper case and in the double quotes of the model's answer,
// and types and descriptions in quotes too.
type quoting struct {
	names, quoted, upper int
}

func (q *quoting) note(name string) {
	q.names++
	if isQuoted(name) {
		q.quoted++
		if name == upperCase(name) {
			q.upper++
		}
	}
}

func (q *quoting) rule() bool      { return q.quoted > 0 && 2*q.quoted > q.names }
func (q *quoting) upperRule() bool { return q.rule() && 10*q.upper >= 9*q.quoted }

func isQuoted(s string) bool { return len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' }

func trimQuotes(s string) string {
	if s = strings.TrimSpace(s); isQuoted(s) {
		s = strings.TrimSpace(s[1 : len(s)-1])
	}
	return s
}

// upperCase is Python's str.upper for what occurs in names.
func upperCase(s string) string { return strings.ReplaceAll(strings.ToUpper(s), "ß", "SS") }

// storeName returns the name under which an entity of a file is stored: as
// names in answers are normalised, or cleaned at least, where nothing would be
// left of it.
func (im *lightragImport) storeName(raw string) string {
	s := raw
	if im.quoted {
		if im.o.KeepQuotes {
			return cleanName(raw)
		}
		s = trimQuotes(s)
	}
	if n := llm.NormalizeName(s); n != "" {
		return n
	}
	return cleanName(s)
}

// cleanName makes the least of changes that make a name one line of text.
func cleanName(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return strings.TrimSpace(norm.NFC.String(s))
}

// foldName is what an upper-case name and the name of an answer share.
func foldName(raw string) string { return upperCase(llm.NormalizeName(trimQuotes(raw))) }

// value takes the quotes off a value of a row, if it has them as a rule.
func (im *lightragImport) value(s string) string {
	if im.quoted {
		return trimQuotes(s)
	}
	return s
}

// descriptions splits the description of a row into its distinct parts.
func (im *lightragImport) descriptions(s string) []string {
	var out []string
	seen := make(map[string]bool)
	for part := range strings.SplitSeq(s, graphstore.Separator) {
		if part = llm.NormalizeDescription(im.value(part)); part != "" && !seen[part] {
			seen[part] = true
			out = append(out, part)
		}
	}
	return out
}

// typeOf returns the type of a row as a vote: "" for none.
func (im *lightragImport) typeOf(s string) string {
	t, ok := llm.NormalizeType(im.value(s))
	if !ok || t == graphstore.UnknownType {
		return ""
	}
	return t
}

// keywordsOf splits the keywords of a row.
func (im *lightragImport) keywordsOf(s string) []string {
	var all []string
	for part := range strings.SplitSeq(s, graphstore.Separator) {
		all = append(all, llm.SplitKeywords(im.value(part))...)
	}
	return llm.SplitKeywords(strings.Join(all, ","))
}
