package main

import (
	"math"
	"slices"
)

// point is what one index does at one width of its search.
type point struct {
	Ef     int     `json:"ef"`
	Recall float64 `json:"recall"`
	QPS    float64 `json:"qps"`
}

// curve is what one index with one seed does over all widths, narrowest first.
type curve []point

// at returns the queries per second at a recall, by straight lines between the logarithms of the measured
// points; false where the curve does not reach it, or starts above.
func (c curve) at(recall float64) (float64, bool) {
	for i, p := range c {
		if p.Recall < recall {
			continue
		}
		if p.Recall == recall {
			return p.QPS, true
		}
		if i == 0 || c[i-1].Recall <= 0 {
			return 0, false
		}
		prev := c[i-1]
		if prev.QPS <= 0 || p.QPS <= 0 {
			return 0, false
		}
		share := math.Log(recall/prev.Recall) / math.Log(p.Recall/prev.Recall)
		return math.Exp(math.Log(prev.QPS) + share*math.Log(p.QPS/prev.QPS)), true
	}
	return 0, false
}

// reach returns the highest recall of the curve.
func (c curve) reach() float64 {
	var most float64
	for _, p := range c {
		most = max(most, p.Recall)
	}
	return most
}

// start returns the recall of the narrowest search.
func (c curve) start() float64 {
	if len(c) == 0 {
		return 1
	}
	return c[0].Recall
}

// medianAt returns the median of the curves' rates at a recall; false unless all of them reach it.
func medianAt(curves []curve, recall float64) (float64, bool) {
	var all []float64
	for _, c := range curves {
		v, ok := c.at(recall)
		if !ok {
			return 0, false
		}
		all = append(all, v)
	}
	return median(all), len(all) > 0
}

// ratioAt returns the median of a's rates over b's, seed by seed, which were measured side by side; where one
// has a single seed, over that.
func ratioAt(a, b []curve, recall float64) (float64, bool) {
	if len(a) == 0 || len(b) == 0 {
		return 0, false
	}
	var all []float64
	for i := range min(len(a), len(b)) {
		x, ok := a[i].at(recall)
		y, ok2 := b[i].at(recall)
		if !ok || !ok2 {
			return 0, false
		}
		all = append(all, x/y)
	}
	return median(all), true
}

// median returns the middle value; of two, the mean; 0 of none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
