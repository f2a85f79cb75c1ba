package graphstore

import "fmt"

// TextHolder returns the document of any status that holds the text with that
// hash, and the caller's id of it; ok is false if none does. A new document
// with that text would be a Duplicate.
func (s *Store) TextHolder(hash [32]byte) (id string, ok bool, err error) {
	s.mu.Lock()
	doc := s.hashes[hash]
	s.mu.Unlock()
	if doc == 0 {
		return "", false, nil
	}
	err = s.withNewest(func(r *rows) error {
		row, there, err := r.document(doc)
		id, ok = row.ID, there
		return err
	})
	return id, ok, opError("find document", fmt.Sprint(uint32(doc)), err)
}
