package engine

import (
	"hash/fnv"
	"strings"

	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// Paragraphs are gathered into chunks whose borders depend on nothing but the
// paragraphs around them, so that an edit moves no border that is far from it.
// Each paragraph has a number, its hash. A border follows a paragraph whose
// number is the smallest within reach tokens before and after it; two borders
// are therefore more than reach tokens apart. An edit can make or remove
// borders only within reach of it, which is room for two: with the chunk
// before the first, between them and behind the second, an edit makes at most
// three new chunks. (The rule is that of winnowing, Schleimer, Wilkerson and
// Aiken, SIGMOD 2003, with windows counted in tokens.)
//
// What lies between two borders and is longer than a chunk may be is cut, again
// and again, behind the paragraph with the smallest number in its middle half.

// paragraph is a piece of text that ends where a blank line, or the text, ends.
type paragraph struct {
	start, end int // in the text, without white space around
	tokens     int
	number     uint64
}

// chunkParagraphs cuts text into chunks of whole paragraphs, about half as long
// as size and never longer. A paragraph that is longer than size is cut into
// windows of tokens, which do not overlap.
func chunkParagraphs(tok llm.Tokenizer, text string, size int) []graphstore.NewChunk {
	var chunks []graphstore.NewChunk
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			chunks = append(chunks, graphstore.NewChunk{Order: uint32(len(chunks)), Text: s, Tokens: uint32(tok.Count(s))})
		}
	}
	var cut func(ps []paragraph)
	cut = func(ps []paragraph) {
		whole := text[ps[0].start:ps[len(ps)-1].end]
		switch {
		case tokensOf(ps) <= size && tok.Count(whole) <= size:
			add(whole)
		case len(ps) == 1:
			for _, w := range tok.Windows(whole, size, 0) {
				add(w.Text)
			}
		default:
			i := middleBorder(ps)
			cut(ps[:i])
			cut(ps[i:])
		}
	}
	ps := paragraphs(tok, text)
	if len(ps) > 0 && 2*tokensOf(ps) <= size { // room for no more than two borders
		cut(ps)
		return chunks
	}
	from := 0
	for _, to := range borders(ps, max(size/4, 1)) {
		cut(ps[from:to])
		from = to
	}
	return chunks
}

// paragraphs splits text at blank lines.
func paragraphs(tok llm.Tokenizer, text string) []paragraph {
	var out []paragraph
	start, end := -1, 0 // of the paragraph that is being read
	flush := func() {
		if start >= 0 {
			h := fnv.New64a()
			h.Write([]byte(text[start:end]))
			out = append(out, paragraph{start, end, tok.Count(text[start:end]), mix(h.Sum64())})
		}
		start = -1
	}
	at := 0
	for line := range strings.Lines(text) {
		if body := strings.TrimSpace(line); body == "" {
			flush()
		} else {
			i := at + strings.Index(line, body)
			if start < 0 {
				start = i
			}
			end = i + len(body)
		}
		at += len(line)
	}
	flush()
	return out
}

// mix spreads the bits of a hash, whose high ones differ little between short
// texts (the finaliser of MurmurHash3).
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// borders returns the indices behind which a border lies, ascending; the last
// is len(ps).
func borders(ps []paragraph, reach int) []int {
	var out []int
	for i := range ps[:max(len(ps)-1, 0)] {
		if smallest(ps, i, reach) {
			out = append(out, i+1)
		}
	}
	if len(ps) > 0 {
		out = append(out, len(ps))
	}
	return out
}

// smallest reports whether no paragraph within reach of i has a smaller number;
// of equal ones the first counts as the smallest. Reach is in tokens of the
// paragraphs between the two.
func smallest(ps []paragraph, i, reach int) bool {
	for j, between := i-1, 0; j >= 0 && between <= reach; j-- {
		if ps[j].number <= ps[i].number {
			return false
		}
		between += ps[j].tokens
	}
	for j, between := i+1, 0; j < len(ps) && between <= reach; j++ {
		if ps[j].number < ps[i].number {
			return false
		}
		between += ps[j].tokens
	}
	return true
}

// middleBorder returns where to cut at least two paragraphs: behind the one
// with the smallest number of those that end in the middle half, or nearest to
// the middle if none does.
func middleBorder(ps []paragraph) int {
	total := tokensOf(ps)
	best, nearest, distance, before := 0, 1, total+1, 0
	for i := range ps[:len(ps)-1] {
		before += ps[i].tokens
		off := max(2*before-total, total-2*before)
		if off < distance {
			nearest, distance = i+1, off
		}
		if 2*off <= total && (best == 0 || ps[i].number < ps[best-1].number) {
			best = i + 1
		}
	}
	if best == 0 {
		return nearest
	}
	return best
}

func tokensOf(ps []paragraph) int {
	n := 0
	for i := range ps {
		n += ps[i].tokens
	}
	return n
}
