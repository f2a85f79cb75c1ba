package hnsw

import (
	"fmt"
	"hash/crc32"
	"math"
	"sync"
	"sync/atomic"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// lazy is what of a mapped file is yet to be verified. To read all of it would be most of the time that Open takes.
//
// A row is verified when it is first read, so that no score comes from a damaged one, and so is a list of layer 0, with
// some others, so that no walk leaves the graph. Codes only say what rows are
// worth reading: every walk verifies one more block of them, which takes a tenth of a millisecond, until it has been
// all; a scan, which is to be exact, verifies all at once.
type lazy struct {
	f     *indexFile
	sums  []uint32        // of rows, by slot; nil where there is nothing to verify
	good  []atomic.Uint64 // slots whose row was verified, or written since
	codes []uint8         // the section, nil where there is nothing to verify
	next  atomic.Uint32   // block of codes to be verified next

	lists     *lists          // nil where there is nothing to verify
	goodLists []atomic.Uint64 // blocks of lists of layer 0 that were verified
	looking   sync.Mutex      // held while one of those or of the codes is: once they were, writers may change them
}

// list verifies the list, of layer 0, of a slot, with those that have a checksum with it.
func (l *lazy) list(slot uint32) error {
	if l.lists == nil || slot >= l.lists.mark || l.goodList(slot/listBlock) {
		return nil
	}
	return l.listsOf(slot / listBlock)
}

func (l *lazy) goodList(block uint32) bool {
	return l.goodLists[block>>6].Load()>>(block&63)&1 != 0
}

// listsOf verifies a block. Who writes to lists has all of them verified before.
func (l *lazy) listsOf(block uint32) error {
	l.looking.Lock()
	defer l.looking.Unlock()
	if l.goodList(block) {
		return nil
	}
	if err := l.lists.block(int(block)); err != nil {
		return err
	}
	l.goodLists[block>>6].Or(1 << (block & 63))
	return nil
}

// allLists verifies those that are not.
func (l *lazy) allLists() error {
	if l.lists == nil {
		return nil
	}
	for block := range uint32(l.f.spans[secLinks].blocks()) {
		if err := l.listsOf(block); err != nil {
			return err
		}
	}
	return nil
}

// names appends the slots below n that a slot names on layer 0 to ids, none where its list is damaged. The error says so.
func (t *table) names(slot, n uint32, ids []uint32) ([]uint32, error) {
	if t.lazy != nil {
		if err := t.lazy.list(slot); err != nil {
			return ids, err
		}
	}
	ids, _ = neighbours(t.zero(slot), n, ids)
	return ids, nil
}

// sound reports whether the list of a slot may be read, as far as that has to be asked. Should it be damaged, the search
// goes on without it, and fails in the end.
func (c *scratch) sound(t *table, slot uint32, layer int) bool {
	if t.lazy == nil || layer > 0 {
		return true
	}
	err := t.lazy.list(slot)
	if err != nil {
		c.fail(err)
	}
	return err == nil
}

// rows verifies the rows of slots.
func (l *lazy) rows(t *table, slots []uint32) error {
	for _, slot := range slots {
		if err := l.row(t, slot); err != nil {
			return err
		}
	}
	return nil
}

func (l *lazy) row(t *table, slot uint32) error {
	if int(slot) >= len(l.sums) || l.good[slot>>6].Load()>>(slot&63)&1 != 0 {
		return nil
	}
	if err := l.f.checkRow(t.row(slot), slot, l.sums[slot]); err != nil {
		return err
	}
	l.passed(slot)
	return nil
}

// passed notes that a row is as it should be, or is being written.
func (l *lazy) passed(slot uint32) {
	if int(slot) < len(l.sums) {
		l.good[slot>>6].Or(1 << (slot & 63))
	}
}

// rowsFrom does so for n slots from first on.
func (l *lazy) rowsFrom(t *table, first, n uint32) error {
	for slot := first; slot < first+n; slot++ {
		if err := l.row(t, slot); err != nil {
			return err
		}
	}
	return nil
}

// someCodes verifies a block of codes if there is one that is not.
func (l *lazy) someCodes() error {
	i := l.next.Load()
	if l.codes == nil || int(i) >= l.f.spans[secCodes].blocks() {
		return nil
	}
	return l.codesOf(i)
}

// codesOf verifies the block that is to be verified next, or was when its caller looked.
func (l *lazy) codesOf(i uint32) error {
	l.looking.Lock()
	defer l.looking.Unlock()
	if l.next.Load() > i {
		return nil
	}
	if err := l.f.check(secCodes, l.codes, int(i), int(i)+1); err != nil {
		return err
	}
	l.next.Store(i + 1)
	return nil
}

// allCodes verifies those that are not.
func (l *lazy) allCodes() error {
	for l.codes != nil && int(l.next.Load()) < l.f.spans[secCodes].blocks() {
		if err := l.someCodes(); err != nil {
			return err
		}
	}
	return nil
}

func (l *lazy) all(t *table) error {
	if err := l.allLists(); err != nil {
		return err
	}
	if err := l.allCodes(); err != nil {
		return err
	}
	return l.rowsFrom(t, 0, uint32(len(l.sums)))
}

// checkRow verifies a row against its checksum.
func (f *indexFile) checkRow(row []float32, slot, sum uint32) error {
	reason := ""
	if rowSum(row) != sum {
		reason = "checksum"
		// Rounding each element once leaves the norm of a unit vector well within this.
	} else if d := simd.Norm(row) - 1; !(math.Abs(d) < 1e-4) {
		reason = "not a unit vector"
	}
	if reason == "" {
		return nil
	}
	return f.corrupt(secRows, f.spans[secRows].offset+uint64(slot)*4*uint64(f.dim), fmt.Sprintf("slot %d: %s", slot, reason))
}

// rowSum is the CRC32C of a row in little-endian numbers.
func rowSum(row []float32) uint32 {
	if hostIsLittle {
		return crc32.Checksum(bytesOf(row), castagnoli)
	}
	p := make([]byte, 0, 4*len(row))
	for _, x := range row {
		p = le.AppendUint32(p, math.Float32bits(x))
	}
	return crc32.Checksum(p, castagnoli)
}

// trust verifies rows that are about to be read. Should one be damaged, the search goes on, and fails in the end.
func (c *scratch) trust(t *table, slots []uint32) {
	if t.lazy != nil {
		c.fail(t.lazy.rows(t, slots))
	}
}

func (c *scratch) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}
