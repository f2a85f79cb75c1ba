package simd

import "testing"

// farMore is more than what caches are taken to hold: rows are asked for before they are multiplied.
const farMore = 17 << 20

var fetched = append(lengthsTo(66), 96, 701)

func TestRowsThatAreAskedForAreMultipliedAsOthers(t *testing.T) {
	for _, dim := range []int{100, 384, 513, 1000} { // the last two have long rows
		r := newRand(t)
		m := NewMatrix(dim)
		for rows := 0; 4*dim*rows < farMore; rows += 1 << m.Shift {
			c := guarded[float32](t, dim<<m.Shift, true)
			for i := range c {
				c[i] = float32(r.Uint32()&15) - 8
			}
			m.Chunks = append(m.Chunks, c)
		}
		rows, q := len(m.Chunks)<<m.Shift, make([]float32, dim)
		fillSmall(r, q)
		eachTier(t, func(t *testing.T) {
			for _, n := range fetched {
				ids, out := make([]uint32, n), make([]float32, n+1)
				for i := range ids {
					ids[i] = uint32(r.IntN(rows))
				}
				out[n] = sentinel
				DotMany(q, &m, ids, out)
				for i, id := range ids {
					if want := dotGo(q, m.Row(id)); out[i] != want {
						t.Fatalf("dim %d, %d ids: row %d: %v, want %v", dim, n, id, out[i], want)
					}
				}
				if out[n] != sentinel {
					t.Fatalf("dim %d: wrote beyond %d products", dim, n)
				}
			}
			mustPanic(t, "row", func() { DotMany(q, &m, []uint32{0, uint32(rows)}, make([]float32, 2)) })
		})
	}
}

func TestCodesThatAreAskedForAreMultipliedAsOthers(t *testing.T) {
	for _, dim := range []int{64, 384, 2100} { // the last has long rows
		r := newRand(t)
		rows := farMore / stride8(dim)
		m := guardedMatrix8(t, r, dim, rows, true)
		codes := make([]uint8, dim)
		fillBytes(r, codes)
		eachTier(t, func(t *testing.T) {
			q := guardedQuery(t, codes)
			for _, n := range fetched {
				ids, out := make([]uint32, n), make([]int32, n+1)
				for i := range ids {
					ids[i] = uint32(r.IntN(rows))
				}
				out[n] = sentinel
				DotMany8(q, m, ids, out)
				for i, id := range ids {
					if want := dot8Go(q, m.Row(id)); out[i] != want {
						t.Fatalf("dim %d, %d ids: row %d: %d, want %d", dim, n, id, out[i], want)
					}
				}
				if out[n] != sentinel {
					t.Fatalf("dim %d: wrote beyond %d products", dim, n)
				}
			}
			for _, at := range []int{0, 40} {
				ids := make([]uint32, 50)
				ids[at] = uint32(rows)
				mustPanic(t, "row", func() { DotMany8(q, m, ids, make([]int32, 50)) })
				ids[at] = 1<<32 - 1
				mustPanic(t, "row", func() { DotMany8(q, m, ids, make([]int32, 50)) })
			}
		})
	}
}

// Who asks for rows ahead reads ids ahead, but none behind the last.
func TestNoIDBehindTheLastIsRead(t *testing.T) {
	const most = 150
	for _, dim := range []int{64, 384, 2100} {
		for _, rows := range []int{10, farMore / stride8(dim)} {
			r := newRand(t)
			m := guardedMatrix8(t, r, dim, rows, true)
			codes := make([]uint8, dim)
			fillBytes(r, codes)
			ids, out := guarded[uint32](t, most, true), guarded[int32](t, most, true)
			for i := range ids {
				ids[i] = uint32(r.IntN(rows))
			}
			eachTier(t, func(t *testing.T) {
				q := guardedQuery(t, codes)
				for n := range most + 1 {
					ids, out := ids[most-n:], out[most-n:]
					clear(out)
					DotMany8(q, m, ids, out)
					for i, id := range ids {
						if want := dot8Go(q, m.Row(id)); out[i] != want {
							t.Fatalf("dim %d, %d rows, %d ids: row %d: %d, want %d", dim, rows, n, id, out[i], want)
						}
					}
				}
			})
		}
	}
}

func lengthsTo(n int) (all []int) {
	for i := range n + 1 {
		all = append(all, i)
	}
	return all
}
