package llm

import (
	"math"
	"strings"
)

// EntityRecord is one entity row of an extraction answer. Name and Type are
// normalised, Description is clean and not empty.
type EntityRecord struct {
	Name        string
	Type        string
	Description string
	Index       int // position among all rows of the answer, fits uint16
}

// RelationRecord is one relation row. Source and Target are normalised, differ,
// and keep the direction the answer gave them.
type RelationRecord struct {
	Source      string
	Target      string
	Keywords    []string // distinct, sorted by code point
	Description string
	Weight      int64 // millionths, >= 0
	Index       int   // position among all rows of the answer, fits uint16
}

// DroppedRecord is a row that was refused and why, for reports.
type DroppedRecord struct {
	Reason string
	Fields []string // at most 120 characters each
}

// WeightOne is the weight 1.0 of a relation, in millionths.
const WeightOne int64 = 1_000_000

// Formats of an extraction answer.
const (
	FormatCurrent = "current" // rows with <|#|> between fields
	FormatOld     = "old"     // parenthesised rows with <|> and ##
	FormatJSON    = "json"    // one object with entities and relationships
	FormatNone    = "none"    // no row found
)

// Extraction is what one answer of a model says about one chunk.
type Extraction struct {
	Entities  []EntityRecord   // in answer order; a name may repeat
	Relations []RelationRecord // in answer order; a pair may repeat
	Keywords  []string         // content keywords, if the answer has any
	Malformed int              // rows no rule could recover
	Dropped   []DroppedRecord  // refused rows, at most 100 of them
	// Complete reports the completion marker (JSON: a closed object). An answer
	// of FormatNone that is not Complete did not follow the format at all.
	Complete bool
	Format   string
}

const (
	maxRecords       = 1 << 16 // indexes fit uint16
	maxDropped       = 100
	maxDroppedFields = 8
	maxDroppedRunes  = 120
	maxWeight        = 1e9 // keeps sums of weights far from overflow
)

const (
	completeUpper = "<|COMPLETE|>"
	completeLower = "<|complete|>"
)

// ParseExtraction reads an answer in any of the formats that LightRAG has asked
// for. The format is detected per answer. Damage that models are known to do to
// delimiters is repaired, what cannot be repaired is dropped and counted; the
// function never fails and takes time linear in the answer.
func ParseExtraction(answer string) Extraction {
	answer = stripReasoning(answer)
	p := parser{out: Extraction{Format: FormatNone}}
	switch {
	case looksLikeJSON(answer):
		p.parseJSON(answer)
	case !strings.Contains(answer, delimiter) && hasOldRecord(answer):
		p.parseOld(answer)
	default:
		p.parseCurrent(answer)
	}
	if len(p.out.Entities)+len(p.out.Relations)+len(p.out.Keywords)+p.out.Malformed+len(p.out.Dropped) == 0 {
		p.out.Format = FormatNone
	}
	p.out.Keywords = sortDistinct(p.out.Keywords)
	return p.out
}

// parser gathers the rows of one answer.
type parser struct {
	out    Extraction
	rows   int
	fields []string // reused
	retry  []string // reused
}

// next reserves the index of the next row, or reports that the answer has more
// rows than can be numbered.
func (p *parser) next() (int, bool) {
	if p.rows >= maxRecords {
		p.out.Malformed++
		return 0, false
	}
	p.rows++
	return p.rows - 1, true
}

// drop notes a refused row; malformed tells a damaged row from one that is well
// formed but unwanted.
func (p *parser) drop(reason string, malformed bool, fields ...string) {
	if malformed {
		p.out.Malformed++
	}
	if len(p.out.Dropped) >= maxDropped {
		return
	}
	if len(fields) > maxDroppedFields {
		fields = fields[:maxDroppedFields]
	}
	d := DroppedRecord{Reason: reason, Fields: make([]string, len(fields))}
	for i, f := range fields {
		d.Fields[i] = strings.Clone(strings.ToValidUTF8(firstRunes(strings.TrimSpace(f), maxDroppedRunes), ""))
	}
	p.out.Dropped = append(p.out.Dropped, d)
}

func firstRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// entity adds an entity row given its raw fields.
func (p *parser) entity(name, kind, description string) {
	index, ok := p.next()
	if !ok {
		return
	}
	n := NormalizeName(name)
	if n == "" || isPlaceholder(n) {
		p.drop("entity: unusable name", true, name, kind, description)
		return
	}
	t, ok := NormalizeType(kind)
	if !ok {
		p.drop("entity: unusable type", true, name, kind, description)
		return
	}
	d := NormalizeDescription(description)
	if d == "" {
		p.drop("entity: no description", true, name, kind, description)
		return
	}
	p.out.Entities = append(p.out.Entities, EntityRecord{Name: n, Type: t, Description: d, Index: index})
}

// relation adds a relation row given its raw fields.
func (p *parser) relation(source, target, keywords, description string, weight int64) {
	index, ok := p.next()
	if !ok {
		return
	}
	src, tgt := NormalizeName(source), NormalizeName(target)
	if src == "" || tgt == "" || isPlaceholder(src) || isPlaceholder(tgt) {
		p.drop("relation: unusable endpoint", true, source, target, keywords, description)
		return
	}
	if src == tgt {
		p.drop("relation: self loop", false, source, target, keywords, description)
		return
	}
	d := NormalizeDescription(description)
	if d == "" {
		p.drop("relation: no description", true, source, target, keywords, description)
		return
	}
	p.out.Relations = append(p.out.Relations, RelationRecord{
		Source: src, Target: tgt, Keywords: SplitKeywords(keywords), Description: d, Weight: weight, Index: index,
	})
}

// isPlaceholder reports a name that a model copied from the prompt's template.
func isPlaceholder(name string) bool {
	switch name {
	case "<name>", "<name of one entity>", "<name of the other entity>":
		return true
	}
	return false
}

// millionths converts a weight; what is not a finite number >= 0 is 1.
func millionths(w float64) int64 {
	if math.IsNaN(w) || w < 0 || math.IsInf(w, 0) {
		return WeightOne
	}
	return int64(math.Round(min(w, maxWeight) * float64(WeightOne)))
}

// stripReasoning removes the thoughts that reasoning models put before, or
// between the parts of, an answer.
func stripReasoning(s string) string {
	const open, end = "<think>", "</think>"
	if !strings.Contains(s, end) {
		return s
	}
	answerAt := max(strings.LastIndex(s, "<|"), strings.LastIndexByte(s, '{'))
	var b strings.Builder
	for pos := 0; ; {
		e := strings.Index(s[pos:], end)
		if e < 0 {
			b.WriteString(s[pos:])
			return b.String()
		}
		next := pos + e + len(end)
		o := strings.Index(s[pos:pos+e], open)
		switch {
		case o >= 0:
			b.WriteString(s[pos : pos+o])
		case b.Len() > 0 || answerAt < next:
			// A closing tag inside an answer is text of the answer; only one
			// that an answer follows ends thoughts whose opening tag is lost.
			b.WriteString(s[pos:next])
		}
		pos = next
	}
}

// cutComplete returns the text before the first completion marker, the text
// after it, and whether there was one.
func cutComplete(s string) (before, after string, found bool) {
	for i := 0; ; {
		j := strings.Index(s[i:], "<|")
		if j < 0 {
			return s, "", false
		}
		i += j
		if rest := s[i:]; strings.HasPrefix(rest, completeUpper) || strings.HasPrefix(rest, completeLower) {
			return s[:i], rest[len(completeUpper):], true
		}
		i += 2
	}
}

// containsFold reports whether s holds the lower-case ASCII word, in any case.
func containsFold(s, word string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		if s[i]|0x20 == word[0] && strings.EqualFold(s[i:i+len(word)], word) {
			return true
		}
	}
	return false
}
