package hnsw

// walkSome collects the ef best slots that pass the filter into c.found, traversing all below n from at on, and from
// another one, as far as walkAll would, with chains of equal rows unless it looks for neighbours. It gives up, returning
// false, when a scan for the same answer, of the given price, is cheaper.
func (c *scratch) walkSome(g *Graph, t *table, n uint32, layer, ef, k int, at, from rank, f *filter, price int) bool {
	c.forget(n)
	c.visit(at.slot())
	c.frontier, c.found = append(c.frontier[:0], at), c.found[:0]
	h := newHorizon(c, t, n, ef, k)
	e := effort{asked: 1}
	if f.ok(at.slot()) {
		c.found, e.passed = append(c.found, at), 1
	}
	if from != at && ef > 1 {
		c.visit(from.slot())
		c.frontier = push(c.frontier, from)
		if e.asked++; f.ok(from.slot()) {
			c.found, _ = insert(c.found, from, ef)
			e.passed++
		}
	}
	chains := make([]rank, 0, abreast)
	for wide := 1; ; {
		// A step is as in walkAll.
		ids, taken, last := c.ids[:0], 0, rank(0)
		chains = chains[:0]
		for taken < wide && len(c.frontier) > 0 {
			r := c.frontier[0]
			if len(c.found) == ef && r > c.found[ef-1] || h.ends(c.found, r, 0) {
				break
			}
			last, c.frontier = pop(c.frontier)
			taken++
			var chain bool
			if ids, chain = c.look(g, t, n, last.slot(), layer, ids); chain && !f.linking {
				chains = append(chains, last)
			}
		}
		if taken == 0 {
			return true
		}
		wide = min(2*wide, abreast)
		e.compared += len(ids)
		e.steps += taken
		for i, near := range c.compare(t, ids) {
			r := rankOf(near, ids[i])
			if len(c.found) == ef && r > c.found[ef-1] {
				continue
			}
			if r < last { // nearer than one that this step looked at
				wide = 1
			}
			c.frontier = push(c.frontier, r)
			e.asked++
			if f.ok(r.slot()) {
				e.passed++
				c.found, _ = insert(c.found, r, ef)
			}
		}
		for _, r := range chains {
			for twin := t.nextTwin(r.slot()); twin != 0 && twin < n; twin = t.nextTwin(twin) {
				r := rankOf(r.near(), twin)
				if len(c.found) == ef && r > c.found[ef-1] {
					break
				}
				// A chain has any number of twins, and perhaps none that passes.
				if e.steps++; e.steps%walkLeast == 0 && e.hopeless(price, ef, len(c.found)) {
					return false
				}
				if c.visit(twin) && f.ok(twin) {
					c.found, _ = insert(c.found, r, ef)
				}
			}
		}
		if e.hopeless(price, ef, len(c.found)) {
			return false
		}
	}
}
