package graphstore

import "github.com/cespare/xxhash/v2"

// Whoever reads a row merges the edits that were written since its last whole
// version, which a flush or a compaction makes. Of a common term that would be
// one for every commit in the memtable, thousands. So now and then a commit
// writes the whole row instead of an edit, and a reader meets at most hotEdits
// of them, and that.

// hotEdits is how many edits a row takes before it is written as a whole.
const hotEdits = 128

// editCounts counts the edits of rows, by a hash of the key. Rows that share a
// counter are written as a whole a little too often, which does no harm.
type editCounts [1 << 16]uint8

// due counts one more edit and says whether the row is to be written as a whole.
func (c *editCounts) due(key []byte) bool {
	n := &c[xxhash.Sum64(key)%uint64(len(c))]
	if *n++; *n < hotEdits {
		return false
	}
	*n = 0
	return true
}

// wholeRow merges the edit of tx.value with the row of tx.key.
func (tx *txn) wholeRow() error {
	m := &tx.s.whole
	m.Newer(tx.value)
	_, err := tx.rows.seek(tx.key, func(row []byte) error { m.Older(row); return nil })
	tx.value = m.Append(tx.value[:0], true)
	return err
}
