package eval

import (
	"fmt"
	"math/bits"
	"slices"
)

// Values are one figure per question.
type Values []float64

// Mean returns the arithmetic mean, 0 of none.
func (v Values) Mean() float64 {
	if len(v) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// Minus returns the differences question by question. Both are of the same
// questions.
func (v Values) Minus(w Values) Values {
	d := make(Values, len(v))
	for i := range v {
		d[i] = v[i] - w[i]
	}
	return d
}

// Interval is a mean and its 95 % interval.
type Interval struct {
	Mean, Low, High float64
}

// Above reports whether the whole interval is above x.
func (i Interval) Above(x float64) bool { return i.Low > x }

// String returns the mean and the interval with three decimals.
func (i Interval) String() string { return fmt.Sprintf("%.3f [%.3f, %.3f]", i.Mean, i.Low, i.High) }

const (
	resamples = 10_000
	tail      = resamples / 40 // 2.5 % at either end
)

// Interval estimates the mean by the percentile bootstrap: of the means of
// 10,000 samples drawn from v with replacement, each as large as v, it leaves
// out the 2.5 % at either end. The draws are the same every time.
func (v Values) Interval() Interval {
	n := uint64(len(v))
	if n == 0 {
		return Interval{}
	}
	means := make([]float64, resamples)
	var rand splitMix
	for i := range means {
		sum := 0.0
		for range n {
			at, _ := bits.Mul64(rand.next(), n)
			sum += v[at]
		}
		means[i] = sum / float64(n)
	}
	slices.Sort(means)
	return Interval{Mean: v.Mean(), Low: means[tail], High: means[resamples-1-tail]}
}

// splitMix is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), from seed 0.
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
