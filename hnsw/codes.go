package hnsw

import (
	"math"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// Beside its row, a slot has a code of one byte per element, from which a scan reads a bound of the score: only
// where the bound may matter does it read the row, which is four times as long. Answers are those of a scan of
// the rows, bit by bit.
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
// Rotation spreads a row's length evenly, so that one step per row serves all elements: lost is about 0.007 for
// 384 of them. Rows of other norms, which only PlaceRow can bring, get an infinite lost: their score is always
// computed.

const (
	// codesFrom is the number of rows from which a scan looks at codes: to prepare a query costs as much as some
	// rows, and the first rows have to be scored to have something to compare with.
	codesFrom = 512
	// giveUp is the number of blocks that a scan scores without looking at codes after one where they did not help.
	giveUp = 15

	codesSeed = 0x6C69676874726167

	normSlack  = 1e-3
	normMost   = 1 + 2*normSlack
	roundOff   = 0x1p-24
	turnError  = 48 * roundOff
	boundError = 64 * roundOff
)

// coded is what a slot has beside its code.
type coded struct {
	step float32 // a code k stands for k*step
	lost float32 // how far the code is from the rotated row, rounded up
}

// uncoded is for rows that a code cannot stand for: no score is too high for them.
var uncoded = coded{lost: float32(math.Inf(1))}

// encode writes the code of v to code. It leaves the rotated v in turned, which has its length.
func encode(r *simd.Rotator, code []uint8, turned, v []float32) coded {
	r.Rotate(turned, v)
	most := largest(turned)
	scale := 127 / most
	c := coded{step: most / 127}
	if !(scale > 0 && scale < math.MaxFloat32 && c.step > 0) {
		return uncoded
	}
	simd.Quantise(code, turned, scale)
	step := float64(c.step)
	var s0, s1, s2, s3 float64
	rest, codes := turned, code[:len(turned)]
	for len(rest) >= 4 {
		x, k := (*[4]float32)(rest), (*[4]uint8)(codes)
		d0 := float64(x[0]) - step*float64(int32(k[0])-128)
		d1 := float64(x[1]) - step*float64(int32(k[1])-128)
		d2 := float64(x[2]) - step*float64(int32(k[2])-128)
		d3 := float64(x[3]) - step*float64(int32(k[3])-128)
		s0, s1, s2, s3 = s0+d0*d0, s1+d1*d1, s2+d2*d2, s3+d3*d3
		rest, codes = rest[4:], codes[4:]
	}
	for i, x := range rest {
		d := float64(x) - step*float64(int32(codes[i])-128)
		s0 += d * d
	}
	c.lost = float32(math.Sqrt((s0+s1)+(s2+s3))*(1+4*roundOff)) + 4*roundOff
	return c
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
	if t.turn == nil {
		return
	}
	row := t.row(slot)
	m, i := t.at(slot)
	m.coded[i] = uncoded
	if math.Abs(simd.Norm(row)-1) <= normSlack {
		c := g.borrow()
		m.coded[i] = encode(t.turn, t.codes.Row(slot), c.turned, row)
		g.release(c)
	}
}

// coding is a query ready to be compared with codes.
type coding struct {
	code  simd.Query8
	bytes []uint8
	// The score of a slot is at most step*slot.step*product + perLost*slot.lost + rest.
	step, perLost, rest float32

	off  bool // not to be used in this scan
	skip int  // blocks that are scored without it
}

// begin readies c.coding for a scan of n rows.
func (c *scratch) begin(t *table, q []float32, n int) {
	c.asked, c.passed = 0, 0
	e := &c.coding
	e.off, e.skip = t.turn == nil || n < codesFrom, 0
	if !e.off {
		c.prepare(t, q)
	}
}

// helps says whether codes are to be looked at before the rows of the next block.
func (e *coding) helps(b *best) bool {
	if e.off || !b.full {
		return false
	}
	if e.skip > 0 {
		e.skip--
		return false
	}
	return true
}

// judge is told how many rows of a block are left after looking at codes.
func (e *coding) judge(left, of int) {
	if left > of/2 {
		e.skip = giveUp
	}
}

// prepare makes c.coding the query q.
func (c *scratch) prepare(t *table, q []float32) {
	e := &c.coding
	own := encode(t.turn, e.bytes, c.turned, q)
	e.code.Load(e.bytes)
	lost, dim := float64(own.lost), float64(len(q))
	e.step = own.step
	e.perLost = float32((normMost + lost) * (1 + 4*roundOff))
	e.rest = float32(normMost*lost + normMost*normMost*(1.01*dim*roundOff+2.01*turnError) + boundError)
}

// hopeful returns those of n slots from first on, all of one chunk, whose score may be at least least. They are
// valid until c.ids is used again.
func (c *scratch) hopeful(t *table, first, n uint32, least float32) []uint32 {
	e := &c.coding
	products := c.products[:n]
	simd.DotRange8(&e.code, &t.codes, first, products)
	m, at := t.at(first)
	beside := m.coded[at:][:len(products)]
	ids := c.ids[:0]
	need := least - e.rest
	for i, p := range products {
		x := &beside[i]
		if e.step*x.step*float32(p)+e.perLost*x.lost >= need {
			ids = append(ids, first+uint32(i))
		}
	}
	return ids
}

// hopefulOf keeps those of the listed slots whose score may be at least least.
func (c *scratch) hopefulOf(t *table, ids []uint32, least float32) []uint32 {
	e := &c.coding
	products := c.products[:len(ids)]
	simd.DotMany8(&e.code, &t.codes, ids, products)
	kept := ids[:0]
	need := least - e.rest
	for i, p := range products {
		m, at := t.at(ids[i])
		x := &m.coded[at]
		if e.step*x.step*float32(p)+e.perLost*x.lost >= need {
			kept = append(kept, ids[i])
		}
	}
	return kept
}
