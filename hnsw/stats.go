package hnsw

import "unsafe"

// Stats describes a Graph or an Index at about one moment.
type Stats struct {
	Slots  int // appended
	Linked int // below the mark
	Live   int // neither killed nor, in an Index, replaced or deleted
	Dead   int // the others
	Free   int // of them, those in no list any more, which an Index uses again
	Twins  int // linked slots that hold the row of an earlier one
	Layers int // of the graph, 0 while nothing is linked
	Links  int // on layer 0
	// Unreachable is the number of live linked slots that no walk on layer 0 meets. Repair and Consolidate
	// leave none, and little is lost by the few there are between them.
	Unreachable int
	Bytes       int64 // of all that follow; of 384 dimensions and M 16 about 2,070 per slot of a Graph
	// RowBytes are read by exact scans, by walks that compare rows, and for the best of every search. What else
	// there is, walks by codes read all the time: of 384 dimensions and M 16 about 530 bytes per slot. The StateBytes
	// of an Index count its ids too: 8 bytes per slot in what was opened, 32 in what was added since.
	RowBytes, CodeBytes, LinkBytes, StateBytes int64
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
		ids, _ = t.names(slot, mark, ids[:0]) // none where it is damaged
		s.Links += len(ids)
		if t.nextTwin(slot) != 0 {
			s.Twins++ // every twin has one predecessor
		}
	}
	for _, chunk := range t.rows.Chunks {
		s.RowBytes += int64(4 * len(chunk))
	}
	s.CodeBytes = int64(len(t.codes.Data))
	s.LinkBytes = int64(4 * (len(t.links) + len(t.upper)))
	s.StateBytes = int64(len(t.meta)) * int64(unsafe.Sizeof(meta{})+unsafe.Sizeof(ties{}))
	for _, m := range t.meta {
		s.StateBytes += int64(4 * len(m.at))
	}
	s.Live = s.Slots - s.Dead
	s.Free = int(g.upkeep.aparts.Load())
	if entry != noEntry && mark > 0 {
		reached := reach{g: g, t: t, n: mark, bits: clearedBits(nil, mark)}
		reached.from(uint32(entry))
		for slot := range mark {
			if !t.dead(slot) && !reached.has(slot) {
				s.Unreachable++
			}
		}
	}
	s.Bytes = s.RowBytes + s.CodeBytes + s.LinkBytes + s.StateBytes
	return s
}

// Stats counts. It takes time proportional to the number of vectors.
func (ix *Index) Stats() Stats {
	c, leave := ix.enter()
	defer leave()
	s := c.g.Stats()
	s.Live = ix.Len()
	s.Dead = s.Slots - s.Live
	ids := int64(0)
	for _, chunk := range *c.ids.Load() {
		ids += 8*chunkSlots + int64(unsafe.Sizeof(*chunk))
		if chunk.versions.Load() != nil {
			ids += int64(unsafe.Sizeof(versions{}))
		}
	}
	s.StateBytes, s.Bytes = s.StateBytes+ids, s.Bytes+ids
	return s
}
