package graphstore

import (
	"cmp"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/lightctl/lightrag/format"
)

// shardKey names one shard of an entity's neighbours.
type shardKey struct {
	entity EntityID
	shard  uint16
}

// adjacencyEdits are the neighbours that a change adds to and takes from
// shards.
type adjacencyEdits map[shardKey][]neighborEdit

type neighborEdit struct {
	low uint16
	add bool
}

// edit notes that the pair becomes, or ceases to be, related.
func (a adjacencyEdits) edit(pair [2]EntityID, add bool) {
	for i, e := range pair {
		other := uint32(pair[1-i])
		key := shardKey{e, uint16(other >> 16)}
		a[key] = append(a[key], neighborEdit{uint16(other), add})
	}
}

// adjacency rewrites the shards that the edits touch.
func (tx *txn) adjacency(edits adjacencyEdits) error {
	keys := slices.SortedFunc(maps.Keys(edits), func(a, b shardKey) int {
		return cmp.Or(cmp.Compare(a.entity, b.entity), cmp.Compare(a.shard, b.shard))
	})
	set := roaring.New()
	for _, k := range keys {
		set.Clear()
		tx.key = format.AppendAdjacencyKey(tx.key[:0], k.entity, k.shard)
		if _, err := tx.rows.seek(tx.key, func(b []byte) error { return format.DecodeAdjacency(b, set) }); err != nil {
			return err
		}
		for _, e := range edits[k] {
			if e.add {
				set.Add(uint32(e.low))
			} else {
				set.Remove(uint32(e.low))
			}
		}
		if set.IsEmpty() {
			if err := tx.del(tx.key); err != nil {
				return err
			}
			continue
		}
		var err error
		if tx.value, err = format.AppendAdjacency(tx.value[:0], set); err != nil {
			return err
		}
		if err := tx.set(tx.key, tx.value); err != nil {
			return err
		}
	}
	return nil
}
