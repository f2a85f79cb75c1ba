package hnsw

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// churn is a way for a few vectors to be replaced again and again.
type churn struct {
	name string
	// ids chooses who is replaced, among all rows.
	ids func(r *rand.Rand, rows [][]float32) []int
	// next is what comes after now, where base was there first.
	next func(r *rand.Rand, base, now []float32) []float32
}

const churnHot, churnTimes = 50, 200

var churns = []churn{
	{"around a base", anywhere, variation}, // counters, summaries: texts that change a little, and change back
	{"in one spot", together, variation},   // the same, all of them much alike
	{"random walk", anywhere, func(r *rand.Rand, _, now []float32) []float32 { return moved(r, now, 0.93) }}, // far away in the end
}

func variation(r *rand.Rand, base, _ []float32) []float32 { return moved(r, base, 0.965) }

func anywhere(r *rand.Rand, rows [][]float32) []int { return r.Perm(len(rows))[:churnHot] }

// together chooses a row and those nearest to it.
func together(r *rand.Rand, rows [][]float32) []int {
	centre := rows[r.IntN(len(rows))]
	type scored struct {
		i     int
		score float32
	}
	all := make([]scored, len(rows))
	for i, row := range rows {
		var s float32
		for j, x := range row {
			s += x * centre[j]
		}
		all[i] = scored{i, s}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	ids := make([]int, churnHot)
	for i := range ids {
		ids[i] = all[i].i
	}
	return ids
}

// BenchmarkChurn replaces 50 of 20,000 vectors 200 times each, by ones with a cosine of about 0.93 to the old, and
// compares with an index built of what is there in the end.
func BenchmarkChurn(b *testing.B) {
	base, queries := recordedRows(b)
	for _, kind := range churns {
		b.Run(kind.name, func(b *testing.B) {
			o := Options{ExactBelow: -1, Workers: 2, Seed: 1}
			var cpu, recallNear, recallElse, slower, slots float64
			rounds := 0
			for b.Loop() {
				rounds++
				r := rand.New(rand.NewPCG(uint64(rounds), 70))
				rows := slices.Clone(base)
				hot := kind.ids(r, rows)
				ix := filled(b, rows, o)
				for range churnTimes {
					for _, i := range hot {
						rows[i] = kind.next(r, base[i], rows[i])
					}
					start := threadTime(b)
					for _, i := range hot {
						if err := ix.Add(uint64(i)+1<<40, rows[i]); err != nil {
							b.Fatal(err)
						}
					}
					cpu += float64(threadTime(b) - start)
				}
				var near [][]float32
				for _, i := range hot {
					for range 10 {
						near = append(near, moved(r, rows[i], 0.9))
					}
				}
				fresh := filled(b, rows, o)
				recallNear += indexRecall(b, ix, near, 64) - indexRecall(b, fresh, near, 64)
				recallElse += indexRecall(b, ix, queries[:500], 64) - indexRecall(b, fresh, queries[:500], 64)
				slower += slowdown(b, ix, fresh, near)
				slots += float64(ix.Stats().Slots) / float64(ix.Len())
			}
			n := float64(rounds)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(cpu/n/churnHot/churnTimes/1000, "cpu-us/upsert")
			b.ReportMetric(100*recallNear/n, "points-near")
			b.ReportMetric(100*recallElse/n, "points-elsewhere")
			b.ReportMetric(slower/n, "latency-near/fresh")
			b.ReportMetric(slots/n, "slots/live")
		})
	}
}

// slowdown is the median of the ratios of what searches of two indexes cost.
func slowdown(b *testing.B, ix, fresh *Index, queries [][]float32) float64 {
	cost := func(ix *Index) float64 {
		start := threadTime(b)
		for _, q := range queries {
			if _, err := ix.Search(q, 10, IndexSearchOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		return float64(threadTime(b) - start)
	}
	var ratios []float64
	for range 9 {
		ratios = append(ratios, cost(ix)/cost(fresh))
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// recordedRows returns the WordNet vectors, normalised.
func recordedRows(t testing.TB) (base, queries [][]float32) {
	base, queries, _ = recorded(t)
	for i := range base {
		base[i] = unit(base[i])
	}
	return base, queries
}
