package lexical

import (
	"cmp"
	"math"
	"slices"
)

// The parameters of BM25 (S. Robertson, H. Zaragoza, The Probabilistic Relevance
// Framework: BM25 and Beyond, 2009, section 3): K1 says how soon further
// occurrences of a term stop to count, B how much the length of a text matters.
const (
	K1 = 1.2
	B  = 0.75
)

// List is the posting list of one term: the owners whose texts hold it,
// ascending, and how often each does.
type List struct {
	Owners []uint32
	Counts []uint8
}

// Collection describes the texts that posting lists are about.
type Collection struct {
	Owners uint64                  // how many texts
	Tokens uint64                  // the sum of their lengths
	Length func(owner uint32) int  // of one text, in the unit of Tokens
	Accept func(owner uint32) bool // owners to be ranked; nil = all
}

// Hit is an owner and its score.
type Hit struct {
	Owner uint32
	Score float64
}

// Ranker holds what ranking needs between calls. It is not safe for concurrent
// use; the zero value is ready.
type Ranker struct {
	cursors []cursor
	counts  []uint8 // of the current owner, by list
	weights []float64
	best    []Hit // a heap, the worst first
}

// cursor is a place in a posting list.
type cursor struct {
	List
	term  int     // index of the list
	at    int     // first owner that was not passed
	bound float64 // no owner gets more from this list
	sum   float64 // of the bounds of the cursors up to this one
}

// Top appends the k owners with the highest BM25 scores to dst, by (score
// descending, owner). The idf is that of Robertson and Sparck Jones plus one
// inside the logarithm, ln(1 + (N-n+.5)/(n+.5)), which is never negative. Owners
// that no list holds are not found.
//
// The result is exact. Lists are read side by side by ascending owner, and those
// that together cannot lift an owner into the k best are only looked into
// (MaxScore: H. Turtle, J. Flood, Query evaluation: strategies and optimizations, 1995). Time and
// memory do not depend on how many texts there are, but on what the lists hold.
func (r *Ranker) Top(dst []Hit, k int, lists []List, c *Collection) []Hit {
	r.best = r.best[:0]
	if k <= 0 || c.Owners == 0 {
		return dst
	}
	r.begin(lists, c)
	average := max(float64(c.Tokens)/float64(c.Owners), 1)
	first := 0 // cursors before it cannot find a hit by themselves
	floor := math.Inf(-1)
	for first < len(r.cursors) {
		owner, ok := next(r.cursors[first:])
		if !ok {
			break
		}
		clear(r.counts)
		most := 0.0 // what it can reach, were its text empty
		if first > 0 {
			most = r.cursors[first-1].sum
		}
		for i := first; i < len(r.cursors); i++ {
			if u := &r.cursors[i]; u.at < len(u.Owners) && u.Owners[u.at] == owner {
				n := u.Counts[u.at]
				r.counts[u.term] = n
				most += float64(r.weights[u.term] * mostGain[n])
				u.at++
			}
		}
		if most*slack <= floor || c.Accept != nil && !c.Accept(owner) {
			continue // without a look at its length, which is far away in memory
		}
		norm := float64(K1 * (1 - B + float64(B*float64(c.Length(owner))/average)))
		score := r.score(norm)
		for i := first - 1; i >= 0 && score+r.cursors[i].sum > floor; i-- {
			u := &r.cursors[i]
			if u.seek(owner) {
				r.counts[u.term] = u.Counts[u.at]
				score = r.score(norm)
			}
		}
		if score > floor || len(r.best) < k {
			r.keep(Hit{owner, score}, k)
			if len(r.best) == k {
				floor = r.best[0].Score
				for first < len(r.cursors) && r.cursors[first].sum <= floor {
					first++
				}
			}
		}
	}
	slices.SortFunc(r.best, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Owner, b.Owner))
	})
	return append(dst, r.best...)
}

// begin sets the cursors up, those that can add least first.
func (r *Ranker) begin(lists []List, c *Collection) {
	r.cursors, r.weights = r.cursors[:0], r.weights[:0]
	for i, l := range lists {
		w := IDF(c.Owners, len(l.Owners))
		r.weights = append(r.weights, w)
		if len(l.Owners) > 0 {
			// What a list adds stays below its bound by more than rounding can lose: a
			// count is at most 255.
			r.cursors = append(r.cursors, cursor{List: l, term: i, bound: w * (K1 + 1)})
		}
	}
	r.counts = slices.Grow(r.counts[:0], len(lists))[:len(lists)]
	slices.SortStableFunc(r.cursors, func(a, b cursor) int { return cmp.Compare(a.bound, b.bound) })
	sum := 0.0
	for i := range r.cursors {
		sum += r.cursors[i].bound
		r.cursors[i].sum = sum
	}
}

// Most returns what no score of the lists exceeds: that of a text of no length
// that holds nothing but their terms. Terms without a list in use weigh nothing.
func Most(owners uint64, lists []List) (most float64) {
	for _, l := range lists {
		if n := len(l.Owners); n > 0 {
			most += float64((K1 + 1) * IDF(owners, n))
		}
	}
	return most
}

// IDF returns the weight of a term that n of so many owners have.
func IDF(owners uint64, n int) float64 {
	rest := max(float64(owners)-float64(n), 0)
	return ln(1 + (rest+0.5)/(float64(n)+0.5))
}

// ln is the natural logarithm of x >= 1, the same on every platform: that of
// package math is fused differently from one to another. ln x = 2 artanh((x-1)/(x+1)).
func ln(x float64) float64 {
	frac, exp := math.Frexp(x)
	if frac < math.Sqrt2/2 {
		frac, exp = 2*frac, exp-1
	}
	s := (frac - 1) / (frac + 1)
	z := float64(s * s)
	sum := 0.0
	for n := 23; n > 0; n -= 2 {
		sum = float64(sum*z) + 1/float64(n)
	}
	return float64(float64(exp)*math.Ln2) + float64(2*s*sum)
}

// score adds up what the current owner's counts are worth, in the order of the
// lists, so that the sum does not depend on which of them were looked into.
func (r *Ranker) score(norm float64) float64 {
	sum := 0.0
	for i, n := range r.counts {
		if n > 0 {
			sum += float64(r.weights[i] * gain(n, norm))
		}
	}
	return sum
}

// mostGain is gain for a text of length 0.
var mostGain = func() (t [256]float64) {
	for n := range t {
		t[n] = gain(uint8(n), K1*(1-B))
	}
	return t
}()

// slack is more than rounding can add to a score.
const slack = 1 + 1e-12

// gain is the part of a term that is seen n times; norm is K1 with the length in it.
func gain(n uint8, norm float64) float64 {
	return float64(float64(n)*(K1+1)) / (float64(n) + norm)
}

// next returns the smallest owner that the cursors have not passed.
func next(cursors []cursor) (owner uint32, ok bool) {
	owner = math.MaxUint32
	for i := range cursors {
		if u := &cursors[i]; u.at < len(u.Owners) {
			owner, ok = min(owner, u.Owners[u.at]), true
		}
	}
	return owner, ok
}

// seek moves to owner, or to the next greater one, and reports whether it is
// there. It doubles its steps, then halves them.
func (u *cursor) seek(owner uint32) bool {
	low, step := u.at, 1
	for low+step < len(u.Owners) && u.Owners[low+step] < owner {
		low += step
		step *= 2
	}
	rest := u.Owners[low:min(low+step+1, len(u.Owners))]
	at, found := slices.BinarySearch(rest, owner)
	u.at = low + at
	return found
}

// keep puts a hit into the heap of the k best. Owners come in ascending order, so
// that of equal scores the earlier one stays.
func (r *Ranker) keep(h Hit, k int) {
	if len(r.best) < k {
		r.best = append(r.best, h)
		for i := len(r.best) - 1; i > 0; {
			up := (i - 1) / 2
			if !worse(r.best[i], r.best[up]) {
				return
			}
			r.best[i], r.best[up] = r.best[up], r.best[i]
			i = up
		}
		return
	}
	r.best[0] = h
	for i := 0; ; {
		down := 2*i + 1
		if down >= k {
			return
		}
		if down+1 < k && worse(r.best[down+1], r.best[down]) {
			down++
		}
		if !worse(r.best[down], r.best[i]) {
			return
		}
		r.best[i], r.best[down] = r.best[down], r.best[i]
		i = down
	}
}

// worse orders hits by (score, owner descending).
func worse(a, b Hit) bool {
	return a.Score < b.Score || a.Score == b.Score && a.Owner > b.Owner
}
