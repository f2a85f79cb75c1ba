package poslex

import (
	_ "embed"
	"encoding/binary"
	"fmt"
)

// The table: 8 bytes of magic and version; 8193 little-endian uint16, the first
// entry of each of 8192 buckets and the number of entries; and entries of 3
// bytes, a little-endian uint24 whose high half is the fingerprint of a word
// and whose low half its Tag. A word's bucket and fingerprint are the high bits
// of its hash.
const (
	magic       = "POSLEX\x00\x01"
	bucketBits  = 13
	buckets     = 1 << bucketBits
	printBits   = 12
	entryBytes  = 3
	headerBytes = len(magic) + 2*(buckets+1)
	maxEntries  = 1<<16 - 1
)

//go:embed lexicon.bin
var embedded string

// english is empty if the embedded table is damaged, which a test rules out.
var english, _ = Open(embedded)

// Lookup returns the tag of a lower-case word of English.
func Lookup(word string) Tag { return english.Lookup(word) }

// Table is a lexicon. It is immutable; the zero Table is empty.
type Table struct{ index, entries string }

// Open checks the bytes of a table and returns it. It copies nothing.
func Open(data string) (Table, error) {
	if len(data) < headerBytes || data[:len(magic)] != magic {
		return Table{}, fmt.Errorf("poslex: %d bytes are no lexicon of version %d", len(data), magic[len(magic)-1])
	}
	t := Table{index: data[len(magic):headerBytes], entries: data[headerBytes:]}
	last := 0
	for b := range buckets + 1 {
		n := t.first(b)
		if n < last || b == 0 && n != 0 {
			return Table{}, fmt.Errorf("poslex: bucket %d begins at entry %d, after one at %d", b, n, last)
		}
		last = n
	}
	if last*entryBytes != len(t.entries) {
		return Table{}, fmt.Errorf("poslex: %d entries in %d bytes", last, len(t.entries))
	}
	for i := range last {
		if tag := t.entry(i).tag(); tag.Kind() >= kinds || tag.Proper() >= propers || tag == 0 {
			return Table{}, fmt.Errorf("poslex: entry %d has the tag %#x", i, uint16(tag))
		}
	}
	return t, nil
}

// Len returns the number of words.
func (t Table) Len() int { return len(t.entries) / entryBytes }

// Lookup returns the tag of a lower-case word; see Tag.
func (t Table) Lookup(word string) Tag {
	if t.index == "" {
		return 0
	}
	bucket, print := place(word)
	for i, end := t.first(bucket), t.first(bucket+1); i < end; i++ {
		if e := t.entry(i); e.print() == print {
			return e.tag()
		}
	}
	return 0
}

func (t Table) first(bucket int) int {
	return int(t.index[2*bucket]) | int(t.index[2*bucket+1])<<8
}

type entry uint32

func (t Table) entry(i int) entry {
	e := t.entries[entryBytes*i:][:entryBytes]
	return entry(e[0]) | entry(e[1])<<8 | entry(e[2])<<16
}

func (e entry) print() uint16 { return uint16(e >> tagBits) }
func (e entry) tag() Tag      { return Tag(e & (1<<tagBits - 1)) }

// place returns the bucket and the fingerprint of a word: FNV-1a, with its bits
// mixed by the finaliser of MurmurHash3 because the low ones are its best.
func place(word string) (bucket int, print uint16) {
	h := uint64(14695981039346656037)
	for i := 0; i < len(word); i++ {
		h = (h ^ uint64(word[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return int(h >> (64 - bucketBits)), uint16(h >> (64 - bucketBits - printBits) & (1<<printBits - 1))
}

// Word is one word of a lexicon to be built.
type Word struct {
	Text string
	Tag  Tag
}

// Build makes a table of words. Of two that the table could not tell apart it
// holds the one that comes first; dropped counts the others.
func Build(words []Word) (table []byte, dropped int, err error) {
	var lists [buckets][]entry
	n := 0
	for _, w := range words {
		if w.Tag == 0 || w.Tag >= 1<<tagBits || w.Tag.Kind() >= kinds || w.Tag.Proper() >= propers {
			return nil, 0, fmt.Errorf("poslex: word %q has the tag %#x", w.Text, uint16(w.Tag))
		}
		b, print := place(w.Text)
		taken := false
		for _, e := range lists[b] {
			taken = taken || e.print() == print
		}
		if taken {
			dropped++
			continue
		}
		lists[b] = append(lists[b], entry(print)<<tagBits|entry(w.Tag))
		n++
	}
	if n > maxEntries {
		return nil, 0, fmt.Errorf("poslex: %d words; at most %d are possible", n, maxEntries)
	}
	table = append(make([]byte, 0, headerBytes+n*entryBytes), magic...)
	first := 0
	for b := range lists {
		table = binary.LittleEndian.AppendUint16(table, uint16(first))
		first += len(lists[b])
	}
	table = binary.LittleEndian.AppendUint16(table, uint16(first))
	for _, list := range lists {
		for _, e := range list {
			table = append(table, byte(e), byte(e>>8), byte(e>>16))
		}
	}
	return table, dropped, nil
}
