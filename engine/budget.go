package engine

import (
	"github.com/lightctl/lightrag/format"
)

// prefix returns how many of n lines, priced by line, fit strictly below
// budget when joined by newlines, and the sum of their prices. The first line
// counts as fitting even when it is too long by itself: its description is
// then cut, so that a small budget never empties a list.
func (m measure) prefix(n, budget int, line func(i int) int) (fit, sum int) {
	if budget <= 0 {
		return 0, 0
	}
	for fit < n {
		next := sum + line(fit)
		if m.cost(next, fit+1) >= budget {
			break
		}
		sum = next
		fit++
	}
	if fit == 0 && n > 0 {
		return 1, line(0)
	}
	return fit, sum
}

// shorten cuts text until the line that holds it costs less than budget.
func (m measure) shorten(text string, budget int, line func(text string) int) string {
	if m.cost(line(text), 1) < budget {
		return text
	}
	room := budget
	for room > 0 {
		cut := m.tok.Cut(text, room)
		over := m.cost(line(cut), 1) - budget + 1
		if over <= 0 {
			return cut
		}
		room -= max(over, 1)
	}
	return ""
}

// cutEntities keeps the entities that fit their budget and fetches their
// records. sum is what their lines cost.
func (s *search) cutEntities() (hits []EntityHit, sum int, err error) {
	m := s.db.cost
	fit, sum := m.prefix(len(s.entities), s.q.MaxEntityTokens, func(i int) int {
		return lineTokens(s, format.KindEntity, s.entities, i)
	})
	s.entities = s.entities[:fit]
	ids := make([]format.EntityID, fit)
	for i := range ids {
		ids[i] = s.entities[i].id
	}
	records, err := s.entityRecords(ids)
	if err != nil {
		return nil, 0, err
	}
	hits = make([]EntityHit, fit)
	for i := range hits {
		rec := &records[i]
		hits[i] = EntityHit{Name: s.view.EntityName(ids[i]), Type: rec.Type, Description: rec.Description, Score: s.entities[i].score}
	}
	if fit == 1 && m.cost(sum, 1) >= s.q.MaxEntityTokens {
		s.entities = nil // what was cut brings no passages
		h := &hits[0]
		line := func(d string) int { return m.EntityLine(h.Name, h.Type, d) }
		h.Description = m.shorten(h.Description, s.q.MaxEntityTokens, line)
		sum = line(h.Description)
	}
	return hits, sum, nil
}

// cutRelations is cutEntities for relations.
func (s *search) cutRelations() (hits []RelationHit, sum int, err error) {
	m := s.db.cost
	fit, sum := m.prefix(len(s.relations), s.q.MaxRelationTokens, func(i int) int {
		return lineTokens(s, format.KindRelation, s.relations, i)
	})
	s.relations = s.relations[:fit]
	ids := make([]format.RelationID, fit)
	for i := range ids {
		ids[i] = s.relations[i].id
	}
	records, err := s.relationRecords(ids)
	if err != nil {
		return nil, 0, err
	}
	hits = make([]RelationHit, fit)
	for i := range hits {
		rec := &records[i]
		a, b := s.view.Ends(ids[i])
		hits[i] = RelationHit{
			Src: s.view.EntityName(a), Tgt: s.view.EntityName(b), Keywords: rec.Keywords, Description: rec.Description,
			Weight: float64(rec.Weight) / format.WeightScale, Score: s.relations[i].score,
		}
	}
	if fit == 1 && m.cost(sum, 1) >= s.q.MaxRelationTokens {
		s.relations = nil // what was cut brings no passages
		h := &hits[0]
		line := func(d string) int { return m.RelationLine(h.Src, h.Tgt, d) }
		h.Description = m.shorten(h.Description, s.q.MaxRelationTokens, line)
		sum = line(h.Description)
	}
	return hits, sum, nil
}

// lineTokens returns the price of the i-th line.
func lineTokens[ID ~uint32](s *search, kind format.Kind, list []ranked[ID], i int) int {
	if s.filter.byDocuments() {
		return excerptOf(s.filter, kind, list, i).LineTokens
	}
	return s.view.LineTokens(kind, uint32(list[i].id))
}

// entityRecords fetches what the entities say, under the filter.
func (s *search) entityRecords(ids []format.EntityID) ([]format.Record, error) {
	records := make([]format.Record, 0, len(ids))
	if !s.filter.byDocuments() {
		return s.view.EntityRecords(ids, records)
	}
	for _, id := range ids {
		x := s.filter.excerpt(format.KindEntity, uint32(id))
		records = append(records, format.Record{Type: x.Type, Description: x.Description})
	}
	return records, s.filter.failed()
}

// relationRecords is entityRecords for relations.
func (s *search) relationRecords(ids []format.RelationID) ([]format.Record, error) {
	records := make([]format.Record, 0, len(ids))
	if !s.filter.byDocuments() {
		return s.view.RelationRecords(ids, records)
	}
	for _, id := range ids {
		x := s.filter.excerpt(format.KindRelation, uint32(id))
		records = append(records, format.Record{Description: x.Description, Keywords: x.Keywords, Weight: x.Weight})
	}
	return records, s.filter.failed()
}
