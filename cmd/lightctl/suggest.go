package main

import (
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm"
)

// maxSuggested bounds the names that are offered in the place of a wrong one.
const maxSuggested = 3

// near returns the names that differ from the wanted one only in case, are the
// end of it, as in an absolute path, or hold it.
func near(want string, names iter.Seq[string]) []string {
	want = strings.ToLower(strings.TrimSpace(want))
	if want == "" {
		return nil
	}
	var same, alike []string
	for name := range names {
		low := strings.ToLower(name)
		switch {
		case low == want || strings.HasSuffix(want, "/"+low):
			same = append(same, name)
		case len(alike) < maxSuggested && strings.Contains(low, want):
			alike = append(alike, name)
		}
		if len(same) == maxSuggested {
			break
		}
	}
	found := append(same, alike...)
	return found[:min(maxSuggested, len(found))]
}

// didYouMean is the question that offers names, with what stands before it; ""
// without names.
func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strconv.Quote(n)
	}
	return "; did you mean " + strings.Join(quoted, " or ") + "?"
}

// offer adds names to err.
func offer(err error, names []string) error {
	if len(names) == 0 {
		return err
	}
	return fmt.Errorf("%w%s", err, didYouMean(names))
}

// suggestEntity adds to a not-found error the entities that may be meant.
func suggestEntity(v *engine.View, name string, err error) error {
	if !errors.Is(err, engine.ErrNotFound) {
		return err
	}
	return offer(err, near(name, func(yield func(string) bool) {
		v.EntityNames(func(n string, _ int) bool { return yield(n) })
	}))
}

// suggestEntities is suggestEntity for the first of names that no entity has.
func suggestEntities(db *engine.DB, names []string, err error) error {
	if !errors.Is(err, engine.ErrNotFound) {
		return err
	}
	v := db.View()
	defer v.Close()
	for _, name := range names {
		if _, missing := v.Entity(name); errors.Is(missing, engine.ErrNotFound) {
			return suggestEntity(v, name, err)
		}
	}
	return err
}

// typesShown bounds the types that are listed when one is not found.
const typesShown = 8

// missingType says which types there are if no entity has one of types; else it
// is "".
func missingType(v *engine.View, types []string) (string, error) {
	counts, err := v.Types()
	if err != nil {
		return "", err
	}
	for _, t := range types {
		if n, ok := llm.NormalizeType(t); ok {
			t = n
		}
		if slices.ContainsFunc(counts, func(c engine.TypeCount) bool { return strings.EqualFold(c.Type, t) }) {
			continue
		}
		there := make([]string, 0, typesShown+1)
		for _, c := range counts[:min(typesShown, len(counts))] {
			there = append(there, fmt.Sprintf("%s (%d)", c.Type, c.Entities))
		}
		if n := len(counts) - typesShown; n > 0 {
			there = append(there, fmt.Sprintf("%d more", n))
		}
		if len(there) == 0 {
			return fmt.Sprintf("no entity is of type %q: there are no entities", t), nil
		}
		return fmt.Sprintf("no entity is of type %q; there are %s", t, strings.Join(there, ", ")), nil
	}
	return "", nil
}

// nearDocuments returns the ids of stored documents that id may mean.
func nearDocuments(docs []engine.DocumentInfo, id string) []string {
	if id = strings.TrimSpace(id); id == "" {
		return nil
	}
	return near(path.Clean(id), func(yield func(string) bool) {
		for i := range docs {
			if !yield(docs[i].ID) {
				return
			}
		}
	})
}

// suggestDocuments adds to a not-found error the documents that may be meant by
// the first of ids that none has.
func suggestDocuments(db *engine.DB, ids []string, err error) error {
	if !errors.Is(err, engine.ErrNotFound) || len(ids) == 0 {
		return err
	}
	docs, derr := db.Documents()
	if derr != nil {
		return err
	}
	known := make(map[string]bool, len(docs))
	for i := range docs {
		known[docs[i].ID] = true
	}
	for _, id := range ids {
		if !known[id] {
			return offer(err, nearDocuments(docs, id))
		}
	}
	return err
}
