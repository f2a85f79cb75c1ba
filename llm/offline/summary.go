package offline

import (
	"math"
	"sort"
	"strings"
)

// Bounds of a summary.
const (
	defaultSummaryTokens = 500
	maxSummarySentences  = 4096 // read; more are ignored
)

// summarize answers TaskSummary: the most informative distinct sentences of the
// descriptions that fit maxTokens, in their own order.
func summarize(descriptions []string, maxTokens int) string {
	if maxTokens <= 0 {
		maxTokens = defaultSummaryTokens
	}
	c := newCorpus()
	seen := map[string]bool{}
	for _, d := range descriptions {
		if len(c.sents) >= maxSummarySentences {
			break
		}
		d = cut(clean(d), maxText)
		lang := languageOf(d)
		for _, s := range splitSentences(d) {
			s = oneLine(s)
			if key := strings.ToLower(strings.TrimRight(s, ".。!? ")); s == "" || seen[key] || len(c.sents) >= maxSummarySentences {
				continue
			} else {
				seen[key] = true
			}
			c.add(s, lang, 0)
		}
	}
	if len(c.sents) == 0 {
		return ""
	}
	order := make([]int, len(c.sents))
	value := make([]float64, len(c.sents))
	for i := range order {
		order[i] = i
		// What many sentences speak of is what the owner is about.
		for _, t := range c.sents[i].terms {
			value[i] += math.Sqrt(float64(c.df[t]))
		}
		value[i] /= math.Sqrt(float64(len(c.sents[i].terms) + 6))
		if c.sents[i].defines {
			value[i] *= 1.4
		}
	}
	value[0] *= 1.5 // canonical order puts the oldest first
	sort.SliceStable(order, func(a, b int) bool { return value[order[a]] > value[order[b]] })
	var chosen []int
	left := maxTokens
	covered := map[int32]bool{}
	for _, i := range order {
		s := &c.sents[i]
		cost := tokensOf(s.text) + 1
		if cost > left || stale(s.terms, covered) {
			continue
		}
		left -= cost
		chosen = append(chosen, i)
		for _, t := range s.terms {
			covered[t] = true
		}
	}
	if len(chosen) == 0 {
		return cutTokens(c.sents[order[0]].text, maxTokens)
	}
	sort.Ints(chosen)
	var b strings.Builder
	for n, i := range chosen {
		if n > 0 {
			b.WriteString(joint(c.sents[chosen[n-1]].text))
		}
		b.WriteString(c.sents[i].text)
	}
	return b.String()
}

// stale reports whether a sentence adds nothing: four of five of its terms have
// been said.
func stale(terms []int32, covered map[int32]bool) bool {
	said := 0
	for _, t := range terms {
		if covered[t] {
			said++
		}
	}
	return len(terms) > 0 && 5*said > 4*len(terms)
}

// tokensOf estimates tokens: four letters make one, and so does a character of
// Chinese, Japanese or Korean.
func tokensOf(s string) int {
	quarters := 0
	for _, r := range s {
		if r < 0x2e80 {
			quarters++
		} else {
			quarters += 4
		}
	}
	return (quarters + 3) / 4
}

// cutTokens cuts s to an estimated number of tokens.
func cutTokens(s string, limit int) string {
	quarters := 0
	for i, r := range s {
		if r < 0x2e80 {
			quarters++
		} else {
			quarters += 4
		}
		if quarters > 4*limit {
			return cut(s, i)
		}
	}
	return s
}
