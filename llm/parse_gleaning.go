package llm

import "unicode/utf8"

// PassEntity is an entity record and the answer it came from: 0 first, 1 gleaning.
type PassEntity struct {
	EntityRecord
	Pass uint8
}

// PassRelation is a relation record and the answer it came from.
type PassRelation struct {
	RelationRecord
	Pass uint8
}

// MergedExtraction is what the answers about one chunk say together. Records
// of the first answer stand before those of the gleaning answer; (Pass, Index)
// orders and identifies them.
type MergedExtraction struct {
	Entities  []PassEntity
	Relations []PassRelation
	Keywords  []string // distinct, sorted
	Malformed int
	Dropped   []DroppedRecord // at most 100
}

// MergeGleaning joins a first answer and a gleaning answer about the same
// chunk. A name, or an ordered pair, in both keeps the records of one answer
// only: the gleaning answer's if the description of its first record is longer
// in characters, else the first answer's.
func MergeGleaning(first, glean Extraction) MergedExtraction {
	m := MergedExtraction{
		Keywords:  append(append([]string(nil), first.Keywords...), glean.Keywords...),
		Malformed: first.Malformed + glean.Malformed,
		Dropped:   append(append([]DroppedRecord(nil), first.Dropped...), glean.Dropped...),
	}
	m.Keywords = sortDistinct(m.Keywords)
	if len(m.Dropped) > maxDropped {
		m.Dropped = m.Dropped[:maxDropped]
	}

	win := winners(first.Entities, glean.Entities,
		func(e *EntityRecord) string { return e.Name }, func(e *EntityRecord) string { return e.Description })
	m.Entities = make([]PassEntity, 0, len(first.Entities)+len(glean.Entities))
	for pass, records := range [...][]EntityRecord{first.Entities, glean.Entities} {
		for _, r := range records {
			if win[r.Name] == uint8(pass) {
				m.Entities = append(m.Entities, PassEntity{r, uint8(pass)})
			}
		}
	}

	type pair [2]string
	winPair := winners(first.Relations, glean.Relations,
		func(r *RelationRecord) pair { return pair{r.Source, r.Target} }, func(r *RelationRecord) string { return r.Description })
	m.Relations = make([]PassRelation, 0, len(first.Relations)+len(glean.Relations))
	for pass, records := range [...][]RelationRecord{first.Relations, glean.Relations} {
		for _, r := range records {
			if winPair[pair{r.Source, r.Target}] == uint8(pass) {
				m.Relations = append(m.Relations, PassRelation{r, uint8(pass)})
			}
		}
	}
	return m
}

// winners tells for every key which answer's records stay.
func winners[R any, K comparable](first, glean []R, key func(*R) K, description func(*R) string) map[K]uint8 {
	firstLen := make(map[K]int, len(first))
	win := make(map[K]uint8, len(first)+len(glean))
	for i := range first {
		k := key(&first[i])
		if _, seen := win[k]; !seen {
			win[k] = 0
			firstLen[k] = utf8.RuneCountInString(description(&first[i]))
		}
	}
	gleanSeen := make(map[K]struct{}, len(glean))
	for i := range glean {
		k := key(&glean[i])
		if _, seen := gleanSeen[k]; seen {
			continue
		}
		gleanSeen[k] = struct{}{}
		if n, both := firstLen[k]; !both || utf8.RuneCountInString(description(&glean[i])) > n {
			win[k] = 1
		}
	}
	return win
}
