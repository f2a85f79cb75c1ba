package engine

import (
	"slices"

	"github.com/lightctl/lightrag/engine/internal/alike"
	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// Aliases are in no text, and so in no postings: those of one commit are held by
// their keys, as names would be compared.
type aliasKeys struct {
	commit uint64
	roots  map[string][]string // key -> names of entities
}

// aliasKeys returns those of a view. They are read once a commit: there are as
// many as names were merged or renamed, which is few.
func (db *DB) aliasKeys(v *graphstore.View) (*aliasKeys, error) {
	if k := db.aliases.Load(); k != nil && k.commit == v.Seq() {
		return k, nil
	}
	k := &aliasKeys{commit: v.Seq(), roots: make(map[string][]string)}
	err := v.EachAlias(func(name, root string) error {
		key := alike.Key(name)
		if !slices.Contains(k.roots[key], root) {
			k.roots[key] = append(k.roots[key], root)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	db.aliases.Store(k)
	return k, nil
}

// aliased appends the entities that have an alias of the key of name to ids, if
// they are not among them.
func (s *search) aliased(ids []uint32, name string) ([]uint32, error) {
	keys, err := s.db.aliasKeys(s.view)
	if err != nil || len(keys.roots) == 0 {
		return ids, err
	}
	for _, root := range keys.roots[alike.Key(name)] {
		id, ok, err := s.view.FindEntity(root)
		if err != nil {
			return ids, err
		}
		if ok && s.filter.entity(format.EntityID(id)) && !slices.Contains(ids, uint32(id)) {
			ids = append(ids, uint32(id))
		}
	}
	return ids, nil
}
