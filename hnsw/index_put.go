package hnsw

// change is what becomes of one id.
type change struct {
	id        uint64
	slot, old uint32
	replaces  bool // old, which was the slot of the id
	removes   bool // slot means nothing
	inherited bool // slot has taken the place of old
}

const (
	// alikeFrom is the cosine from which a vector inherits the place of the one it replaces.
	alikeFrom = 0.9
	// driftMost is how far vectors drift from where their neighbours were searched for, as the sum of 1-cosine of
	// every step, until that is done again.
	driftMost = 0.5
)

// put writes a row into a spare slot, or a new one, for ch, and links it unless it is new and no vector like it
// is replaced. near is the cosine of the two.
func (ix *Index) put(ch *change, row []float32, near float32) error {
	c := ix.cur
	fill := func(to []float32) { copy(to, row) }
	c.hidden.Add(1)
	slot, spare := c.g.takeSpare(ch.old, near >= alikeFrom)
	if spare {
		c.reuse(slot, ch.id, unborn)
		c.g.revive(slot, fill)
	} else {
		slot = c.g.Bound()
		c.reserve(slot, ch.id, unborn)
		if _, err := c.g.append(fill); err != nil {
			c.hidden.Add(-1)
			return err
		}
	}
	ch.slot = slot
	if !spare && near < alikeFrom {
		return nil
	}
	drift := float32(0)
	if near >= alikeFrom {
		chunk, i := c.at(ch.old)
		drift = chunk.drift[i] + 1 - near
	}
	if c.g.linkNow(slot, ch.old, near >= alikeFrom && drift <= driftMost, ix.heir) {
		ch.inherited = true
		chunk, i := c.at(slot)
		chunk.drift[i] = drift
	}
	return nil
}

// heir returns the slot of the id that a dead slot was of.
func (ix *Index) heir(dead uint32) (uint32, bool) {
	chunk, i := ix.cur.at(dead)
	slot, ok := ix.slots[chunk.id[i]]
	return slot, ok && slot != dead
}
