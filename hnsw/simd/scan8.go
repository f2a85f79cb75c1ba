package simd

// ScanRange8 multiplies q with the n rows of m from first on and keeps what is large: of each row whose product is at
// least least it writes the id to ids and the product to products, in the order of rows, and returns how many there
// are. Both have room for n; what they have beyond the result is lost. The query must have the dimension of m. It
// panics when m has not so many rows. This is the shape of an exact scan that knows what it looks for.
func ScanRange8(q *Query8, m *Matrix8, first uint32, n int, least int32, ids []uint32, products []int32) int {
	ids, products = ids[:n], products[:n]
	kept := 0
	for n > 0 {
		// Products pass through the first cache, right behind those that were kept.
		block := min(n, scanRows)
		DotRange8(q, m, first, products[kept:kept+block])
		kept += above(products[kept:kept+block], least, first, ids[kept:])
		first, n = first+uint32(block), n-block
	}
	return kept
}

const scanRows = 1024

// Above keeps what is large of products: it moves those that are at least least to the front, in order, writes to
// places where each was, and returns how many there are. places has room for all; what both have beyond the result is
// lost.
func Above(products []int32, least int32, places []uint32) int {
	return above(products, least, 0, places[:len(products)])
}

// aboveGo moves those of the products that are at least least to the front and returns how many. Their places, counted
// from first, go to ids.
func aboveGo(products []int32, least int32, first uint32, ids []uint32) int {
	kept := 0
	for i, p := range products {
		if p >= least {
			ids[kept], products[kept] = first+uint32(i), p
			kept++
		}
	}
	return kept
}
