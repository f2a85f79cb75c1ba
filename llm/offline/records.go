package offline

import "strings"

const (
	delimiter = "<|#|>"
	completed = "<|COMPLETE|>"
)

// extract answers TaskExtract: the records of one chunk.
func extract(text string) string {
	x := newExtraction(text)
	x.run()
	related := x.fit(x.relate())
	ids := x.ordered()
	var b strings.Builder
	for _, id := range ids {
		e := &x.entities[id]
		row(&b, "entity", e.name, typeNames[e.typ()], x.describe(id))
	}
	for _, r := range related {
		text := r.text
		if text == "" {
			text = cut(oneLine(x.sents[r.sent].text), maxDescribed)
		}
		row(&b, "relation", x.entities[r.a].name, x.entities[r.b].name, strings.Join(x.keywordsOf(&r), ","), text, hundredths(r.weight))
	}
	if words := x.contentKeywords(ids); len(words) > 0 {
		row(&b, "content_keywords", strings.Join(words, ", "))
	}
	b.WriteString(completed)
	return b.String()
}

// row writes one record. The text was cleaned of delimiters before; only line
// ends and stray blanks are left to fold.
func row(b *strings.Builder, fields ...string) {
	for i, f := range fields {
		if i > 0 {
			b.WriteString(delimiter)
		}
		b.WriteString(oneLine(f))
	}
	b.WriteByte('\n')
}

// contentKeywords names what the chunk is about: its most mentioned entities,
// concepts first.
func (x *extraction) contentKeywords(ids []int32) []string {
	var words []string
	for _, concepts := range []bool{true, false} {
		limit := len(words) + 5
		for least := 5; least >= 1 && len(words) < limit; least-- {
			for _, id := range ids {
				e := &x.entities[id]
				if n := min(len(e.sents), 5); n != least || (e.kind == kindConcept) != concepts || len(words) == limit {
					continue
				}
				words = append(words, strings.ReplaceAll(e.name, ",", " "))
			}
		}
	}
	return words
}
