package offline

import (
	"strings"

	"github.com/lightctl/lightrag/llm/offline/internal/poslex"
)

var participle = poslex.Make(poslex.Verb|poslex.Adjective, poslex.Verb, poslex.Thing, poslex.NoName)

// tagOf looks a lower-case word of English up, or the word that it is a regular
// form of. Zero means that nothing is known; such a word is best taken for a
// noun or a name.
func tagOf(low string) poslex.Tag {
	if t := poslex.Lookup(low); t != 0 || len(low) < 4 {
		if t.Most() == poslex.Adjective && !t.May(poslex.Verb) && strings.HasSuffix(low, "ed") && verbOf(low[:len(low)-2], low[:len(low)-1]) {
			return participle // WordNet has "discovered" as an adjective only
		}
		return t
	}
	if i := strings.LastIndexByte(low, '-'); i > 0 && i+1 < len(low) {
		return compound(tagOf(low[i+1:]))
	}
	switch n := len(low); {
	case strings.HasSuffix(low, "ly"):
		return poslex.Make(poslex.Adverb, poslex.Adverb, 0, 0)
	case low[n-1] == 's':
		return plural(low)
	case strings.HasSuffix(low, "ed"):
		if verbOf(low[:n-2], low[:n-1]) {
			return participle
		}
	case strings.HasSuffix(low, "ing"):
		if n > 5 && verbOf(low[:n-3], low[:n-3]+"e") {
			return poslex.Make(poslex.Verb|poslex.Noun|poslex.Adjective, poslex.Verb, poslex.Abstract, 0)
		}
	}
	for _, s := range [...]string{"able", "ible", "ous", "ful", "less", "ical", "ive"} {
		if len(low) > len(s)+3 && strings.HasSuffix(low, s) {
			return poslex.Make(poslex.Adjective, poslex.Adjective, 0, 0)
		}
	}
	return 0
}

// compound is the tag of a word that ends, behind a hyphen, in one of tag t:
// "open-ended" describes, a "sub-process" is a noun.
func compound(t poslex.Tag) poslex.Tag {
	switch t.Most() {
	case poslex.Noun:
		return poslex.Make(poslex.Noun|poslex.Adjective, poslex.Noun, t.Kind(), 0)
	case 0:
		return 0
	}
	return poslex.Make(poslex.Adjective, poslex.Adjective, 0, 0)
}

// plural is the tag of a word in s: the plural of a noun, or a form of a verb.
func plural(low string) poslex.Tag {
	n := len(low)
	t := poslex.Lookup(low[:n-1])
	if !t.May(poslex.Noun|poslex.Verb) && strings.HasSuffix(low, "es") {
		t = poslex.Lookup(low[:n-2])
		if !t.May(poslex.Noun|poslex.Verb) && strings.HasSuffix(low, "ies") {
			t = poslex.Lookup(low[:n-3] + "y")
		}
	}
	var may poslex.Tag
	for _, part := range [...]poslex.Tag{poslex.Noun, poslex.Verb} {
		if t.May(part) {
			may |= part
		}
	}
	most := t.Most()
	if may&most == 0 {
		most = may & poslex.Noun
	}
	if may == 0 {
		return 0
	}
	return poslex.Make(may, most, t.Kind(), 0)
}

// verbOf reports whether one of two words, or the first without its doubled
// last letter, is a verb.
func verbOf(a, b string) bool {
	if poslex.Lookup(a).May(poslex.Verb) || poslex.Lookup(b).May(poslex.Verb) {
		return true
	}
	n := len(a)
	if n > 3 && a[n-1] == a[n-2] && poslex.Lookup(a[:n-1]).May(poslex.Verb) {
		return true
	}
	return n > 2 && a[n-1] == 'i' && poslex.Lookup(a[:n-1]+"y").May(poslex.Verb)
}
