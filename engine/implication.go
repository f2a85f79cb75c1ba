package engine

import (
	"maps"

	"github.com/lightctl/lightrag/format"
)

// implication works out which sources the relations of a document add to the
// entities at their ends, as graphstore does when the document commits.
type implication struct {
	extracted map[impliedAt]bool
	own       map[string]bool // entities with fragments of their own
	relations []impliedBy
}

// impliedAt is an entity in a chunk.
type impliedAt struct {
	name  string
	order uint32
}

type impliedBy struct {
	src, tgt string
	key      format.FragmentKey
}

func newImplication() *implication {
	return &implication{extracted: make(map[impliedAt]bool), own: make(map[string]bool)}
}

func (m *implication) entity(name string, key format.FragmentKey) {
	m.extracted[impliedAt{name, key.Order}] = true
	m.own[name] = true
}

func (m *implication) relation(src, tgt string, key format.FragmentKey) {
	m.relations = append(m.relations, impliedBy{src, tgt, key})
}

// gives reports whether the relations imply exactly what is stored: per entity
// and chunk the key of the first relation. listed says that entities with
// fragments of their own get none.
func (m *implication) gives(stored map[impliedAt]format.FragmentKey, listed bool) bool {
	want := make(map[impliedAt]format.FragmentKey, len(stored))
	for _, r := range m.relations {
		for _, name := range [2]string{r.src, r.tgt} {
			at := impliedAt{name, r.key.Order}
			if m.extracted[at] || listed && m.own[name] {
				continue
			}
			if first, ok := want[at]; ok && first.Compare(r.key) <= 0 {
				continue
			}
			want[at] = r.key
		}
	}
	return maps.Equal(want, stored)
}
