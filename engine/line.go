package engine

import (
	"unicode/utf8"

	"github.com/lightctl/lightrag/llm"
)

// Context lines are JSON objects, one a line, with ", " and ": " between their
// parts and nothing escaped that JSON does not require: what a model reads
// costs tokens, and budgets must count exactly what is sent.

func appendEntityLine(dst []byte, name, typ, description string) []byte {
	dst = appendField(append(dst, '{'), "entity", name)
	dst = appendField(append(dst, ", "...), "type", typ)
	dst = appendField(append(dst, ", "...), "description", description)
	return append(dst, '}')
}

func appendRelationLine(dst []byte, src, tgt, description string) []byte {
	dst = appendField(append(dst, '{'), "entity1", src)
	dst = appendField(append(dst, ", "...), "entity2", tgt)
	dst = appendField(append(dst, ", "...), "description", description)
	return append(dst, '}')
}

func appendChunkLine(dst []byte, reference, content string) []byte {
	dst = appendField(append(dst, '{'), "reference_id", reference)
	dst = appendField(append(dst, ", "...), "content", content)
	return append(dst, '}')
}

func appendField(dst []byte, key, value string) []byte {
	dst = append(dst, '"')
	dst = append(dst, key...)
	dst = append(dst, `": `...)
	return appendQuoted(dst, value)
}

const hexDigits = "0123456789abcdef"

// appendQuoted appends s as a JSON string. Unlike encoding/json it leaves
// <, >, &, U+2028 and U+2029 as they are.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// measure prices context lines. It is the graphstore.Measurer of a DB: lines
// are priced when they are written, so that a query only adds numbers.
//
// The chars4 tokenizer rounds up only once for a whole text, so its lines are
// priced in code points and cost divides their sum.
type measure struct {
	tok   llm.Tokenizer
	runes bool // lines are priced in code points
}

func newMeasure(tok llm.Tokenizer) measure {
	return measure{tok: tok, runes: tok.Name() == "chars4"}
}

func (m measure) line(b []byte) int {
	if m.runes {
		return utf8.RuneCount(b)
	}
	return m.tok.Count(string(b))
}

// Tokens implements graphstore.Measurer.
func (m measure) Tokens(s string) int { return m.tok.Count(s) }

// EntityLine implements graphstore.Measurer.
func (m measure) EntityLine(name, typ, description string) int {
	return m.line(appendEntityLine(nil, name, typ, description))
}

// RelationLine implements graphstore.Measurer.
func (m measure) RelationLine(src, tgt, description string) int {
	return m.line(appendRelationLine(nil, src, tgt, description))
}

// ChunkLine implements graphstore.Measurer. References are short and their
// number is not known yet; "1" stands for all of them.
func (m measure) ChunkLine(content string) int {
	return m.line(appendChunkLine(nil, "1", content))
}

// cost returns the tokens of n lines whose prices add up to sum, joined by
// newlines.
func (m measure) cost(sum, n int) int {
	if n > 1 {
		sum += n - 1
	}
	if m.runes {
		return (sum + 3) / 4
	}
	return sum
}
