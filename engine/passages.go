package engine

import (
	"cmp"
	"math"
	"slices"

	"github.com/lightctl/lightrag/format"
)

// relatedChunks is the number of passages an entity or relation may bring.
const relatedChunks = 5

// passages picks the chunks of the surviving entities and relations and merges
// them round-robin with the chunks that the question itself matched; a walk has
// ranked them already.
func (s *search) passages() ([]ranked[format.ChunkID], error) {
	if s.q.Mode == Walk {
		return s.walkPassages()
	}
	direct := make([]ranked[format.ChunkID], len(s.near.chunks))
	for i, h := range s.near.chunks {
		direct[i] = ranked[format.ChunkID]{format.ChunkID(h.id), h.score}
	}
	lists := make([][]format.ChunkID, len(s.entities))
	for i, e := range s.entities {
		lists[i] = s.sources(format.KindEntity, uint32(e.id))
	}
	fromEntities := s.pick(lists, nil)

	taken := make(map[format.ChunkID]struct{}, len(fromEntities))
	for _, c := range fromEntities {
		taken[c.id] = struct{}{}
	}
	lists = lists[:0]
	for _, r := range s.relations {
		lists = append(lists, s.sources(format.KindRelation, uint32(r.id)))
	}
	fromRelations := s.pick(lists, taken)
	s.chunkOrigins(direct, fromEntities, fromRelations)
	return roundRobin3(direct, fromEntities, fromRelations), nil
}

// sources returns the chunks of an owner that the filter lets through.
func (s *search) sources(kind format.Kind, owner uint32) []format.ChunkID {
	if s.filter.byDocuments() {
		return s.filter.excerpt(kind, owner).Sources
	}
	return s.view.Sources(kind, owner)
}

// pick chooses passages from the source lists of ranked owners. A chunk
// belongs to the first owner that lists it; what is taken already does not
// count.
func (s *search) pick(lists [][]format.ChunkID, taken map[format.ChunkID]struct{}) []ranked[format.ChunkID] {
	count := make(map[format.ChunkID]int)
	own := make([][]format.ChunkID, 0, len(lists))
	for _, list := range lists {
		var mine []format.ChunkID
		n := 0
		for _, c := range list {
			if _, gone := taken[c]; gone {
				continue
			}
			n++
			if count[c]++; count[c] == 1 {
				mine = append(mine, c)
			}
		}
		if n > 0 {
			own = append(own, mine)
		}
	}
	if s.q.Pick == PickVector {
		if picked, ok := s.pickVector(own); ok {
			return picked
		}
	}
	for _, list := range own {
		slices.SortStableFunc(list, func(a, b format.ChunkID) int { return cmp.Compare(count[b], count[a]) })
	}
	return pickWeight(own, relatedChunks)
}

// pickVector takes the chunks nearest to the question, 5/2 per owner. It
// declines when a vector is missing.
func (s *search) pickVector(own [][]format.ChunkID) ([]ranked[format.ChunkID], bool) {
	query := s.want.vectors.query
	if query == nil {
		return nil, false
	}
	var all []ranked[format.ChunkID]
	for _, list := range own {
		for _, c := range list {
			score, ok := s.db.index.score(s.view, format.KindChunk, uint32(c), query)
			if !ok {
				return nil, false
			}
			all = append(all, ranked[format.ChunkID]{c, score})
		}
	}
	slices.SortFunc(all, func(a, b ranked[format.ChunkID]) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	n := relatedChunks * len(own) / 2
	return all[:min(n, len(all))], true
}

// pickWeight gives the first owner max chunks and the last one 1, linearly in
// between, and what an owner cannot use to the first that can. Of none each
// gets none.
func pickWeight(own [][]format.ChunkID, max int) []ranked[format.ChunkID] {
	if max < 1 {
		return nil
	}
	var out []ranked[format.ChunkID]
	used := make([]int, len(own))
	left := 0
	for i, list := range own {
		want := max
		if n := len(own); n > 1 {
			want = int(math.RoundToEven(float64(max) - float64(i)/float64(n-1)*float64(max-1)))
		}
		used[i] = min(want, len(list))
		left += want - used[i]
		for _, c := range list[:used[i]] {
			out = append(out, ranked[format.ChunkID]{id: c})
		}
	}
	for i := 0; i < len(own) && left > 0; {
		if used[i] == len(own[i]) {
			i++
			continue
		}
		out = append(out, ranked[format.ChunkID]{id: own[i][used[i]]})
		used[i]++
		left--
	}
	return out
}

// roundRobin3 takes one of each list in turn, each chunk once.
func roundRobin3(lists ...[]ranked[format.ChunkID]) []ranked[format.ChunkID] {
	n, longest := 0, 0
	for _, l := range lists {
		n += len(l)
		longest = max(longest, len(l))
	}
	out := make([]ranked[format.ChunkID], 0, n)
	seen := make(map[format.ChunkID]struct{}, n)
	for i := range longest {
		for _, l := range lists {
			if i >= len(l) {
				continue
			}
			if _, dup := seen[l[i].id]; !dup {
				seen[l[i].id] = struct{}{}
				out = append(out, l[i])
			}
		}
	}
	return out
}
