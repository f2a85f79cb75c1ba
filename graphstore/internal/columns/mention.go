package columns

import (
	"maps"
	"slices"
)

// Mentions returns the entities that have the chunk among their sources, by
// ascending id. It is the inverse of EntitySources.
func (c *Columns) Mentions(id ChunkID) []EntityID {
	if p := c.mentions.page(uint32(id)); p != nil {
		return c.mentioned.list(p.rows[id&pageMask])
	}
	return nil
}

// mention notes that the sources of an entity change. What both lists begin and
// end with is skipped: sources come and go at one place, of hundreds.
func (b *Builder) mention(id EntityID, old, now []ChunkID) {
	if b.loading {
		return
	}
	all := now
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	for _, c := range old {
		if slices.Contains(all, c) {
			continue
		}
		list := b.mentioning(c)
		if at, found := slices.BinarySearch(list, id); found {
			b.lists[c] = slices.Delete(list, at, at+1)
		}
	}
	for _, c := range now {
		list := b.mentioning(c)
		if at, found := slices.BinarySearch(list, id); !found {
			b.lists[c] = slices.Insert(list, at, id)
		}
	}
}

// mentioning returns the working copy of the list of a chunk.
func (b *Builder) mentioning(id ChunkID) []EntityID {
	list, ok := b.lists[id]
	if !ok {
		if b.lists == nil {
			b.lists = make(map[ChunkID][]EntityID)
		}
		old := b.next.Mentions(id)
		list = append(make([]EntityID, 0, len(old)+8), old...)
		b.lists[id] = list
	}
	return list
}

// storeMentions writes the working copies into the arena, by id so that the
// layout does not depend on the order of a map.
func (b *Builder) storeMentions() {
	n := &b.next
	for _, id := range slices.Sorted(maps.Keys(b.lists)) {
		n.mentioned.free(spanOf(&n.mentions, uint32(id)).room)
		if list := b.lists[id]; len(list) > 0 {
			*n.mentions.put(uint32(id), n.gen) = n.mentioned.store(list, 0)
		} else if n.mentions.has(uint32(id)) {
			n.mentions.drop(uint32(id), n.gen)
		}
	}
	b.lists = nil
}

func spanOf(t *table[span], id uint32) span {
	if p := t.page(id); p != nil {
		return p.rows[id&pageMask]
	}
	return span{}
}

// mention fills the lists of all chunks.
func (l *Loader) mention() {
	n := &l.b.next
	// Room first: until the lists exist, room counts and n is zero.
	for id := range n.Entities() {
		for _, c := range n.EntitySources(id) {
			n.mentions.put(uint32(c), n.gen).room++
		}
	}
	n.mentions.each(n.gen, func(s *span) { *s = n.mentioned.alloc(int(s.room)) })
	for id := range n.Entities() {
		for _, c := range n.EntitySources(id) {
			s := n.mentions.put(uint32(c), n.gen)
			if list := n.mentioned.list(*s); len(list) == 0 || list[len(list)-1] != id {
				n.mentioned.extend(s, []EntityID{id})
			}
		}
	}
}

// compactMentions copies the lists to a fresh arena without garbage.
func (b *Builder) compactMentions() {
	n := &b.next
	var fresh arena[EntityID]
	n.mentions.each(n.gen, func(s *span) { *s = fresh.store(n.mentioned.list(*s), 0) })
	n.mentioned = fresh
}
