package simd

import "testing"

func TestMatrixChunksAreBounded(t *testing.T) {
	for _, dim := range []int{1, 3, 64, 384, 1024, 1025, 1536, 65536} {
		m := NewMatrix(dim)
		m = m.Grow()
		if n := 4 * len(m.Chunks[0]); n > 4<<20 {
			t.Errorf("dim %d: chunk of %d bytes", dim, n)
		}
		last := uint32(1)<<m.Shift - 1
		if row := m.Row(last); len(row) != dim || cap(row) != dim {
			t.Errorf("dim %d: last row has length %d, capacity %d", dim, len(row), cap(row))
		}
		if !m.Holds(last) || m.Holds(last+1) {
			t.Errorf("dim %d: one chunk does not hold %d rows", dim, last+1)
		}
	}
}

func TestRowsOfCodesAreWholeLines(t *testing.T) {
	for _, dim := range []int{1, 64, 65, 384, 1025} {
		m := NewMatrix8(dim)
		m.Data = make([]uint8, 10*m.Stride)
		row := m.Row(9)
		if len(row) != m.Stride || cap(row) != m.Stride || len(row)%64 != 0 || len(row) < dim || len(row) > dim+63 {
			t.Errorf("dim %d: row of length %d, capacity %d", dim, len(row), cap(row))
		}
		row[0] = 7
		if m.Data[9*m.Stride] != 7 {
			t.Errorf("dim %d: row 9 is elsewhere", dim)
		}
		mustPanic(t, "row", func() { m.Row(10) })
		mustPanic(t, "row", func() { m.Row(1<<32 - 1) })
	}
}

func TestGrowingLeavesCopiesAsTheyWere(t *testing.T) {
	m := NewMatrix(2)
	one := m.Grow()
	two := one.Grow()
	if len(m.Chunks) != 0 || len(one.Chunks) != 1 || len(two.Chunks) != 2 {
		t.Errorf("%d, %d, %d chunks", len(m.Chunks), len(one.Chunks), len(two.Chunks))
	}
	one.Row(3)[1] = 7
	if two.Row(3)[1] != 7 {
		t.Error("a chunk is not shared")
	}
}
