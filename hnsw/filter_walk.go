package hnsw

// walkSome collects the ef best slots that pass the filter into c.found, traversing all below n from at on, and from
// another one, as far as walkAll would. It gives up, returning false, when it has scored more rows than a scan for the same answer would. allowed is
// the number of slots that pass the filter, or negative when nobody knows; twins adds chains of equal rows.
func (c *scratch) walkSome(g *Graph, t *table, n uint32, layer, ef, k int, at, from rank, f *filter, allowed int, twins bool) bool {
	c.forget(n)
	c.visit(at.slot())
	c.frontier, c.found = append(c.frontier[:0], at), c.found[:0]
	h := newHorizon(c, t, ef, k)
	scored, tested, passed := 0, 1, 0
	if f.ok(at.slot()) {
		c.found, passed = append(c.found, at), 1
	}
	if from != at && ef > 1 {
		c.visit(from.slot())
		c.frontier = push(c.frontier, from)
		if tested++; f.ok(from.slot()) {
			c.found, passed = append(c.found, from), passed+1
		}
	}
	for len(c.frontier) > 0 {
		var r rank
		r, c.frontier = pop(c.frontier)
		if len(c.found) == ef && r > c.found[ef-1] || h.ends(c.found, r) {
			break
		}
		ids, near, chain := c.expand(g, t, n, r.slot(), layer)
		scored += len(ids)
		for i, id := range ids {
			r := rankOf(near[i], id)
			if len(c.found) == ef && r > c.found[ef-1] {
				continue
			}
			c.frontier = push(c.frontier, r)
			tested++
			if f.ok(id) {
				passed++
				c.found, _ = insert(c.found, r, ef)
			}
		}
		if chain && twins {
			for twin := t.nextTwin(r.slot()); twin != 0 && twin < n; twin = t.nextTwin(twin) {
				r := rankOf(r.near(), twin)
				if len(c.found) == ef && r > c.found[ef-1] {
					break
				}
				if f.ok(twin) {
					c.found, _ = insert(c.found, r, ef)
				}
			}
		}
		if hopeless(int(n), allowed, ef, len(c.found), scored, tested, passed) {
			return false
		}
	}
	return true
}
