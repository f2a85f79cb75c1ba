package measure

import (
	"math"
	"slices"
	"time"
)

// Sample is a set of durations, in any order.
type Sample []time.Duration

// Percentile returns the smallest value that at least p percent of the sample
// do not exceed (nearest rank); 0 for an empty sample.
func (s Sample) Percentile(p float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Clone(s)
	slices.Sort(sorted)
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Median returns the middle value; of two, the mean.
func (s Sample) Median() time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Clone(s)
	slices.Sort(sorted)
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Mean returns the arithmetic mean.
func (s Sample) Mean() time.Duration {
	if len(s) == 0 {
		return 0
	}
	var sum time.Duration
	for _, d := range s {
		sum += d
	}
	return sum / time.Duration(len(s))
}

// Milliseconds returns d as a number.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
