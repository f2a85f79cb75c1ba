package offline

import (
	"math"
	"strings"
	"unicode/utf8"
)

// corpus is a bag of sentences over one vocabulary of terms.
type corpus struct {
	vocab map[string]int32
	df    []int32 // sentences that hold a term
	name  []bool  // the term was written as a name
	sents []scored
	toks  []token // scratch
}

// scored is one sentence as selection sees it.
type scored struct {
	text    string
	passage int
	terms   []int32 // distinct, in order of appearance
	heading bool
	defines bool // its subject is followed by a definition
	pronoun bool // its subject is a pronoun
	broken  bool // its begin or its end is missing
	number  bool
	year    bool
	place   bool // "in X" with a name
	person  bool // speaks of a role or a person's name
	because bool
}

func newCorpus() *corpus { return &corpus{vocab: map[string]int32{}} }

// add tokenises a sentence and appends it.
func (c *corpus) add(text string, lang language, passage int) {
	s := scored{text: text, passage: passage, heading: isHeading(text)}
	c.toks = tokenize(c.toks[:0], text, lang)
	toks := c.toks
	c.eachTerm(toks, text, lang, func(key string, name bool) {
		id, ok := c.vocab[key]
		if !ok {
			id = int32(len(c.df))
			c.vocab[strings.Clone(key)] = id
			c.df, c.name = append(c.df, 0), append(c.name, false)
		}
		c.name[id] = c.name[id] || name
		for _, t := range s.terms {
			if t == id {
				return
			}
		}
		c.df[id]++
		s.terms = append(s.terms, id)
	})
	s.look(toks, lang)
	c.sents = append(c.sents, s)
}

// eachTerm calls f with the terms of a sentence: stems of content words, and
// pairs of characters in the scripts that have no stems.
func (c *corpus) eachTerm(toks []token, text string, lang language, f func(key string, name bool)) {
	for k := range toks {
		t := &toks[k]
		switch t.script {
		case scriptWord, scriptDigit:
			if t.script == scriptDigit || t.content() || t.caps {
				f(stem(t.low), t.upper && (k > 0 || t.caps) && (lang != german || t.caps || t.class&given != 0))
			}
		case scriptHangul:
			w := analyseKorean(t.text)
			if w.verbal && w.stem == "" {
				if !koreanStop[t.text] && len(t.text) >= 6 {
					f(t.text[:6], false) // the root of a predicate
				}
				continue
			}
			bigrams(w.stem, f)
		case scriptHan:
			if lang != chinese {
				bigrams(t.text, f)
				continue
			}
			for _, p := range hanPieces(nil, text, int(t.start), int(t.end)) {
				bigrams(text[p.start:p.end], f)
			}
		case scriptKatakana:
			f(t.text, false)
		}
	}
}

// bigrams yields the pairs of neighbouring characters of s, or s when it is one.
func bigrams(s string, f func(string, bool)) {
	a := 0
	_, n := utf8.DecodeRuneInString(s)
	b := n
	if b >= len(s) {
		if s != "" {
			f(s, false)
		}
		return
	}
	for b < len(s) {
		_, m := utf8.DecodeRuneInString(s[b:])
		f(s[a:b+m], false)
		a, b = b, b+m
	}
}

// look notes what a question word may ask for.
func (s *scored) look(toks []token, lang language) {
	for k := range toks {
		t := &toks[k]
		switch {
		case t.script == scriptDigit && !t.ident:
			s.number = true
			s.year = s.year || year(t.text)
		case t.class&calendar != 0 && t.upper:
			s.year = true
		case numberWords[t.low]:
			s.number = true
		}
		if t.class&role != 0 || t.class&given != 0 && t.upper {
			s.person = true
		}
		if k > 0 && t.upper && (toks[k-1].class&placePrep != 0 || toks[k-1].low == "on" || toks[k-1].low == "an") && t.class&calendar == 0 {
			s.place = true
		}
		if t.low == "because" || t.low == "since" || t.low == "due" || t.low == "weil" || t.low == "therefore" || t.low == "deshalb" {
			s.because = true
		}
		if t.class&copula != 0 && k > 0 && k < 12 && k+1 < len(toks) && (toks[k+1].class&determiner != 0 && isName(toks[:k])) {
			s.defines = true
		}
	}
	switch lang {
	case korean:
		s.defines = s.defines || definesKorean(s.text)
		s.place = s.place || strings.Contains(s.text, "위치") || strings.Contains(s.text, "에서")
		s.because = s.because || strings.Contains(s.text, "때문") || strings.Contains(s.text, "위해")
		s.year = s.year || s.number && strings.Contains(s.text, "년")
		s.person = s.person || containsAny(s.text, koreanRoles)
	case chinese, japanese:
		s.defines = s.defines || strings.Contains(s.text, "是一") || strings.Contains(s.text, "である") || strings.Contains(s.text, "是中国")
		s.place = s.place || strings.Contains(s.text, "位于") || strings.Contains(s.text, "在")
		s.because = s.because || strings.Contains(s.text, "因为") || strings.Contains(s.text, "由于") || strings.Contains(s.text, "ため")
		s.year = s.year || s.number && strings.Contains(s.text, "年")
		s.person = s.person || containsAny(s.text, hanRoles) || containsAny(s.text, hanTitles)
	}
	if len(toks) > 0 {
		first := &toks[0]
		s.pronoun = first.class&personPron != 0 || danglers[first.low] || (lang == chinese || lang == japanese) && dangles(first.text)
		s.broken = first.word() && !first.upper && lang < chinese && firstRune(first.text) < 0x250 && !first.ident
		if last := &toks[len(toks)-1]; last.script != scriptOther && !s.heading {
			s.broken = true
		}
	}
}

// dangles reports whether a Chinese sentence begins with a pronoun; nothing
// separates it from the next word.
func dangles(run string) bool {
	return containsAny(run[:min(len(run), 3)], danglersHan)
}

func isName(toks []token) bool {
	for k := range toks {
		if toks[k].upper && toks[k].class&stop == 0 {
			return true
		}
	}
	return false
}

func containsAny(s string, list []string) bool {
	for _, x := range list {
		if strings.Contains(s, x) {
			return true
		}
	}
	return false
}

// idf weighs a term by how few sentences hold it: the fourth root of that ratio
// grows as gently as a logarithm and is the same on every machine.
func (c *corpus) idf(t int32) float64 { return c.idfOf(int(c.df[t])) }

func (c *corpus) idfOf(df int) float64 {
	return math.Sqrt(math.Sqrt(float64(len(c.sents)+1) / float64(df+1)))
}

var (
	numberWords = set(`two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million billion dozen zwei drei vier fünf sechs sieben acht neun zehn hundert tausend`)
	danglers    = set(`it its they them their this these those such there 그는 그녀는 그들은 이는 이것은 그의 es`)
	danglersHan = strings.Fields(`他 她 它 这 该 彼`)
)
