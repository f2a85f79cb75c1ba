package hnsw

import (
	"math"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// Beside its row, a slot has a code of one byte per element. All codes have the same scale, so that their products
// are integers that compare as scores do, about: by them walks find their way, four times as little memory to
// read. A scan reads from them a bound of the score, and only where that may matter the row: answers are those of a
// scan of the rows, bit by bit, unless it is told that it need not be sure (see deviations).
//
// Let q and x be the query and a row, q' and x' what rotation makes of them, and c and d the vectors their
// codes stand for. Then, with lost(x) = |x'-d| and lost(q) = |q'-c|,
//
//	q'x' = cd + q'(x'-d) + (q'-c)d
//	q'x' <= cd + |q'| lost(x) + lost(q) (|x'| + lost(x))
//
// by Cauchy's inequality, twice. cd is an exact integer times the steps of both codes. What is left is rounding,
// with u = 2^-24 and norms below normMost:
//
//   - rotating is at most 2*16+3 elementwise steps that keep the norm, each rounding by u of it, with factors off
//     by 4u: |qx - q'x'| is below 2*turnError times both norms;
//   - a float32 inner product, summed in whatever order, is off by at most 1.01*dim*u times both norms;
//   - the few operations that make the bound of sums below 4.
//
// Rotation spreads a row's length evenly, so that one step serves all elements of all rows: lost is about 0.01,
// whatever the dimension; where an element is beyond what codes can say, more. Of each block of slots the most lost of
// a slot is kept, and which of its slots lose more than usual: then one integer is what products of all others have to
// reach. Rows of other norms, which only PlaceRow can bring, get an infinite lost: they are always looked at.

const (
	// codesFrom is the number of rows from which a scan looks at codes: to prepare a query costs as much as some
	// rows, and the first rows have to be scored to have something to compare with.
	codesFrom = 512
	// giveUp is the number of blocks that a scan scores without looking at codes after one where they did not help.
	giveUp = 15

	// What codes lose has no direction, so that of a score they are off by a part of it that is about normal, with a
	// deviation of its length by the root of the dimension: the bound is 28 deviations away in 384 dimensions. A scan
	// that is not to prove its answer takes one of so many deviations, which one of a billion scores exceeds. Rows whose
	// elements come from few values can be off farther. The rows that the scan reads tell: where one is off by checkAt
	// deviations, one in two millions, the scan begins again with the bound.
	deviations = 6.0
	checkAt    = 5.0

	// usualLost is what few codes lose more than, in what rounding loses on average.
	usualLost = 1.1

	codesSeed = 0x6C69676874726167

	normSlack  = 1e-3
	normMost   = 1 + 2*normSlack
	roundOff   = 0x1p-24
	turnError  = 48 * roundOff
	boundError = 64 * roundOff
)

// lostOf returns how far codes, each standing for step times itself, are from the vector they were made of, rounded
// up.
func lostOf(v []float32, codes []uint8, unit float32) float32 {
	step := float64(unit)
	var s0, s1, s2, s3 float64
	codes = codes[:len(v)]
	for len(v) >= 4 {
		x, k := (*[4]float32)(v), (*[4]uint8)(codes)
		d0 := float64(x[0]) - step*float64(int32(k[0])-128)
		d1 := float64(x[1]) - step*float64(int32(k[1])-128)
		d2 := float64(x[2]) - step*float64(int32(k[2])-128)
		d3 := float64(x[3]) - step*float64(int32(k[3])-128)
		s0, s1, s2, s3 = s0+d0*d0, s1+d1*d1, s2+d2*d2, s3+d3*d3
		v, codes = v[4:], codes[4:]
	}
	for i, x := range v {
		d := float64(x) - step*float64(int32(codes[i])-128)
		s0 += d * d
	}
	return float32(math.Sqrt((s0+s1)+(s2+s3))*(1+4*roundOff)) + 4*roundOff
}

// largest returns the largest absolute value. Among numbers without a sign the order is that of their bits, a NaN
// being the largest.
func largest(v []float32) float32 {
	const abs = 1<<31 - 1
	var b0, b1, b2, b3 uint32
	for len(v) >= 4 {
		x := (*[4]float32)(v)
		b0 = max(b0, math.Float32bits(x[0])&abs)
		b1 = max(b1, math.Float32bits(x[1])&abs)
		b2 = max(b2, math.Float32bits(x[2])&abs)
		b3 = max(b3, math.Float32bits(x[3])&abs)
		v = v[4:]
	}
	for _, x := range v {
		b0 = max(b0, math.Float32bits(x)&abs)
	}
	return math.Float32frombits(max(b0, b1, b2, b3))
}

// encodeRow makes the code of a slot whose row is written. The slot is not yet published, or being placed.
func (g *Graph) encodeRow(t *table, slot uint32) {
	c := g.borrow()
	defer g.release(c)
	g.encode(c, t, slot, t.row(slot))
}

func (g *Graph) encode(c *scratch, t *table, slot uint32, row []float32) {
	if t.turn == nil {
		return
	}
	code := t.codes.Row(slot)
	scale := simd.UnitScale(g.dim)
	t.turn.Rotate(c.turned, row)
	simd.Quantise(code, c.turned, scale)
	lost := float32(math.Inf(1))
	if math.Abs(simd.Norm(row)-1) <= normSlack {
		lost = lostOf(c.turned, code, 1/scale)
	}
	// Numbers without a sign are ordered as their bits.
	m, i := t.at(slot)
	most, bits := &m.lost[i/scanBlock], math.Float32bits(lost)
	for now := most.Load(); now < bits && !most.CompareAndSwap(now, bits); now = most.Load() {
	}
	// Who uses a slot again leaves what it finds: searches that still look at the slot need not see that.
	if !(float64(lost) <= t.usual) {
		m.odd[i/scanBlock].Or(1 << (i % scanBlock))
	}
}

func usualLostOf(dim int) float64 {
	return usualLost * math.Sqrt(float64(dim)/12) / float64(simd.UnitScale(dim))
}

// coding is what a scan needs to know of the query whose code is in play.
type coding struct {
	// The score of a slot is at most step*product + perLost*lost + rest.
	step, perLost, rest float64
	lost                float64 // the most that a code in question loses
	usual               float64 // the most that a code loses which is not odd
	own, rounding, dim  float64 // what the query's code loses, and what is not lost by codes

	off    bool // not to be used in this scan
	likely bool // the bound need not be a proven one
	wrong  bool // and was not one
	skip   int  // blocks that are scored without it
}

// begin readies c.coding for a scan of n rows.
func (c *scratch) begin(t *table, q []float32, n int) {
	c.asked, c.passed = 0, 0
	e := &c.coding
	e.off, e.skip = t.turn == nil || n < codesFrom, 0
	e.likely, e.wrong = false, false
	if !e.off {
		c.prepare(t, q)
	}
}

// helps says whether codes are to be looked at before the rows of the next block.
func (e *coding) helps(b *best) bool {
	return !e.off && b.full && !e.skips()
}

// skips says whether the next block is scanned without looking at codes, and counts it.
func (e *coding) skips() bool {
	if e.skip == 0 {
		return false
	}
	e.skip--
	return true
}

// judge is told how many rows of a block are left after looking at codes.
func (e *coding) judge(left, of int) {
	if left > of/2 {
		e.skip = giveUp
	}
}

// encode makes q the vector whose code is in play, and returns what a unit of that code stands for. Codes of
// queries are compared with many, but not with one another: each has the scale that suits it best.
func (c *scratch) encode(t *table, q []float32) (unit float32) {
	t.turn.Rotate(c.turned, q)
	most := largest(c.turned)
	simd.Quantise(c.bytes, c.turned, 127/most)
	c.code.Load(c.bytes)
	unit = most / 127
	c.one = float64(simd.UnitScale(len(q))) / float64(unit)
	return unit
}

// prepare makes c.coding the query q.
func (c *scratch) prepare(t *table, q []float32) {
	if t.lazy != nil {
		c.fail(t.lazy.allCodes())
	}
	e := &c.coding
	unit := c.encode(t, q)
	lost, dim := float64(lostOf(c.turned, c.bytes, unit)), float64(len(q))
	e.step = float64(unit) / float64(simd.UnitScale(len(q)))
	e.perLost = (normMost + lost) * (1 + 4*roundOff)
	e.own, e.dim = lost, dim
	e.usual = t.usual
	e.rounding = normMost*normMost*(1.01*dim*roundOff+2.01*turnError) + boundError
	e.rest = normMost*lost + e.rounding
}

// margin is how far the score of a slot may be from what its product says, where codes lose no more than e.lost.
func (e *coding) margin() float64 {
	proven := e.rest + e.perLost*e.lost
	if !e.likely {
		return proven
	}
	return min(proven, e.rounding+deviations*math.Sqrt((e.own*e.own+e.lost*e.lost)/e.dim))
}

// check compares scores with products, for a scan that trusts a bound that is not proven.
func (e *coding) check(scores []float32, products []int32) {
	if !e.likely {
		return
	}
	far := e.margin() * (checkAt / deviations)
	for i, p := range products {
		if d := float64(scores[i]) - e.step*float64(p); !(math.Abs(d) <= far) {
			e.wrong = true
		}
	}
}

// needed returns what the product of a code that loses no more than e.lost must reach for a score to be at least
// least.
func (e *coding) needed(least float32) int32 {
	product := math.Floor((float64(least) - e.margin()) / e.step)
	return int32(max(math.MinInt32, min(math.MaxInt32, product)))
}

// lostNear returns the most that a code of the block of a slot loses, given its chunk.
func lostNear(m *meta, slot uint32) float64 {
	return float64(math.Float32frombits(m.lost[slot&chunkMask/scanBlock].Load()))
}

// lose sets e.lost to the most that n codes from place at of a chunk on lose.
func (e *coding) lose(m *meta, at, n uint32) {
	most := uint32(0) // numbers without a sign are ordered as their bits
	for block := at / scanBlock; block <= (at+n-1)/scanBlock; block++ {
		most = max(most, m.lost[block].Load())
	}
	e.lost = float64(math.Float32frombits(most))
}

// hopeful returns those of n slots from first on, all of one chunk, whose score may be at least least, and leaves
// their products in c.near. They are valid until c.ids is used again.
func (c *scratch) hopeful(t *table, first, n uint32, least float32) []uint32 {
	m, at := t.at(first)
	c.coding.lose(m, at, n)
	ids := c.ids[:n]
	return ids[:simd.ScanRange8(&c.code, &t.codes, first, int(n), c.coding.needed(least), ids, c.near)]
}
