package engine

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// scope is a filter worked out against one commit: which owners the documents
// contribute to, by dense id, and where their vectors are. It holds no view, is
// shared by all queries that ask for the same, and does not change but for what
// it works out when it is first needed.
type scope struct {
	docs  []format.DocID // sorted; nil = all
	types []typeWanted   // nil = all

	owners [2]bitset // entities, relations of docs; meaningless without docs
	once   [indexKinds]sync.Once
	slots  [indexKinds]*roaring.Bitmap // of docs, see vectors
}

type typeWanted struct {
	id   graphstore.TypeID
	name string
}

// rowsPerScope is the number of documents up to which a scope is made from
// what they contribute, and above which by a look at all owners.
const rowsPerScope = 64

// newScope prepares a filter. A document that does not exist is ErrNotFound. A
// type that no entity has matches nothing: types are an open vocabulary.
func newScope(view *graphstore.View, documents, types []string) (*scope, error) {
	s := new(scope)
	for _, t := range types {
		name := t
		if n, ok := llm.NormalizeType(t); ok {
			name = n
		}
		if strings.EqualFold(name, graphstore.UnknownType) {
			name = graphstore.UnknownType
		}
		id, ok := view.FindType(name)
		if !ok {
			id = 0 // of no entity
		}
		s.types = append(s.types, typeWanted{id, name})
	}
	if len(documents) == 0 {
		return s, nil
	}
	docs, err := view.FindDocuments(documents)
	if err != nil {
		return nil, err
	}
	if i := slices.Index(docs, 0); i >= 0 {
		return nil, fmt.Errorf("document %q of the filter: %w", documents[i], ErrNotFound)
	}
	slices.Sort(docs)
	s.docs = slices.Compact(docs)
	if len(s.docs) <= rowsPerScope {
		return s, s.fromDocuments(view)
	}
	return s, s.fromOwners(view)
}

func (s *scope) fromDocuments(view *graphstore.View) error {
	for _, doc := range s.docs {
		if err := view.DocumentRoots(doc, func(kind format.Kind, root uint32) {
			if kind == format.KindEntity || kind == format.KindRelation {
				s.owners[kind-1].add(root)
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

func (s *scope) fromOwners(view *graphstore.View) error {
	for id := range view.Entities() {
		ok, err := view.SaidBy(format.KindEntity, uint32(id), s.docs)
		if err != nil {
			return err
		}
		if ok {
			s.owners[0].add(uint32(id))
		}
	}
	for id := range view.Relations() {
		ok, err := view.SaidBy(format.KindRelation, uint32(id), s.docs)
		if err != nil {
			return err
		}
		if ok {
			s.owners[1].add(uint32(id))
		}
	}
	return nil
}

// has reports whether one of the documents contributes to the owner.
func (s *scope) has(kind format.Kind, owner uint32) bool {
	return s.docs == nil || s.owners[kind-1].has(owner)
}

// vectors returns the slots of the vectors that the documents allow, nil for
// all. view must be one of the commit that the scope was made for.
func (s *scope) vectors(view *graphstore.View, kind format.Kind) *roaring.Bitmap {
	if s.docs == nil {
		return nil
	}
	i := kind - 1
	s.once[i].Do(func() {
		b := roaring.New()
		add := func(owner uint32) {
			if slot, ok := view.Slot(kind, owner); ok {
				b.Add(slot)
			}
		}
		if kind == format.KindChunk {
			for id := range view.ChunkIDs() {
				if doc, _ := view.ChunkPlace(id); sorted(s.docs, doc) {
					add(uint32(id))
				}
			}
		} else {
			s.owners[i].each(add)
		}
		s.slots[i] = b
	})
	return s.slots[i]
}

func sorted(docs []format.DocID, doc format.DocID) bool {
	_, ok := slices.BinarySearch(docs, doc)
	return ok
}

// scopes keeps the scopes that were used last: the same few filters come again
// with every question.
type scopes struct {
	mu   sync.Mutex
	seq  uint64
	list []keptScope // the one used last first
}

type keptScope struct {
	key   string
	scope *scope
}

const scopesKept = 8

// get returns the scope of a filter in the view's commit.
func (c *scopes) get(view *graphstore.View, documents, types []string) (*scope, error) {
	key := scopeKey(documents, types)
	if s := c.find(view.Seq(), key); s != nil {
		return s, nil
	}
	s, err := newScope(view, documents, types)
	if err != nil {
		return nil, err
	}
	c.put(view.Seq(), keptScope{key, s})
	return s, nil
}

func (c *scopes) find(seq uint64, key string) *scope {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seq != seq {
		return nil
	}
	i := slices.IndexFunc(c.list, func(k keptScope) bool { return k.key == key })
	if i < 0 {
		return nil
	}
	k := c.list[i]
	copy(c.list[1:i+1], c.list[:i])
	c.list[0] = k
	return k.scope
}

func (c *scopes) put(seq uint64, k keptScope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if seq < c.seq {
		return
	}
	if seq > c.seq {
		c.seq, c.list = seq, nil
	}
	c.list = slices.Insert(c.list, 0, k)
	c.list = c.list[:min(len(c.list), scopesKept)]
}

// scopeKey tells filters apart: each part is preceded by its length.
func scopeKey(documents, types []string) string {
	var b []byte
	for _, list := range [2][]string{documents, types} {
		b = fmt.Appendf(b, "%d:", len(list))
		for _, s := range list {
			b = fmt.Appendf(b, "%d:%s", len(s), s)
		}
	}
	return string(b)
}

// bitset is a set of dense ids.
type bitset []uint64

func (b *bitset) add(i uint32) {
	w := int(i >> 6)
	if w >= len(*b) {
		*b = append(*b, make([]uint64, w+1-len(*b))...)
	}
	(*b)[w] |= 1 << (i & 63)
}

func (b bitset) has(i uint32) bool {
	w := int(i >> 6)
	return w < len(b) && b[w]>>(i&63)&1 != 0
}

func (b bitset) each(fn func(uint32)) {
	for w, word := range b {
		for ; word != 0; word &= word - 1 {
			fn(uint32(w<<6 + bits.TrailingZeros64(word)))
		}
	}
}

func (b bitset) count() int {
	n := 0
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}
