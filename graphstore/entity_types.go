package graphstore

import (
	"math"
	"sync"
)

// TypeID is the number that a store, while it is open, gives to an entity
// type: a filter compares numbers in the columns instead of reading records.
type TypeID uint16

// ManyTypes stands for every type that came when all numbers were given away.
// Such an entity's type is known by its record alone.
const ManyTypes TypeID = math.MaxUint16

// entityTypes numbers types in the order they are met, from 1. Numbers are never taken back.
type entityTypes struct {
	mu  sync.RWMutex
	ids map[string]TypeID
}

// id returns the number of a type, which it gives if need be.
func (t *entityTypes) id(name string) TypeID {
	if id, ok := t.find(name); ok {
		return id
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := t.ids[name]; ok {
		return id
	}
	if len(t.ids)+1 >= int(ManyTypes) {
		return ManyTypes
	}
	if t.ids == nil {
		t.ids = make(map[string]TypeID)
	}
	id := TypeID(len(t.ids) + 1)
	t.ids[name] = id
	return id
}

func (t *entityTypes) find(name string) (TypeID, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	id, ok := t.ids[name]
	return id, ok
}

// EntityType returns the number of an entity's type.
func (v *View) EntityType(id EntityID) TypeID { return TypeID(v.st.cols.EntityType(id)) }

// FindType returns the number of a type; false if no entity has, or may have
// had, that type. A type without a number of its own is ManyTypes.
func (v *View) FindType(name string) (TypeID, bool) {
	t := &v.st.s.types
	if id, ok := t.find(name); ok {
		return id, true
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return ManyTypes, len(t.ids)+1 >= int(ManyTypes)
}
