package llm

import (
	"strconv"
	"strings"
)

// oldDelimiter stands between the fields of a row in the old format.
const oldDelimiter = "<|>"

// hasOldRecord reports whether s has a row of the old format.
func hasOldRecord(s string) bool {
	for i := 0; ; {
		j := strings.Index(s[i:], oldDelimiter)
		if j < 0 {
			return false
		}
		i += j
		if start, kind := oldHead(s, i); kind != rowNone && start > 0 && s[start-1] == '(' {
			return true
		}
		i += len(oldDelimiter)
	}
}

// oldHead looks backwards from the delimiter at s[at] for the name of a row
// kind behind an opening parenthesis or at the start of a line, quoted or not,
// and returns where it starts. Elsewhere the word is the text of a field.
func oldHead(s string, at int) (start, kind int) {
	base := max(0, at-32)
	head := strings.TrimRight(s[base:at], "\"' \t")
	for _, k := range [...]struct {
		word string
		kind int
	}{
		{"content_keywords", rowKeywords}, {"relationship", rowRelation}, {"relation", rowRelation}, {"entity", rowEntity},
	} {
		n := len(head) - len(k.word)
		if n < 0 || !strings.EqualFold(head[n:], k.word) {
			continue
		}
		open := strings.TrimRight(head[:n], "\"' \t")
		marks := strings.TrimRight(open, "-*.0123456789 \t")
		if strings.HasSuffix(open, "(") || strings.HasSuffix(marks, "\n") || marks == "" && base == 0 {
			return base + len(open), k.kind
		}
	}
	return 0, rowNone
}

// parseOld reads rows of the old format. Records end at ##, at the completion
// marker, or where the next row begins.
func (p *parser) parseOld(s string) {
	p.out.Format = FormatOld
	for s != "" {
		before, after, found := cutComplete(s)
		p.out.Complete = p.out.Complete || found
		for before != "" {
			piece, rest, _ := strings.Cut(before, "##")
			p.oldPiece(piece)
			before = rest
		}
		s = after
	}
}

func (p *parser) oldPiece(s string) {
	start, kind := nextOldHead(s, 0)
	if kind == rowNone {
		if strings.Contains(s, oldDelimiter) {
			if _, ok := p.next(); ok {
				p.drop("row: unknown kind", true, strings.Split(s, oldDelimiter)...)
			}
		}
		return
	}
	for kind != rowNone {
		end, nextKind := nextOldHead(s, start+len(oldDelimiter)+len("entity"))
		body := s[start:]
		if nextKind != rowNone {
			// The parenthesis before the next row is not of this one.
			body = strings.TrimRight(s[start:end], "( \t\r\n")
		}
		p.oldRow(kind, oldBody(body))
		start, kind = end, nextKind
	}
}

// nextOldHead finds the next row start at or after from.
func nextOldHead(s string, from int) (start, kind int) {
	for i := from; i < len(s); {
		j := strings.Index(s[i:], oldDelimiter)
		if j < 0 {
			break
		}
		i += j
		if at, k := oldHead(s, i); k != rowNone && at >= from {
			return at, k
		}
		i += len(oldDelimiter)
	}
	return len(s), rowNone
}

// oldBody cuts a row at its closing parenthesis: the last one on the first line
// that has one. A row without any ends where its paragraph does.
func oldBody(s string) string {
	for end := 0; end < len(s); {
		line := s[end:]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		if end > 0 && strings.TrimSpace(line) == "" {
			return trimDebris(s[:end])
		}
		if i := strings.LastIndexByte(line, ')'); i >= 0 {
			return s[:end+i]
		}
		end += len(line) + 1
	}
	return trimDebris(s)
}

// trimDebris removes what stands in the place of a closing parenthesis, as the
// `,">` of `"text.",">`. The quote that closes the last field stays.
func trimDebris(s string) string {
	s = strings.TrimSpace(s)
	body := strings.TrimRight(s, "\",> \t")
	if i := strings.IndexByte(s[len(body):], '"'); i >= 0 {
		return s[:len(body)+i+1]
	}
	return s
}

func (p *parser) oldRow(kind int, body string) {
	fields := p.fields[:0]
	for f := range strings.SplitSeq(body, oldDelimiter) {
		fields = append(fields, strings.TrimSpace(f))
	}
	p.fields = fields
	n := len(fields)
	switch {
	case kind == rowKeywords:
		if n > 1 {
			p.out.Keywords = appendKeywords(p.out.Keywords, unquoteField(fields[1]))
		}
	case kind == rowEntity && n >= 4:
		p.entity(unquoteField(fields[1]), unquoteField(fields[2]), unquoteField(fields[3]))
	case kind == rowRelation && n >= 4:
		p.oldRelation(fields)
	default:
		if _, ok := p.next(); ok {
			p.drop("row: wrong number of fields", true, fields...)
		}
	}
}

// unquoteField trims a field and removes its enclosing double quotes, whatever
// is inside: in this format they are punctuation.
func unquoteField(f string) string {
	f = strings.TrimSpace(f)
	if n := len(f); n >= 2 && f[0] == '"' && f[n-1] == '"' {
		return strings.TrimSpace(f[1 : n-1])
	}
	return f
}

// oldRelation adds a relation of at least four fields. The last field is the
// weight if it is a number; what stands between it and the description is
// keywords.
func (p *parser) oldRelation(fields []string) {
	rest := fields[3:]
	if n := len(fields); n < 6 {
		p.retry = splitBroken(p.retry[:0], rest, n == 4)
		rest = p.retry
	}
	for i, f := range rest {
		rest[i] = unquoteField(f)
	}
	description, rest := rest[0], rest[1:]
	weight, keywords := WeightOne, ""
	if n := len(rest); n > 0 {
		last := rest[n-1]
		// A number with a lone quote is a strength all the same, but in the
		// place of the keywords it is kept as their text too.
		if w, ok := plainWeight(strings.Trim(last, `"' `)); ok {
			weight = w
			if n > 1 || strings.Trim(last, "+-.0123456789") == "" {
				rest = rest[:n-1]
			}
		} else if n > 1 {
			rest = rest[:n-1]
		}
		if len(rest) > 0 {
			keywords = rest[len(rest)-1]
		}
	}
	p.relation(unquoteField(fields[1]), unquoteField(fields[2]), keywords, description, weight)
}

// plainWeight reads a strength; only plain decimal numbers are one.
func plainWeight(s string) (int64, bool) {
	if s == "" || strings.Trim(s, "+-.0123456789") != "" {
		return 0, false
	}
	w, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, false
	}
	return millionths(w), true
}

// splitBroken splits fields at the broken delimiters that small models put
// between a quoted description and quoted keywords or the weight.
func splitBroken(dst, fields []string, short bool) []string {
	for _, f := range fields {
		for {
			i, n := findBroken(f, short)
			if n == 0 {
				break
			}
			dst = append(dst, f[:i])
			f = f[i+n:]
		}
		dst = append(dst, f)
	}
	return dst
}

// findBroken finds "|>, "<(newline)|> and "+" behind a closing quote, which
// stays with the field before, and in a row that is short of fields "</|> too:
// in one that is not, that is text.
func findBroken(s string, short bool) (at, length int) {
	for i := 0; i < len(s); i++ {
		if s[i] != '"' {
			continue
		}
		rest := strings.TrimLeft(s[i+1:], " \t")
		skipped := len(s) - i - 1 - len(rest)
		for _, d := range [...]string{"|>", "<\n|>", "<\r\n|>"} {
			if strings.HasPrefix(rest, d) {
				return i + 1, skipped + len(d)
			}
		}
		if short && strings.HasPrefix(rest, "</|>") {
			return i + 1, skipped + len("</|>")
		}
		if skipped == 0 && strings.HasPrefix(rest, `+"`) {
			return i + 1, 1
		}
	}
	return 0, 0
}
