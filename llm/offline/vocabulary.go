package offline

// vocabulary remembers what is known of the words of one text, and how often
// each is met in lower case and, inside a sentence, capitalised.
type vocabulary struct {
	index map[string]int32 // words as written -> forms
	forms []token
	ids   map[string]int32 // words in lower case -> lows
	lows  []seen
}

// seen counts the occurrences of a word.
type seen struct {
	low, capital int32
	quiet        int32 // in capitals among words that are not
	bracketed    bool  // in capitals and in brackets: an acronym that is introduced
}

func newVocabulary(bytes int) *vocabulary {
	n := 64 + bytes/24
	return &vocabulary{
		index: make(map[string]int32, n), forms: make([]token, 0, n),
		ids: make(map[string]int32, n), lows: make([]seen, 1, n+1), // 0 is no word
	}
}

// word returns the token of a word, without its place.
func (v *vocabulary) word(text string, sc script, lang language) token {
	if v == nil {
		t := token{text: text, script: sc}
		t.finishWord(lang)
		return t
	}
	if k, ok := v.index[text]; ok {
		return v.forms[k]
	}
	t := token{text: text, script: sc}
	t.finishWord(lang)
	t.id = v.id(t.low)
	v.index[text] = int32(len(v.forms))
	v.forms = append(v.forms, t)
	return t
}

// id returns the number of a lower-case word.
func (v *vocabulary) id(low string) int32 {
	id, ok := v.ids[low]
	if !ok {
		id = int32(len(v.lows))
		v.ids[low] = id
		v.lows = append(v.lows, seen{})
	}
	return id
}

// of returns the counts of a word.
func (v *vocabulary) of(t *token) *seen { return &v.lows[t.id] }

// count notes how the words of a sentence are written.
func (v *vocabulary) count(s *sentence) {
	for k := range s.toks {
		t := &s.toks[k]
		if !t.word() || t.class&stop != 0 && !t.caps {
			continue
		}
		n := v.of(t)
		switch {
		case t.caps && !s.loud:
			if !s.heading {
				n.quiet++
			}
			n.bracketed = n.bracketed || k > 0 && k+1 < len(s.toks) && s.toks[k-1].text == "(" && s.toks[k+1].text == ")"
		case !t.upper:
			n.low++
		}
		if t.upper && k > 0 && !s.heading && !s.loud && !opens(s.toks[k-1].text) {
			n.capital++
		}
	}
}
