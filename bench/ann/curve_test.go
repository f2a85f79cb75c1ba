package main

import (
	"math"
	"testing"
)

func TestRatesAreInterpolatedBetweenLogarithms(t *testing.T) {
	c := curve{{10, 0.8, 4000}, {20, 0.9, 2000}, {40, 0.9, 1500}, {80, 1, 500}}
	for _, test := range []struct {
		recall, want float64
		ok           bool
	}{
		{0.7, 0, false}, // the narrowest search is above
		{0.8, 4000, true},
		{math.Sqrt(0.8 * 0.9), math.Sqrt(4000 * 2000), true},
		{0.9, 2000, true},
		{math.Sqrt(0.9), math.Sqrt(1500 * 500), true},
		{1, 500, true},
	} {
		got, ok := c.at(test.recall)
		if ok != test.ok || math.Abs(got-test.want) > 1e-6*test.want {
			t.Errorf("at %v: %v, %v; want %v, %v", test.recall, got, ok, test.want, test.ok)
		}
	}
	if _, ok := (curve{{10, 0.8, 4000}, {20, 0.9, 2000}}).at(0.95); ok {
		t.Error("a curve that ends at 0.9 has a rate at 0.95")
	}
	if _, ok := (curve{}).at(0.5); ok {
		t.Error("an empty curve has a rate")
	}
	if _, ok := (curve{{10, 0, 4000}, {20, 0.9, 2000}}).at(0.5); ok {
		t.Error("a rate between recall 0 and something has a logarithm")
	}
}

func TestRatiosAreMadeSeedBySeed(t *testing.T) {
	at := func(qps float64) curve { return curve{{10, 0.5, qps}, {20, 1, qps}} }
	a, b := []curve{at(300), at(100), at(800)}, []curve{at(100), at(100), at(100)}
	if got, ok := ratioAt(a, b, 0.9); !ok || math.Abs(got-3) > 1e-9 {
		t.Errorf("ratio %v, %v; want 3", got, ok)
	}
	if got, ok := ratioAt(a, b[:1], 0.9); !ok || math.Abs(got-3) > 1e-9 {
		t.Errorf("ratio over one seed %v, %v; want 3", got, ok)
	}
	if _, ok := ratioAt(a, []curve{at(1), {{10, 0.5, 1}, {20, 0.8, 1}}, at(1)}, 0.9); ok {
		t.Error("a seed that does not reach the recall has a ratio")
	}
	if _, ok := ratioAt(a, nil, 0.9); ok {
		t.Error("a ratio to nothing")
	}
	if got, ok := medianAt(a, 0.9); !ok || math.Abs(got-300) > 1e-9 {
		t.Errorf("median %v, %v; want 300", got, ok)
	}
}

func TestReachAndStartOfACurve(t *testing.T) {
	c := curve{{10, 0.8, 1}, {20, 0.97, 1}, {40, 0.96, 1}}
	if c.start() != 0.8 || c.reach() != 0.97 {
		t.Errorf("from %v to %v, want 0.8 to 0.97", c.start(), c.reach())
	}
}
