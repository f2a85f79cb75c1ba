package graphstore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/format"
)

// An aggregate is the sum of an owner's fragments. addFragment and
// dropFragment are inverse to each other and commute, so that the sum depends
// on which fragments there are and on nothing else. Distinct descriptions are
// counted apart, by whoever can see the other uses of a description.

// addFragment adds f to a.
func addFragment(a *format.Aggregate, f *format.Fragment) {
	a.Mentions++
	if f.Class != format.ClassImplied {
		a.Extracted++
	}
	a.Weight += f.Weight
	if votes(f) {
		a.Types, _ = bump(a.Types, f.Type, 1)
	}
	for _, k := range f.Keywords {
		a.Keywords, _ = bump(a.Keywords, k, 1)
	}
}

// dropFragment takes f, which had been added, out of a. An error says that it
// had not: the row of a is corrupt.
func dropFragment(a *format.Aggregate, f *format.Fragment) error {
	if a.Mentions == 0 || f.Class != format.ClassImplied && a.Extracted == 0 {
		return fmt.Errorf("aggregate counts fewer fragments than there are: %w", ErrCorrupt)
	}
	a.Mentions--
	if f.Class != format.ClassImplied {
		a.Extracted--
	}
	a.Weight -= f.Weight
	var err error
	if votes(f) {
		if a.Types, err = bump(a.Types, f.Type, -1); err != nil {
			return err
		}
	}
	for _, k := range f.Keywords {
		if a.Keywords, err = bump(a.Keywords, k, -1); err != nil {
			return err
		}
	}
	return nil
}

// votes says whether f counts in the vote for a type.
func votes(f *format.Fragment) bool { return f.Class != format.ClassImplied && f.Type != "" }

// bump changes the count of value by delta (1 or -1) in list, which is sorted
// by value; counts of zero are not kept.
func bump(list []format.Count, value string, delta int) ([]format.Count, error) {
	i, ok := slices.BinarySearchFunc(list, value, func(c format.Count, v string) int {
		return strings.Compare(c.Value, v)
	})
	switch {
	case delta > 0 && !ok:
		return slices.Insert(list, i, format.Count{Value: value, N: 1}), nil
	case delta > 0:
		list[i].N++
	case !ok:
		return list, fmt.Errorf("aggregate does not count %q: %w", value, ErrCorrupt)
	case list[i].N == 1:
		return slices.Delete(list, i, i+1), nil
	default:
		list[i].N--
	}
	return list, nil
}

// topTypes returns the types that share the highest count.
func topTypes(types []format.Count) []string {
	var top []string
	most := uint32(0)
	for _, c := range types {
		if c.N > most {
			top, most = top[:0], c.N
		}
		if c.N == most {
			top = append(top, c.Value)
		}
	}
	return top
}

// values returns the values of list, in its order.
func values(list []format.Count) []string {
	if len(list) == 0 {
		return nil
	}
	out := make([]string, len(list))
	for i, c := range list {
		out[i] = c.Value
	}
	return out
}
