package graphstore

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/lightctl/lightrag/format"
)

// Separator joins the descriptions of a record.
const Separator = "<SEP>"

// UnknownType is the type of an entity for which no fragment votes.
const UnknownType = "UNKNOWN"

// fragment is a fragment and its place in canonical order.
type fragment struct {
	key FragmentKey
	raw uint32 // of a stored one: the raw owner that has it
	format.Fragment
}

// item is one distinct description of an owner, at its first use.
type item struct {
	key  FragmentKey
	text string
}

// collector gathers, from an owner's fragments in canonical order, what its
// first max sources say.
type collector struct {
	max       int // sources; < 0 = all
	sources   []ChunkID
	items     []item
	extracted bool     // a fragment that is not implied was met
	implied   fragment // the first implied one that has a relation, if any

	begun  bool
	place  FragmentKey // document and order of the last source
	answer []item      // descriptions of the answer that is being read
	seen   map[string]struct{}
}

// add takes the next fragment. It returns false, and takes nothing, when the
// fragment lies beyond the last source that counts. What was curated (document
// 0) has no source and comes first. via says that the relation of an implied
// fragment is known although it has no id yet.
func (c *collector) add(key FragmentKey, f *format.Fragment, via bool) bool {
	sameChunk := c.begun && key.Doc == c.place.Doc && key.Order == c.place.Order
	c.begun = true
	if !sameChunk && key.Doc != 0 {
		if c.max >= 0 && len(c.sources) >= c.max {
			return false
		}
		c.sources = append(c.sources, f.Chunk)
	}
	if !sameChunk || key.Pass != c.place.Pass {
		c.flush()
	}
	c.place = key
	if f.Class == format.ClassImplied {
		if c.implied.Class == 0 && (via || f.Relation != 0) {
			c.implied = fragment{key: key, Fragment: *f}
		}
		return true
	}
	c.extracted = true
	if f.Description != "" {
		c.answer = append(c.answer, item{key, f.Description})
	}
	return true
}

// flush ends an answer: inside one, longer descriptions come first.
func (c *collector) flush() {
	if len(c.answer) > 1 {
		slices.SortStableFunc(c.answer, func(a, b item) int {
			return cmp.Compare(utf8.RuneCountInString(b.text), utf8.RuneCountInString(a.text))
		})
	}
	for _, it := range c.answer {
		if c.seen == nil {
			c.seen = make(map[string]struct{})
		}
		if _, ok := c.seen[it.text]; !ok {
			c.seen[it.text] = struct{}{}
			c.items = append(c.items, it)
		}
	}
	c.answer = c.answer[:0]
}

// joined returns the items' texts joined by Separator.
func joined(items []item) string {
	switch len(items) {
	case 0:
		return ""
	case 1:
		return items[0].text
	}
	var b strings.Builder
	for i, it := range items {
		if i > 0 {
			b.WriteString(Separator)
		}
		b.WriteString(it.text)
	}
	return b.String()
}

// EntityText returns the text that is embedded for an entity.
func EntityText(name, description string) string { return name + "\n" + description }

// RelationText returns the text that is embedded for a relation; src < tgt by
// code point.
func RelationText(keywords []string, src, tgt, description string) string {
	return strings.Join(keywords, ",") + "\t" + src + "\n" + tgt + "\n" + description
}

// TextHash returns the 64-bit hash by which a text to embed is compared with
// the text a vector was made from (xxHash64, seed 0; never 0).
func TextHash(text string) uint64 {
	if h := xxhash.Sum64String(text); h != 0 {
		return h
	}
	return 1
}

// descriptionHash returns the 128 bits that stand for a description in keys.
func descriptionHash(text string) (h [16]byte) {
	sum := sha256.Sum256([]byte(text))
	copy(h[:], sum[:])
	return h
}
