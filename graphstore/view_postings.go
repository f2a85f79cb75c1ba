package graphstore

import (
	"bytes"

	"github.com/lightctl/lightrag/format"
)

// PostingList says in which texts a term occurs. Owners ascend; Counts[i] is
// how often the term occurs in the text of Owners[i], 255 for all that is more.
type PostingList struct {
	Owners []uint32
	Counts []uint8
}

// Postings returns the postings of terms among the owners of a kind, in the
// order of terms: in which texts to embed (EntityText, RelationText, the text of
// a chunk) each occurs. A term that occurs nowhere has an empty list, as all
// have in a store without Options.Terms. The buffers of lists are used again;
// apart from them what is allocated depends on neither store nor terms.
func (v *View) Postings(kind Kind, terms []string, lists []PostingList) ([]PostingList, error) {
	if len(terms) <= cap(lists) {
		lists = lists[:len(terms)]
	} else {
		lists = append(lists[:cap(lists)], make([]PostingList, len(terms)-cap(lists))...)
	}
	for i := range lists {
		lists[i].Owners, lists[i].Counts = lists[i].Owners[:0], lists[i].Counts[:0]
	}
	err := v.read("read postings", func(r *rows) error {
		if v.st.s.terms == nil {
			return nil
		}
		for i, term := range terms {
			if err := r.postings(kind, term, &lists[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return lists, err
}

// postings appends those of a term to list.
func (r *rows) postings(kind Kind, term string, list *PostingList) error {
	if !validTerm([]byte(term)) {
		return nil
	}
	it, err := r.iter(format.TablePostings)
	if err != nil {
		return err
	}
	r.key = format.AppendPostingsPrefix(r.key[:0], kind, term)
	for ok := it.SeekGE(r.key); ok && bytes.HasPrefix(it.Key(), r.key); ok = it.NextPrefix() {
		_, _, shard, err := format.DecodePostingsKey(it.Key())
		if err != nil {
			return err
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if list.Owners, list.Counts, err = format.DecodePostings(list.Owners, list.Counts, shard, value); err != nil {
			return err
		}
	}
	return it.Error()
}

// LexicalStats returns how many texts of the kind the postings are of, and the
// sum of their lengths, where the length of a text is View.LineTokens of its
// owner; zeros in a store without Options.Terms.
func (v *View) LexicalStats(kind Kind) (owners, tokens uint64) {
	if v.st.s.terms == nil {
		return 0, 0
	}
	n := v.st.cols.Counts()
	switch kind {
	case format.KindEntity:
		owners = uint64(n.Entities)
	case format.KindRelation:
		owners = uint64(n.Relations)
	case format.KindChunk:
		owners = uint64(n.Chunks)
	}
	return owners, v.st.cols.Tokens(kind)
}
