package hnsw

import (
	"math"
	"testing"
)

func TestUppersFollowOneAnother(t *testing.T) {
	for _, m := range []int{2, 3, 16, 48} {
		for _, rooms := range []int{0, 40} { // too few, so that some is allocated
			begin, want := uint64(firstUpper), uint64(firstUpper)
			for chunk := range 20 {
				u := newUppers(9, m, chunk, begin, make([]uint32, 0, rooms))
				for i := range uint32(chunkSlots) {
					level := levelOf(9, uint32(chunk)<<chunkShift+i, m)
					if got := u.level(i, m); got != level {
						t.Fatalf("M %d, slot %d of chunk %d: level %d, want %d", m, i, chunk, got, level)
					}
					if level > 0 && u.listsOf(i) != int(want) {
						t.Fatalf("M %d, slot %d of chunk %d: lists at %d, want %d", m, i, chunk, u.listsOf(i), want)
					}
					for layer := 1; layer <= level+1; layer++ {
						if u.reaches(i, layer, m) != (layer <= level) {
							t.Fatalf("M %d, slot %d of chunk %d: level %d, layer %d", m, i, chunk, level, layer)
						}
					}
					want += uint64(level * (1 + m))
					if got := u.after(i); got != want {
						t.Fatalf("M %d, behind slot %d of chunk %d: %d, want %d", m, i, chunk, got, want)
					}
				}
				if begin = u.end(); begin != want {
					t.Fatalf("M %d, behind chunk %d: %d, want %d", m, chunk, begin, want)
				}
			}
		}
	}
}

// Layers are in files, by what the logarithm says.
func TestLevelsAreThoseOfTheLogarithm(t *testing.T) {
	for _, m := range []int{2, 3, 5, 16, 64} {
		counts := map[int]int{}
		for slot := range uint32(1 << 20) {
			bits := levelBits(3, slot)
			want := levelByLogarithm(bits, m)
			if got := levelAt(bits, m); got != want {
				t.Fatalf("M %d, slot %d: level %d, want %d", m, slot, got, want)
			}
			counts[want]++
		}
		// and where one level passes into the next
		for layer := 1; layer < 5; layer++ {
			edge := uint64(float64(1<<53) / math.Pow(float64(m), float64(layer)))
			for off := -40; off <= 40; off++ {
				bits := (edge + uint64(off)) << 11
				if got, want := levelAt(bits, m), levelByLogarithm(bits, m); got != want {
					t.Fatalf("M %d, %d beside layer %d: level %d, want %d", m, off, layer, got, want)
				}
			}
		}
		if counts[1] == 0 || counts[2] == 0 {
			t.Fatalf("M %d: %v", m, counts)
		}
	}
}

func levelByLogarithm(bits uint64, m int) int {
	u := (float64(bits>>11) + 1) / (1 << 53)
	return min(int(-math.Log(u)/math.Log(float64(m))), maxLevel)
}
