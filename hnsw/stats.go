package hnsw

// Stats describes a Graph or an Index at about one moment.
type Stats struct {
	Slots  int   // appended
	Linked int   // below the mark
	Dead   int   // killed, or replaced and deleted
	Twins  int   // linked slots that hold the row of an earlier one
	Layers int   // of the graph, 0 while nothing is linked
	Links  int   // on layer 0
	Bytes  int64 // of rows, codes and links; of 384 dimensions and M 16 about 2,100 per slot
}

// Stats counts. It takes time proportional to the number of slots.
func (g *Graph) Stats() Stats {
	mark, entry, bound, t := g.mark.Load(), g.entry.Load(), g.bound.Load(), g.table.Load()
	s := Stats{Slots: int(bound), Linked: int(mark), Dead: int(g.dead.Load())}
	if entry != noEntry {
		s.Layers = int(entry>>32) + 1
	}
	var ids []uint32
	for slot := range mark {
		ids, _ = neighbours(g.list(t, slot, 0), mark, ids[:0])
		s.Links += len(ids)
		if t.nextTwin(slot) != 0 {
			s.Twins++ // every twin has one predecessor
		}
	}
	for _, chunk := range t.rows.Chunks {
		s.Bytes += int64(4 * len(chunk))
	}
	s.Bytes += int64(len(t.codes.Data))
	const fixed = (3*4+8)*chunkSlots + chunkSlots/8
	s.Bytes += int64(len(t.meta)) * int64(4*chunkSlots*(1+2*g.o.M)+fixed)
	s.Bytes += int64(len(t.upper)) * 4 * upperWords
	return s
}

// Stats counts. It takes time proportional to the number of vectors.
func (ix *Index) Stats() Stats {
	c := ix.current.Load()
	s := c.g.Stats()
	s.Bytes += int64(len(*c.ids.Load())) * 12 * chunkSlots
	return s
}
