package columns

// each gives fn every live row of t for writing by version gen.
func (t *table[R]) each(gen uint64, fn func(*R)) {
	for id, ok := t.next(0); ok; id, ok = t.next(uint64(id) + 1) {
		fn(t.put(id, gen))
	}
}

// compactPairs copies the neighbour lists to a fresh arena without garbage.
func (b *Builder) compactPairs() {
	n := &b.next
	var fresh arena[Neighbor]
	n.entities.each(n.gen, func(r *entityRow) {
		r.pairs = fresh.store(n.pairs.list(r.pairs), 0)
	})
	n.pairs = fresh
}

// compactSources does the same for the source lists, which lose their room to
// grow.
func (b *Builder) compactSources() {
	n := &b.next
	var fresh arena[ChunkID]
	n.entities.each(n.gen, func(r *entityRow) {
		r.sources = fresh.store(n.sources.list(r.sources), 0)
	})
	n.relations.each(n.gen, func(r *relationRow) {
		r.sources = fresh.store(n.sources.list(r.sources), 0)
	})
	n.sources = fresh
}

// compactText does the same for the names.
func (b *Builder) compactText() {
	n := &b.next
	var fresh arena[byte]
	n.names.each(n.gen, func(r *nameRow) {
		s := fresh.store(n.text.list(r.span()), 0)
		*r = nameRow{s.chunk, s.off, s.n}
	})
	n.text = fresh
}
