package main

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/lightctl/lightrag/llm/offline/internal/poslex"
)

// Lexicographer files, lexnames(5WN), that say what a noun denotes.
var kindOfFile = map[int]poslex.Kind{
	4: poslex.Abstract, 7: poslex.Abstract, 9: poslex.Abstract, 10: poslex.Abstract, 12: poslex.Abstract, 26: poslex.Abstract,
	11: poslex.Event, 14: poslex.Group, 15: poslex.Place, 18: poslex.Person, 28: poslex.Time,
}

const (
	filePerson   = 18
	fileLocation = 15
	fileObject   = 17
)

// lemmas are the single words of WordNet, in lower case.
type lemmas map[string]*lemma

// lemma is what WordNet says of a word.
type lemma struct {
	count  [4]int // occurrences in tagged text, by part of speech
	senses [4]int
	kind   poslex.Kind     // of its first noun
	small  bool            // written in lower case somewhere
	given  map[string]bool // last names of the persons that it is the first name of
	last   int             // persons that it is the last name of
	places int
	others int
}

func newLemmas(w *wordnet) lemmas {
	l := lemmas{}
	for i := range w.synsets {
		l.spell(&w.synsets[i])
	}
	for part, p := range wordnetParts {
		for word, senses := range w.senses {
			if of := senses[p.pos]; len(of) > 0 && !strings.Contains(word, "_") {
				m := l.of(word)
				m.senses[part] = len(of)
				m.count[part] = w.tagged[word][p.pos]
				if p.pos == 'n' {
					m.kind = kindOfFile[w.synsets[of[0]].file]
				}
			}
		}
	}
	for part, p := range wordnetParts {
		irregular := w.bases[p.pos]
		for _, form := range slices.Sorted(maps.Keys(irregular)) { // a form may be the base of another
			l.inflect(form, irregular[form], part)
		}
	}
	return l
}

func (l lemmas) of(word string) *lemma {
	m := l[word]
	if m == nil {
		m = &lemma{given: map[string]bool{}}
		l[word] = m
	}
	return m
}

// spell notes how the words of a synset are written, and what the names among
// them name.
func (l lemmas) spell(s *synset) {
	instance := false
	for _, p := range s.pointers {
		instance = instance || p.kind == "@i"
	}
	place := instance && (s.file == fileLocation || s.file == fileObject)
	person := instance && s.file == filePerson
	for i, written := range s.written {
		capital := unicode.IsUpper(rune(written[0]))
		first, last := written, written
		if k := strings.IndexByte(written, '_'); k > 0 {
			first, last = written[:k], written[strings.LastIndexByte(written, '_')+1:]
		}
		if first == written {
			switch m := l.of(s.words[i]); {
			case !capital:
				m.small = true
			case strings.ToUpper(written) == written: // "OH" is no "Oh"
			case place:
				m.places++
			case person:
				m.last++
			default:
				m.others++
			}
			continue
		}
		if person && capital && last != "" && unicode.IsUpper(rune(last[0])) && len(first) > 2 &&
			!strings.Contains(written, "_of_") && !strings.Contains(written, "_the_") {
			l.of(strings.ToLower(first)).given[last] = true
			l.of(strings.ToLower(last)).last++
		}
	}
}

// inflect lets an irregular form be what its bases are: "ran" is a verb as "run" is.
func (l lemmas) inflect(form string, bases []string, part int) {
	for _, base := range bases {
		b := l[base]
		if b == nil || b.senses[part] == 0 || strings.Contains(form, "_") {
			continue
		}
		m := l.of(form)
		m.small = true
		m.senses[part] += b.senses[part]
		m.count[part] += b.count[part]
		if part == 0 && m.kind == poslex.Thing {
			m.kind = b.kind
		}
	}
}
