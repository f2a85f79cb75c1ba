package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/engine/internal/alike"
	"github.com/lightctl/lightrag/engine/internal/lexical"
	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/llm"
)

// named returns the entities that the keywords name, in the order of the
// keywords: first one of exactly that name or alias, then those of which a name or
// alias differs in case, width, punctuation and spaces alone, of most relations first.
// s.words.lists must be the posting lists of entities of terms.
func (s *search) named(keywords, terms []string) ([]uint32, error) {
	var out []uint32
	for _, word := range keywords {
		id, ok, err := s.exactly(word)
		if err != nil {
			return nil, err
		}
		if ok && !slices.Contains(out, uint32(id)) {
			out = append(out, uint32(id))
		}
		spelled := s.spelled(word, terms)
		if spelled, err = s.aliased(spelled, word); err != nil {
			return nil, err
		}
		slices.SortFunc(spelled, func(a, b uint32) int {
			return cmp.Or(cmp.Compare(s.view.Degree(format.EntityID(b)), s.view.Degree(format.EntityID(a))), cmp.Compare(a, b))
		})
		for _, id := range spelled {
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out, nil
}

// exactly looks a name or alias up, as it is written and as names in documents
// are normalised.
func (s *search) exactly(name string) (format.EntityID, bool, error) {
	id, ok, err := s.view.FindEntity(name)
	if n := llm.NormalizeName(name); err == nil && !ok && n != name && n != "" {
		id, ok, err = s.view.FindEntity(n)
	}
	return id, ok && s.filter.entity(id), err
}

// spelled returns the entities whose name has the key of name. The name is part
// of the text of an entity, so that they are all in the posting list of each of
// its terms: the shortest one is looked through.
func (s *search) spelled(name string, terms []string) []uint32 {
	key := alike.Key(name)
	shortest := -1
	lexical.Analyzer{}.Terms(key, func(t []byte) {
		i := slices.Index(terms, string(t))
		if i >= 0 && (shortest < 0 || len(s.words.lists[i].Owners) < len(s.words.lists[shortest].Owners)) {
			shortest = i
		}
	})
	if shortest < 0 {
		return nil
	}
	var out []uint32
	for _, o := range s.words.lists[shortest].Owners {
		n := s.view.EntityName(format.EntityID(o))
		if mayHaveKey(n, key) && alike.Key(n) == key && s.filter.entity(format.EntityID(o)) {
			out = append(out, o)
		}
	}
	return out
}

// mayHaveKey reports whether the ASCII letters and digits of name are those of
// key, in their order; it spares nearly all names the making of their key.
func mayHaveKey(name, key string) bool {
	j := 0
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c >= 0x80 {
			return true // not worth more
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if !letterOrDigit(c) {
			continue
		}
		for j < len(key) && !letterOrDigit(key[j]) {
			if key[j] >= 0x80 {
				return false // folding a name of ASCII gives ASCII
			}
			j++
		}
		if j == len(key) || key[j] != c {
			return false
		}
		j++
	}
	return !strings.ContainsFunc(key[j:], func(r rune) bool { return r >= 0x80 || letterOrDigit(byte(r)) })
}

func letterOrDigit(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
