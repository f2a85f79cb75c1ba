package engine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/engine/internal/alike"
	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

const (
	maxBlock    = 32 // names of one form that are compared with each other
	nearVectors = 4  // vectors looked at around each entity
	minCosine   = 0.8
	minDice     = 0.55
	checkEvery  = 256
)

// duplicateFinder collects pairs of entities whose names speak for one thing,
// each once, and weighs them.
type duplicateFinder struct {
	db    *DB
	v     *graphstore.View
	ids   []format.EntityID
	types map[format.EntityID]string
	found map[[2]format.EntityID]*duplicatePair
}

// duplicatePair is a candidate. The target is the one with more sources.
type duplicatePair struct {
	target, member format.EntityID
	score          float64
	certain        bool
	evidence       []Evidence
}

func newDuplicateFinder(db *DB, v *graphstore.View) *duplicateFinder {
	return &duplicateFinder{
		db: db, v: v, ids: slices.Collect(v.Entities()),
		types: make(map[format.EntityID]string), found: make(map[[2]format.EntityID]*duplicatePair),
	}
}

func (f *duplicateFinder) name(id format.EntityID) string   { return f.v.EntityName(id) }
func (f *duplicateFinder) kindOf(id format.EntityID) string { return f.types[id] }
func (f *duplicateFinder) sources(id format.EntityID) int {
	return len(f.v.Sources(format.KindEntity, uint32(id)))
}

// pairs returns all candidates, weighed.
func (f *duplicateFinder) pairs(ctx context.Context) ([]*duplicatePair, error) {
	f.byForm()
	f.byAcronym()
	f.byPart()
	if err := f.byVector(ctx); err != nil {
		return nil, err
	}
	if err := f.readTypes(); err != nil {
		return nil, err
	}
	out := make([]*duplicatePair, 0, len(f.found))
	for _, p := range f.found {
		f.weigh(p)
		out = append(out, p)
	}
	return out, nil
}

// add notes evidence for a pair. The strongest kind of likeness of names gives
// the score; it comes first.
func (f *duplicateFinder) add(a, b format.EntityID, score float64, certain bool, e Evidence) {
	key := f.key(a, b)
	p := f.found[key]
	if p == nil {
		p = &duplicatePair{target: key[0], member: key[1]}
		f.found[key] = p
	}
	p.certain = p.certain || certain
	if score > p.score {
		p.score = score
		p.evidence = slices.Insert(p.evidence, 0, e)
		return
	}
	p.evidence = append(p.evidence, e)
}

// byForm pairs names with the same loose form.
func (f *duplicateFinder) byForm() {
	blocks := make(map[string][]format.EntityID)
	forms := make(map[format.EntityID]alike.Form, len(f.ids))
	for _, id := range f.ids {
		form := alike.Loose(f.name(id))
		if form.Text != "" {
			forms[id] = form
			blocks[form.Text] = append(blocks[form.Text], id)
		}
	}
	for _, block := range blocks {
		if len(block) > maxBlock { // the best known ones
			slices.SortStableFunc(block, func(a, b format.EntityID) int { return cmp.Compare(f.sources(b), f.sources(a)) })
			block = block[:maxBlock]
		}
		titles := make(map[string]struct{})
		for _, id := range block {
			titles[forms[id].Title] = struct{}{}
		}
		delete(titles, "")
		for i, a := range block {
			for _, b := range block[:i] {
				x, y := forms[a], forms[b]
				if alike.TitlesDiffer(x, y) {
					continue
				}
				f.sameForm(a, b, x, y)
				switch { // "Fezziwig" is Mr. or Mrs. Fezziwig
				case x.Title == y.Title:
				case x.Title == "":
					f.ambiguous(a, b, f.name(a), len(titles))
				default:
					f.ambiguous(a, b, f.name(b), len(titles))
				}
			}
		}
	}
}

func (f *duplicateFinder) sameForm(a, b format.EntityID, x, y alike.Form) {
	if alike.Key(f.name(a)) == alike.Key(f.name(b)) {
		if alike.Certain(f.name(a), f.name(b)) {
			f.add(a, b, 1, true, Evidence{SameSpelling, "case, width, punctuation or spaces"})
		} else {
			f.add(a, b, 0.7, false, Evidence{SameSpelling, "one may be an acronym, the other a word"})
		}
		return
	}
	var changes []string
	score := 0.9
	for i, list := range [][]alike.Change{x.Changes, y.Changes} {
		other := [][]alike.Change{y.Changes, x.Changes}[i]
		for _, c := range list {
			if slices.Contains(other, c) || slices.Contains(changes, string(c)) {
				continue
			}
			changes = append(changes, string(c))
			if c == alike.Plural || c == alike.Particle {
				score = min(score, 0.8)
			}
		}
	}
	if len(changes) == 0 {
		changes = []string{"spaces"}
	}
	slices.Sort(changes)
	f.add(a, b, score, false, Evidence{SameForm, "equal without: " + strings.Join(changes, ", ")})
}

// byAcronym pairs acronyms with what they may stand for.
func (f *duplicateFinder) byAcronym() {
	short := make(map[string][]format.EntityID)
	for _, id := range f.ids {
		if k, ok := alike.Acronym(f.name(id)); ok {
			short[k] = append(short[k], id)
		}
	}
	if len(short) == 0 {
		return
	}
	long := make(map[string][]format.EntityID)
	for _, id := range f.ids {
		for _, k := range alike.Acronyms(f.name(id)) {
			if len(short[k]) > 0 {
				long[k] = append(long[k], id)
			}
		}
	}
	for k, longs := range long {
		if len(longs) > maxBlock { // two letters that fit everything
			continue
		}
		for _, s := range short[k] {
			for _, l := range longs {
				f.add(s, l, 0.65, false, Evidence{IsAcronym, fmt.Sprintf("%q are the initials of %q", f.name(s), f.name(l))})
				f.ambiguous(s, l, f.name(s), len(longs))
			}
		}
	}
}

// ambiguous notes that a short name fits several long ones.
func (f *duplicateFinder) ambiguous(a, b format.EntityID, short string, n int) {
	if n > 1 {
		f.add(a, b, 0, false, Evidence{Ambiguous, fmt.Sprintf("%q fits %d names", short, n)})
	}
}

// byPart pairs a name of one word with longer ones that begin or end with it.
func (f *duplicateFinder) byPart() {
	short := make(map[string][]format.EntityID)
	for _, id := range f.ids {
		if w, ok := alike.Word(f.name(id)); ok {
			short[w] = append(short[w], id)
		}
	}
	long := make(map[string][]format.EntityID)
	for _, id := range f.ids {
		first, last, ok := alike.Ends(f.name(id))
		if !ok {
			continue
		}
		long[first] = append(long[first], id)
		if last != first {
			long[last] = append(long[last], id)
		}
	}
	for w, ids := range short {
		if len(long[w]) > maxBlock {
			continue
		}
		for _, s := range ids {
			for _, l := range long[w] {
				f.add(s, l, 0.45, false, Evidence{IsPart, fmt.Sprintf("%q is a part of %q", f.name(s), f.name(l))})
				f.ambiguous(s, l, f.name(s), len(long[w]))
			}
		}
	}
}

// byVector pairs names that are spelled alike with vectors that are near.
func (f *duplicateFinder) byVector(ctx context.Context) error {
	for i, id := range f.ids {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		row, ok := f.row(id)
		if !ok {
			continue
		}
		hits, err := f.db.index.search(f.v, format.KindEntity, row, nearVectors+1, minCosine, nil)
		if err != nil {
			return err
		}
		for _, h := range hits {
			other := format.EntityID(h.id)
			if other == id || alike.NumbersDiffer(f.name(id), f.name(other)) {
				continue
			}
			if d := alike.Dice(f.name(id), f.name(other)); d >= minDice {
				// Seen from both ends, the pair is noted once.
				if p := f.found[f.key(id, other)]; p != nil && slices.ContainsFunc(p.evidence, func(e Evidence) bool { return e.Kind == AlikeSpelling }) {
					continue
				}
				f.add(id, other, 0.5*d+0.5*float64(h.score)-0.15, false, Evidence{AlikeSpelling, fmt.Sprintf("%.0f %% of the pairs of letters", 100*d)})
			}
		}
	}
	return nil
}

// key puts the target of a pair first: the one with more sources.
func (f *duplicateFinder) key(a, b format.EntityID) [2]format.EntityID {
	if x, y := f.sources(a), f.sources(b); cmp.Or(cmp.Compare(y, x), cmp.Compare(f.name(a), f.name(b))) > 0 {
		a, b = b, a
	}
	return [2]format.EntityID{a, b}
}

// row returns the unit vector of an entity; it is the index's.
func (f *duplicateFinder) row(id format.EntityID) ([]float32, bool) {
	slot, ok := f.v.Slot(format.KindEntity, uint32(id))
	if !ok {
		return nil, false
	}
	return f.db.index.kind(format.KindEntity).graph.Row(slot), true
}

// readTypes reads the types of all candidates, in one sorted pass.
func (f *duplicateFinder) readTypes() error {
	for key := range f.found {
		f.types[key[0]], f.types[key[1]] = "", ""
	}
	ids := make([]format.EntityID, 0, len(f.types))
	for id := range f.types {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for part := range slices.Chunk(ids, 1024) {
		recs, err := f.v.EntityRecords(part, nil)
		if err != nil {
			return err
		}
		for i, id := range part {
			f.types[id] = recs[i].Type
		}
	}
	return nil
}

// weigh adds what the graph, the vectors and the types say.
func (f *duplicateFinder) weigh(p *duplicatePair) {
	if slices.ContainsFunc(p.evidence, func(e Evidence) bool { return e.Kind == Ambiguous }) {
		p.score -= 0.15
	}
	if n, of := f.sharedNeighbors(p.target, p.member); n > 0 {
		p.score += 0.05 + 0.15*float64(n)/float64(of)
		p.evidence = append(p.evidence, Evidence{SharedNeighbor, fmt.Sprintf("%d of %d", n, of)})
	}
	if row, ok := f.row(p.member); ok {
		if c, ok := f.db.index.score(f.v, format.KindEntity, uint32(p.target), row); ok && c >= minCosine {
			p.score += 0.5 * (float64(c) - 0.7)
			p.evidence = append(p.evidence, Evidence{NearVectors, fmt.Sprintf("cosine %.2f", c)})
		}
	}
	a, b := f.types[p.target], f.types[p.member]
	if a != b && a != graphstore.UnknownType && b != graphstore.UnknownType {
		p.score -= 0.25
		p.certain = false
		p.evidence = append(p.evidence, Evidence{TypesDiffer, a + " and " + b})
	}
	most := 0.99
	if p.certain {
		most = 1
	}
	p.score = math.Round(1000*min(p.score, most)) / 1000
}

// sharedNeighbors counts the entities that both are related to, and the
// relations of the one with fewer.
func (f *duplicateFinder) sharedNeighbors(a, b format.EntityID) (shared, of int) {
	x, y := f.v.Neighbors(a), f.v.Neighbors(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	set := make(map[format.EntityID]struct{}, len(x))
	for _, n := range x {
		set[n.Entity] = struct{}{}
	}
	for _, n := range y {
		if _, ok := set[n.Entity]; ok {
			shared++
		}
	}
	return shared, len(x)
}
