package llm

import "strings"

// Row kinds, by the first field.
const (
	rowNone = iota
	rowEntity
	rowRelation
	rowKeywords
)

// parseCurrent reads rows of <|#|>-separated fields, one per line.
func (p *parser) parseCurrent(s string) {
	p.out.Format = FormatCurrent
	for s != "" {
		line, rest, _ := strings.Cut(s, "\n")
		s = rest
		for {
			before, after, found := cutComplete(line)
			if !found {
				break
			}
			p.out.Complete = true
			p.currentLine(before)
			line = after
		}
		p.currentLine(line)
	}
}

func (p *parser) currentLine(line string) {
	line = strings.TrimSpace(line)
	// Prose, fences and headings have no delimiter in any state of repair.
	if !strings.ContainsAny(line, "<|") || len(line) < len("entity<#>") {
		return
	}
	if n := len(line); line[0] == '(' && line[n-1] == ')' {
		line = line[1 : n-1]
	}
	exact := splitFields(p.fields[:0], line, false)
	p.fields = exact
	if isWholeRow(exact) {
		p.row(exact)
		return
	}
	repaired := splitFields(p.retry[:0], line, true)
	p.retry = repaired
	for len(repaired) > 0 {
		n := endOfRow(repaired)
		p.repairedRow(repaired[:n])
		repaired = repaired[n:]
	}
}

// isWholeRow reports whether fields are one row that needs no repair.
func isWholeRow(fields []string) bool {
	switch len(fields) {
	case 4:
		return rowKind(fields[0]) == rowEntity
	case 5:
		return rowKind(fields[0]) == rowRelation
	case 6:
		_, weighted := plainWeight(fields[5])
		return weighted && rowKind(fields[0]) == rowRelation
	}
	return false
}

// endOfRow returns where the first row of fields ends when rows were glued
// into one line: a field that is nothing but the name of a row kind, where a
// row has as many fields as it needs, begins the next row.
func endOfRow(fields []string) int {
	for i := 4; i < len(fields); i++ {
		switch {
		case strings.EqualFold(fields[i], "entity"), strings.EqualFold(fields[i], "relation"),
			strings.EqualFold(fields[i], "relationship"):
			return i
		}
	}
	return len(fields)
}

func (p *parser) repairedRow(fields []string) {
	kind := rowKind(fields[0])
	short := kind == rowEntity && len(fields) < 4 || kind == rowRelation && len(fields) < 5
	if short {
		more := splitUnknown(nil, fields)
		if len(more) == 4 && kind == rowEntity || len(more) == 5 {
			fields = more
		}
	}
	p.row(fields)
}

// row adds one row given its fields, or drops it.
func (p *parser) row(fields []string) {
	kind, n := rowKind(fields[0]), len(fields)
	switch {
	case kind == rowEntity && n == 4:
		p.entity(fields[1], fields[2], fields[3])
	case (kind == rowRelation || kind == rowEntity) && n == 5:
		// Five fields are a relation whatever the row calls itself.
		p.relation(fields[1], fields[2], fields[3], fields[4], WeightOne)
	case kind == rowRelation && n == 4:
		p.relation(fields[1], fields[2], "", fields[3], WeightOne)
	case kind == rowRelation && n == 6:
		// The format asks for no weight, but a number behind the description is one.
		if weight, ok := plainWeight(fields[5]); ok {
			p.relation(fields[1], fields[2], fields[3], fields[4], weight)
			return
		}
		if _, ok := p.next(); ok {
			p.drop("row: wrong number of fields", true, fields...)
		}
	case kind == rowKeywords && n == 2:
		p.out.Keywords = appendKeywords(p.out.Keywords, fields[1])
	case n > 1:
		if _, ok := p.next(); ok {
			p.drop("row: wrong number of fields", true, fields...)
		}
	}
}

// rowKind tells what a row is from its first field, which may carry list
// marks, quotes or parentheses around the word.
func rowKind(field string) int {
	if len(field) > 64 {
		// A row's name is at the end of whatever stands before it on the line.
		field = field[len(field)-64:]
	}
	switch {
	case containsFold(field, "content_keywords"):
		return rowKeywords
	case containsFold(field, "relation"):
		return rowRelation
	case containsFold(field, "entity"):
		return rowEntity
	}
	return rowNone
}
