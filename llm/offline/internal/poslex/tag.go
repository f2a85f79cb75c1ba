// Package poslex is a part-of-speech lexicon of English: what kinds of word a
// lower-case word may be, which it is most often, what its nouns denote, and
// whether it is a name. It is derived from WordNet 3.0 by
//
//	go run ./llm/offline/train lexicon
//
// and embedded as a hash table that needs no decoding: a lookup reads a few
// bytes of the program's own image, and nothing is built when it starts.
//
// The table holds 12 bits of a word's hash instead of the word. A word that it
// does not hold is therefore taken for another one once in about 700 times,
// which rules that ask for evidence elsewhere can bear.
//
// WordNet 3.0 is Copyright 2006 by Princeton University; its licence allows use
// and distribution for any purpose with that notice.
package poslex

// Tag is what is known of a word. The zero Tag is a word that is not in the
// lexicon. Values are those of the table: 12 bits.
type Tag uint16

// What a word may be; a word may be several.
const (
	Noun Tag = 1 << iota
	Verb
	Adjective
	Adverb

	partMask Tag = 15
)

const (
	mostShift   = 4 // 2 bits: the index of the part that it is most often
	kindShift   = 6 // 3 bits
	properShift = 9 // 3 bits
	tagBits     = 12
)

// Kind is what the most frequent noun of a word denotes.
type Kind uint8

const (
	Thing Kind = iota
	Person
	Group
	Place
	Event
	Time
	Abstract // acts, attributes, cognition, communication, states

	kinds
)

// Proper is what a word names when it is capitalised.
type Proper uint8

const (
	NoName Proper = iota
	GivenName
	Surname
	PlaceName
	OtherName

	propers
)

// Make composes a Tag: may is a union of parts, most the one of them that the
// word is most often. A word that is only ever a name has no parts.
func Make(may, most Tag, kind Kind, proper Proper) Tag {
	t := may&partMask | Tag(kind)<<kindShift | Tag(proper)<<properShift
	for i := range Tag(4) {
		if most == 1<<i {
			t |= i << mostShift
		}
	}
	return t
}

// May reports whether the word may be any of parts.
func (t Tag) May(parts Tag) bool { return t&parts&partMask != 0 }

// Most returns the part that the word is most often, 0 for one that is only a
// name or unknown.
func (t Tag) Most() Tag { return 1 << (t >> mostShift & 3) & t & partMask }

// Kind says what the word's nouns denote.
func (t Tag) Kind() Kind { return Kind(t >> kindShift & 7) }

// Proper says what the word names.
func (t Tag) Proper() Proper { return Proper(t >> properShift & 7) }

// Common reports whether the word is in the lexicon as more than a name.
func (t Tag) Common() bool { return t&partMask != 0 }
