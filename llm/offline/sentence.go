package offline

import (
	"strings"
	"unicode/utf8"
)

// maxSentence bounds a sentence in bytes: text without any sentence end is cut,
// at a space where there is one, so that no later step meets an endless piece.
const maxSentence = 1000

// splitSentences cuts text at sentence ends and at line ends that separate
// headings, list items and paragraphs. The pieces are substrings of text, in
// order, trimmed, never empty, at most maxSentence bytes and a little.
func splitSentences(text string) []string {
	var out []string
	start := 0
	emit := func(end int) {
		if s := trimMarks(text[start:end]); s != "" {
			out = append(out, s)
		}
		start = end
	}
	for i := 0; i < len(text); {
		if i-start >= maxSentence {
			cut := i
			if sp := strings.LastIndexByte(text[start:i], ' '); sp > maxSentence/2 {
				cut = start + sp
			}
			emit(cut)
		}
		c := text[i]
		switch {
		case c == '\n':
			if lineBreaks(text, start, i) {
				emit(i)
			}
			i++
		case c == '.' || c == '!' || c == '?':
			end := i + 1
			for end < len(text) && end < i+8 && strings.IndexByte(".!?\"')]*", text[end]) >= 0 {
				end++
			}
			if stopsSentence(text, start, i, end) {
				emit(end)
			}
			i = end
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRuneInString(text[i:])
			i += n
			if r == '。' || r == '！' || r == '？' || r == '；' || r == '｡' {
				for range 4 { // a closing quote belongs to what it closes
					r, n := utf8.DecodeRuneInString(text[i:])
					if !strings.ContainsRune("」』”’）》！？", r) || n == 0 || r == utf8.RuneError {
						break
					}
					i += n
				}
				emit(i)
			}
		}
	}
	emit(len(text))
	return out
}

// trimMarks removes white space and the marks of headings, lists, quotes and
// tables from both ends.
func trimMarks(s string) string {
	s = strings.TrimLeft(s, " \t\r\n#*->|•·=_~`　")
	return strings.TrimRight(s, " \t\r\n|=_~`#*　")
}

// lineBreaks reports whether the line end at i also ends the sentence that
// began at start.
func lineBreaks(text string, start, i int) bool {
	line := text[start:i]
	if k := strings.LastIndexByte(line, '\n'); k >= 0 {
		line = line[k+1:]
	}
	line = strings.TrimSpace(line)
	if len(line) < 48 || line[0] == '#' || line[0] == '|' || line[len(line)-1] == ':' {
		return true
	}
	rest := strings.TrimLeft(text[i+1:min(len(text), i+9)], " \t\r")
	if rest == "" || strings.IndexByte("\n#-*>|", rest[0]) >= 0 {
		return true
	}
	digits := 0
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	return digits > 0 && digits+1 < len(rest) && (rest[digits] == '.' || rest[digits] == ')') && rest[digits+1] == ' '
}

// stopsSentence reports whether the mark at i, with its closers up to end, ends
// the sentence that began at start.
func stopsSentence(text string, start, i, end int) bool {
	if end < len(text) {
		if c := text[end]; c != ' ' && c != '\n' && c != '\t' && c != '\r' && c < utf8.RuneSelf {
			return false
		}
	}
	next := end
	for next < len(text) && next < end+8 && (text[next] == ' ' || text[next] == '\t' || text[next] == '\r') {
		next++
	}
	if next < len(text) && text[next] >= 'a' && text[next] <= 'z' {
		return false
	}
	if text[i] != '.' || end > i+1 && text[i+1] == '.' {
		return true
	}
	w := i
	for w > start && i-w < 16 && strings.IndexByte(" \n\t(\"-", text[w-1]) < 0 {
		w--
	}
	word := text[w:i]
	if word == "" {
		return true
	}
	if n := utf8.RuneCountInString(word); n == 1 && scriptOf(firstRune(word)) == scriptWord {
		return false // an initial
	}
	if len(word) <= 2 && word[0] >= '0' && word[0] <= '9' {
		if strings.TrimSpace(text[start:w]) == "" {
			return false // "1. item"
		}
		stop := next
		for stop < len(text) && stop < next+12 && text[stop] != ' ' && text[stop] != '\n' {
			stop++
		}
		return !germanMonths[text[next:stop]] // "am 3. Mai"
	}
	return !abbreviations[strings.ToLower(word)]
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// isHeading reports whether a sentence has no end mark and is short: a title or
// a label, which names things but says nothing of them.
func isHeading(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return len(s) < 90 && !strings.ContainsRune(".!?。！？…\"”」』)）:", r)
}

var (
	abbreviations = set(`mr mrs ms dr prof st jr sr inc ltd corp co vs etc fig no vol pp ed eds al cf ca approx dept est gen col lt sgt rev hon gov sen rep u.s u.k e.g i.e a.m p.m ph.d jan feb mar apr jun jul aug sep sept oct nov dec bzw usw z.b d.h u.a geb nr str bspw evtl ggf inkl sog vgl mme mlle`)
	germanMonths  = set(`Januar Februar März April Mai Juni Juli August September Oktober November Dezember Jahrhundert Jahrhunderts`)
)

// set makes a lookup table of white-space separated words.
func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
