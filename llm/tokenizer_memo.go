package llm

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// memo remembers what was worked out for texts. A text has two places in its
// table, where the last two of those that share them are remembered: its size is
// bounded, and neither reading nor writing takes a lock.
type memo[V any] struct {
	seed  maphash.Seed
	slots []atomic.Pointer[memoEntry[V]]
	most  int // bytes of a text that is remembered
}

type memoEntry[V any] struct {
	text  string
	value V
}

func newMemo[V any](slots, most int) memo[V] {
	return memo[V]{seed: maphash.MakeSeed(), slots: make([]atomic.Pointer[memoEntry[V]], slots), most: most}
}

// places returns the two places of a text.
func (m *memo[V]) places(text string) []atomic.Pointer[memoEntry[V]] {
	i := maphash.String(m.seed, text) % uint64(len(m.slots)/2)
	return m.slots[2*i : 2*i+2]
}

func (m *memo[V]) get(text string) (v V, ok bool) {
	if len(text) > m.most {
		return v, false
	}
	for i, at := 0, m.places(text); i < len(at); i++ {
		if e := at[i].Load(); e != nil && e.text == text {
			return e.value, true
		}
	}
	return v, false
}

// put remembers v, which must not be changed any more, and returns it.
func (m *memo[V]) put(text string, v V) V {
	if len(text) <= m.most {
		at := m.places(text)
		at[1].Store(at[0].Load())
		at[0].Store(&memoEntry[V]{strings.Clone(text), v})
	}
	return v
}
