package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lightctl/lightrag/format"
)

// DuplicateOptions says which suggestions Duplicates makes. Where zero is a
// default, a negative number means none.
type DuplicateOptions struct {
	MinScore float64 // least score of a suggestion; 0 = 0.6
	Limit    int     // most clusters, the best ones; 0 = all
}

// EvidenceKind says what speaks for or against two names being one thing.
type EvidenceKind string

const (
	SameSpelling   EvidenceKind = "same_spelling"   // equal but for case, width, punctuation and spaces
	SameForm       EvidenceKind = "same_form"       // equal without titles, articles, particles, plurals, accents
	IsAcronym      EvidenceKind = "acronym"         // one abbreviates the other
	IsPart         EvidenceKind = "part"            // one is the first or last word of the other
	AlikeSpelling  EvidenceKind = "alike_spelling"  // they share most of their letters
	NearVectors    EvidenceKind = "near_vectors"    // what is said about them is alike
	SharedNeighbor EvidenceKind = "shared_neighbor" // both are related to others
	TypesDiffer    EvidenceKind = "types_differ"    // speaks against
	Ambiguous      EvidenceKind = "ambiguous"       // speaks against: there are others that fit as well
)

// Evidence is one observation about a pair of entities.
type Evidence struct {
	Kind   EvidenceKind `json:"kind"`
	Detail string       `json:"detail"`
}

// Duplicate is an entity that may be another name of the target of its cluster.
type Duplicate struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Sources int    `json:"sources"` // passages it comes from, counted up to the store's MaxSources
	// Score weighs the evidence, up to 1. It orders suggestions; it is no
	// probability.
	Score float64 `json:"score"`
	// Certain says that nothing but the spelling differs: it is what
	// Options.ResolveEntities merges without being asked.
	Certain  bool       `json:"certain"`
	Evidence []Evidence `json:"evidence"`
}

// DuplicateCluster suggests that its members are other names of the target, the
// one of them with the most sources. Each member has evidence of its own with
// the target: a chain of likenesses never puts two names into one cluster.
type DuplicateCluster struct {
	Target  string      `json:"target"`
	Type    string      `json:"type"`
	Sources int         `json:"sources"`
	Score   float64     `json:"score"` // of the best member
	Members []Duplicate `json:"members"`
}

// Duplicates suggests entities that may be one: names with the same normal form,
// acronyms and their long forms, parts of names, and names that are spelled alike
// with vectors that are near. It changes nothing; MergeEntities does, one
// reviewed suggestion at a time. An entity is in at most one cluster, the one
// with the best evidence: what follows from a merge shows in the next call.
//
// No model is called. It looks at every entity of the newest view, and for its
// nearest vectors: of 20,000 entities that takes some seconds.
func (db *DB) Duplicates(ctx context.Context, o DuplicateOptions) ([]DuplicateCluster, error) {
	if o.MinScore == 0 {
		o.MinScore = 0.6
	}
	v := db.View()
	defer v.Close()
	if v.err != nil {
		return nil, fmt.Errorf("lightrag: duplicates: %w", v.err)
	}
	f := newDuplicateFinder(db, v.v)
	pairs, err := f.pairs(ctx)
	if err != nil {
		return nil, fmt.Errorf("lightrag: duplicates: %w", within(err))
	}
	pairs = slices.DeleteFunc(pairs, func(p *duplicatePair) bool { return p.score < o.MinScore })
	out := f.clusters(pairs)
	if o.Limit > 0 && len(out) > o.Limit {
		out = out[:o.Limit]
	}
	return out, nil
}

// clusters makes stars of pairs, the best first.
func (f *duplicateFinder) clusters(pairs []*duplicatePair) []DuplicateCluster {
	slices.SortFunc(pairs, func(a, b *duplicatePair) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(f.name(a.target), f.name(b.target)), cmp.Compare(f.name(a.member), f.name(b.member)))
	})
	at := make(map[format.EntityID]int)
	taken := make(map[format.EntityID]bool)
	var out []DuplicateCluster
	for _, p := range pairs {
		_, heads := at[p.member]
		if heads || taken[p.member] || taken[p.target] {
			continue
		}
		i, ok := at[p.target]
		if !ok {
			i = len(out)
			at[p.target] = i
			out = append(out, DuplicateCluster{Target: f.name(p.target), Type: f.kindOf(p.target), Sources: f.sources(p.target), Score: p.score})
		}
		taken[p.member] = true
		out[i].Members = append(out[i].Members, Duplicate{
			Name: f.name(p.member), Type: f.kindOf(p.member), Sources: f.sources(p.member),
			Score: p.score, Certain: p.certain, Evidence: p.evidence,
		})
	}
	return out
}
