package format

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// The fragments of a document are many (10^5 in a big one) and nearly the
// same, so they are grouped and delta-coded: about five bytes each.
//
//	fragments := total, base doc, kinds, kind*
//	kind      := kind u8 (ascending), owners, owner*
//	owner     := delta to the owner before (first: absolute), keys, key*
//	key       := order<<2 | far<<1 | later, [doc delta if far], [pass u8 if later], index
//
// All numbers are minimal uvarints unless said otherwise. The base is the
// smallest document of the list; the keys of each owner start from (base, 0).
// far: the document differs from that of the key before, and order is
// absolute; else order is a delta. later: pass is not 0.
const (
	keyFar   = 2
	keyLater = 1
)

// compareOwnerFragment orders by kind, owner and key.
func compareOwnerFragment(a, b OwnerFragment) int {
	switch {
	case a.Kind != b.Kind:
		return cmp.Compare(a.Kind, b.Kind)
	case a.Owner != b.Owner:
		return cmp.Compare(a.Owner, b.Owner)
	}
	return a.Key.Compare(b.Key)
}

// AppendDocumentOwners appends the encoding of v to dst. Fragments that are
// not sorted, or named twice, are sorted and named once in the bytes; v is not
// changed.
func AppendDocumentOwners(dst []byte, v *DocumentOwners) []byte {
	dst = append(dst, RecordVersion)
	list := v.Fragments
	if len(list) == 0 {
		return dst
	}
	if !ascending(list) {
		list = slices.Clone(list)
		slices.SortFunc(list, compareOwnerFragment)
		list = slices.Compact(list)
	}
	// The length is written before the bytes: encode behind a gap as wide as
	// a length can be, then close it.
	dst = appendTag(dst, 1, wireBytes)
	at := len(dst)
	dst = append(dst, make([]byte, binary.MaxVarintLen32)...)
	body := len(dst)
	dst = appendOwnerFragments(dst, list)
	size := len(dst) - body
	head := binary.PutUvarint(dst[at:body], uint64(size))
	copy(dst[at+head:], dst[body:])
	return dst[:at+head+size]
}

func ascending(list []OwnerFragment) bool {
	for i := 1; i < len(list); i++ {
		if compareOwnerFragment(list[i-1], list[i]) >= 0 {
			return false
		}
	}
	return true
}

func appendOwnerFragments(dst []byte, list []OwnerFragment) []byte {
	base, kinds := list[0].Key.Doc, 1
	for i := 1; i < len(list); i++ {
		base = min(base, list[i].Key.Doc)
		if list[i].Kind != list[i-1].Kind {
			kinds++
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	dst = binary.AppendUvarint(dst, uint64(base))
	dst = binary.AppendUvarint(dst, uint64(kinds))
	for len(list) > 0 {
		n, owners := 1, 1
		for n < len(list) && list[n].Kind == list[0].Kind {
			if list[n].Owner != list[n-1].Owner {
				owners++
			}
			n++
		}
		dst = append(dst, byte(list[0].Kind))
		dst = binary.AppendUvarint(dst, uint64(owners))
		dst = appendOwnerGroups(dst, base, list[:n])
		list = list[n:]
	}
	return dst
}

// appendOwnerGroups writes the owners of one kind.
func appendOwnerGroups(dst []byte, base DocID, list []OwnerFragment) []byte {
	owner := uint32(0)
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Owner == list[0].Owner {
			n++
		}
		dst = binary.AppendUvarint(dst, uint64(list[0].Owner-owner))
		dst = binary.AppendUvarint(dst, uint64(n))
		owner = list[0].Owner
		doc, order := base, uint32(0)
		for i := range list[:n] {
			k := list[i].Key
			head := uint64(k.Order-order) << 2
			if k.Doc != doc {
				head = uint64(k.Order)<<2 | keyFar
			}
			if k.Pass != 0 {
				head |= keyLater
			}
			dst = binary.AppendUvarint(dst, head)
			if head&keyFar != 0 {
				dst = binary.AppendUvarint(dst, uint64(k.Doc-doc))
			}
			if head&keyLater != 0 {
				dst = append(dst, k.Pass)
			}
			dst = binary.AppendUvarint(dst, uint64(k.Index))
			doc, order = k.Doc, k.Order
		}
		list = list[n:]
	}
	return dst
}

// DecodeDocumentOwners reads what AppendDocumentOwners wrote; the list is
// sorted by kind, owner and key, without duplicates.
func DecodeDocumentOwners(b []byte, v *DocumentOwners) error {
	*v = DocumentOwners{Fragments: v.Fragments[:0]}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.Fragments = f.ownerFragments(v.Fragments)
		default:
			f.skip()
		}
	}
	return f.close("document owners")
}

func (f *fields) ownerFragments(dst []OwnerFragment) []OwnerFragment {
	c, total := f.list(2)
	dst = resize(dst, total)[:0]
	base := DocID(c.upto(1<<32 - 1))
	least := ^DocID(0)
	kinds, last := c.count(2), -1
	for range kinds {
		kind := c.byte()
		if int(kind) <= last {
			c.fail("kinds out of order")
		}
		last = int(kind)
		owners, owner := c.count(4), uint64(0)
		if owners == 0 {
			c.fail("kind without owners")
		}
		for i := range owners {
			delta := c.uvarint()
			n := c.count(2)
			owner += delta
			switch {
			case i > 0 && delta == 0 || delta > 1<<32-1 || owner > 1<<32-1:
				c.fail("owners out of order")
			case n == 0:
				c.fail("owner without fragments")
			case n > total-len(dst):
				c.fail("more fragments than announced")
			}
			if c.bad != "" {
				break
			}
			k := FragmentKey{Doc: base}
			for j := range n {
				k = c.nextKey(k, j == 0)
				dst = append(dst, OwnerFragment{Kind: Kind(kind), Owner: uint32(owner), Key: k})
				least = min(least, k.Doc)
			}
		}
	}
	if c.bad == "" && (len(dst) != total || least != base) {
		c.fail("count or base does not match")
	}
	f.endList(&c)
	return dst
}

// nextKey reads the key after prev; the first of an owner may equal its start.
func (c *cut) nextKey(prev FragmentKey, first bool) FragmentKey {
	head := c.upto(1<<34 - 1)
	order, doc := head>>2, uint64(prev.Doc)
	if head&keyFar != 0 {
		delta := c.upto(1<<32 - 1)
		if delta == 0 {
			c.fail("document repeated")
		}
		doc += delta
	} else {
		order += uint64(prev.Order)
	}
	k := FragmentKey{}
	if head&keyLater != 0 {
		if k.Pass = c.byte(); k.Pass == 0 {
			c.fail("zero pass")
		}
	}
	k.Index = uint16(c.upto(1<<16 - 1))
	if order > 1<<32-1 || doc > 1<<32-1 {
		c.fail("key out of range")
	}
	k.Doc, k.Order = DocID(doc), uint32(order)
	if !first && k.Compare(prev) <= 0 {
		c.fail("keys out of order")
	}
	return k
}
