package graphstore

import "slices"

// Several documents hold one text only if a document was replaced by a text
// that another one holds. The first of them is the original of duplicates; when
// it goes, the next one is.

// hashDoc returns the first document that holds the text with that hash, 0 if
// none does.
func (tx *txn) hashDoc(h [32]byte) DocID {
	if doc, ok := tx.hashes[h]; ok {
		return doc
	}
	return tx.s.hashes[h]
}

// otherDocs returns the further documents that hold it, ascending.
func (tx *txn) otherDocs(h [32]byte) []DocID {
	if docs, ok := tx.twins[h]; ok {
		return docs
	}
	return tx.s.twins[h]
}

// addHash notes that doc, the newest document, holds a text.
func (tx *txn) addHash(h [32]byte, doc DocID) {
	if tx.hashDoc(h) == 0 {
		tx.setHash(h, doc)
		return
	}
	tx.setTwins(h, append(slices.Clone(tx.otherDocs(h)), doc))
}

// dropHash notes that doc, which goes, holds a text no longer.
func (tx *txn) dropHash(h [32]byte, doc DocID) {
	others := tx.otherDocs(h)
	switch {
	case tx.hashDoc(h) != doc:
		if i := slices.Index(others, doc); i >= 0 {
			tx.setTwins(h, slices.Delete(slices.Clone(others), i, i+1))
		}
	case len(others) > 0:
		tx.setHash(h, others[0])
		tx.setTwins(h, slices.Clone(others[1:]))
	default:
		tx.setHash(h, 0)
	}
}

func (tx *txn) setHash(h [32]byte, doc DocID) {
	if tx.hashes == nil {
		tx.hashes = make(map[[32]byte]DocID)
	}
	tx.hashes[h] = doc
}

func (tx *txn) setTwins(h [32]byte, docs []DocID) {
	if tx.twins == nil {
		tx.twins = make(map[[32]byte][]DocID)
	}
	tx.twins[h] = docs
}
