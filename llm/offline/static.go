package offline

import "github.com/lightctl/lightrag/llm/offline/internal/wordvec"

// rowOf returns the row of a word in lower case in the table. A form that is not
// there is looked up without its ending.
func rowOf(t *wordvec.Table, w string) (int, bool) {
	if row, ok := t.Row(w); ok {
		return row, true
	}
	for _, e := range endings {
		n := len(w) - len(e.cut)
		if n < 3 || w[n:] != e.cut {
			continue
		}
		if e.add == 0 {
			if row, ok := t.Row(w[:n]); ok {
				return row, true
			}
			continue
		}
		var form [maxWord + 4]byte
		k := copy(form[:], w[:n])
		form[k] = e.add
		if row, ok := t.Row(string(form[:k+1])); ok {
			return row, true
		}
	}
	return 0, false
}

// endings are tried in this order.
var endings = []struct {
	cut string
	add byte // 0 for nothing
}{
	{"ies", 'y'}, {"ied", 'y'}, {"s", 0}, {"es", 0}, {"ing", 0}, {"ing", 'e'}, {"ed", 0}, {"ed", 'e'},
	{"er", 0}, {"er", 'e'}, {"ers", 0}, {"ers", 'e'}, {"est", 0}, {"ly", 0}, {"ness", 0}, {"less", 0}, {"ful", 0},
}
