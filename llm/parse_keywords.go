package llm

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// ParseKeywords reads the high- and low-level keywords of a question from a
// model's answer: one JSON object, possibly after thoughts, prose or a fence. A
// list's items are kept whole; a string is split at commas, semicolons and line
// breaks. Order is kept, repetitions are not. ok is false when the answer has
// no such object; an object with empty lists is ok.
func ParseKeywords(answer string) (high, low []string, ok bool) {
	text, found := findObject(stripReasoning(answer))
	if !found {
		return nil, nil, false
	}
	object, _, _ := readObject(text)
	h, hasHigh := object["high_level_keywords"]
	l, hasLow := object["low_level_keywords"]
	return keywordList(h), keywordList(l), hasHigh || hasLow
}

func keywordList(v any) []string {
	var raw []string
	switch v := v.(type) {
	case string:
		raw = strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("\n,;，；", r) })
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok {
				raw = append(raw, s)
			}
		}
	}
	var out []string
	seen := make(map[string]struct{}, len(raw))
	for _, s := range raw {
		s = norm.NFC.String(cleanText(s, true))
		if _, dup := seen[s]; s == "" || dup {
			continue
		}
		seen[s] = struct{}{}
		out = append(out, s)
	}
	return slices.Clip(out)
}
