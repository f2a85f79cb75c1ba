package graphstore

import (
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/lightctl/lightrag/format"
)

// postings compares the postings with the texts. All of them at once would
// take more memory than the store has data, so that first only sums of hashes
// are compared, of terms that share a bucket, and then the postings of those
// buckets whose sums differ.
func (c *checker) postings(deep bool) error {
	if !deep || c.s.opts.ReadOnly && c.s.terms == nil {
		return nil
	}
	sums := make([]uint64, postingBuckets)
	if err := c.eachExpected(func(kind Kind, owner uint32, e *termEdit) error {
		h := termHash(kind, e.term)
		sums[h%postingBuckets] += postingHash(h, owner, e.count)
		return nil
	}); err != nil {
		return err
	}
	if err := c.eachStored(true, func(kind Kind, term string, owners []uint32, counts []uint8) error {
		h := termHash(kind, term)
		for i := range owners {
			sums[h%postingBuckets] -= postingHash(h, owners[i], counts[i])
		}
		return nil
	}); err != nil {
		return err
	}
	for _, sum := range sums {
		if sum != 0 {
			return c.badPostings(sums)
		}
	}
	return nil
}

const postingBuckets = 1 << 12

// badPostings names the postings in buckets whose sums are not 0.
func (c *checker) badPostings(sums []uint64) error {
	type place struct {
		kind  Kind
		term  string
		owner uint32
	}
	want := make(map[place]uint8)
	if err := c.eachExpected(func(kind Kind, owner uint32, e *termEdit) error {
		if sums[termHash(kind, e.term)%postingBuckets] != 0 {
			want[place{kind, e.term, owner}] = e.count
		}
		return nil
	}); err != nil {
		return err
	}
	bad := func(p place, stored, text uint8) error {
		return c.bad(fmt.Sprintf("postings of %q", p.term), "%s %d has it %d times, its text %d times", p.kind, p.owner, stored, text)
	}
	if err := c.eachStored(false, func(kind Kind, term string, owners []uint32, counts []uint8) error {
		if sums[termHash(kind, term)%postingBuckets] == 0 {
			return nil
		}
		for i := range owners {
			p := place{kind, term, owners[i]}
			if counts[i] != want[p] {
				if err := bad(p, counts[i], want[p]); err != nil {
					return err
				}
			}
			delete(want, p)
		}
		return nil
	}); err != nil {
		return err
	}
	for p, count := range want {
		if err := bad(p, 0, count); err != nil {
			return err
		}
	}
	return nil
}

// eachExpected calls fn for every posting that the texts give.
func (c *checker) eachExpected(fn func(kind Kind, owner uint32, e *termEdit) error) error {
	return c.st.eachOwner(func(kind Kind, owner uint32) error {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		text, err := c.d.text(kind, owner)
		if err != nil {
			return c.bad(fmt.Sprintf("text of %s %d", kind, owner), "%w", err)
		}
		edits := c.s.terms.edits("", text)
		for i := range edits {
			if err := fn(kind, owner, &edits[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachStored calls fn for every row of postings that can be read; the lists are
// reused. With report it notes those that cannot.
func (c *checker) eachStored(report bool, fn func(kind Kind, term string, owners []uint32, counts []uint8) error) error {
	var list PostingList
	lower, _ := format.TableBounds(format.TablePostings)
	return c.r.scan(lower, func(key, value []byte) (bool, error) {
		kind, term, shard, err := format.DecodePostingsKey(key)
		if err == nil {
			list.Owners, list.Counts, err = format.DecodePostings(list.Owners[:0], list.Counts[:0], shard, value)
		}
		if err != nil {
			if report {
				err = c.bad(fmt.Sprintf("postings of %q", term), "%w", err)
			} else {
				err = nil
			}
			return err == nil, err
		}
		if err := c.ctx.Err(); err != nil {
			return false, err
		}
		return true, fn(kind, string(term), list.Owners, list.Counts)
	})
}

func termHash(kind Kind, term string) uint64 {
	return xxhash.Sum64String(term) ^ uint64(kind)*0x9e3779b97f4a7c15
}

// postingHash mixes as SplitMix64 does.
func postingHash(term uint64, owner uint32, count uint8) uint64 {
	z := term + (uint64(owner)<<8|uint64(count))*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
