package engine

import (
	"encoding/json"
	"strings"

	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// fingerprint finds a text inside another one without keeping it.
type fingerprint struct {
	probe uint64 // rolling hash of the first bytes
	sum   uint64
	len   int32 // 0: too short to be looked for
}

const (
	probeBytes = 24
	probeBase  = 0x9e3779b97f4a7c15
)

func fingerprintOf(text string) fingerprint {
	if len(text) < probeBytes {
		return fingerprint{sum: graphstore.TextHash(text)}
	}
	h := uint64(0)
	for i := range probeBytes {
		h = h*probeBase + uint64(text[i])
	}
	return fingerprint{h, graphstore.TextHash(text), int32(len(text))}
}

// printIndex finds which chunk stands in a text.
type printIndex struct {
	chunks []importChunk
	at     map[uint64][]int32
}

func indexPrints(chunks []importChunk) printIndex {
	x := printIndex{chunks, make(map[uint64][]int32, len(chunks))}
	for i := range chunks {
		if p := &chunks[i].print; p.len > 0 {
			x.at[p.probe] = append(x.at[p.probe], int32(i))
		}
	}
	return x
}

// in returns the longest chunk that stands verbatim in text.
func (x printIndex) in(text string) (best int32, ok bool) {
	if len(text) < probeBytes {
		return 0, false
	}
	out := uint64(1) // weight of the byte that leaves the window
	for range probeBytes {
		out *= probeBase
	}
	h := uint64(0)
	for i := range len(text) {
		h = h*probeBase + uint64(text[i])
		if i >= probeBytes {
			h -= out * uint64(text[i-probeBytes])
		}
		start := i + 1 - probeBytes
		if start < 0 {
			continue
		}
		for _, c := range x.at[h] {
			p := &x.chunks[c].print
			end := start + int(p.len)
			if end <= len(text) && (!ok || p.len > x.chunks[best].print.len) && graphstore.TextHash(text[start:end]) == p.sum {
				best, ok = c, true
			}
		}
	}
	return best, ok
}

// ofPrompt returns the chunk that a prompt asks about. One that begins with a
// history, written as JSON, is that of a gleaning call.
func (x printIndex) ofPrompt(prompt string) (chunk int32, glean, ok bool) {
	if strings.HasPrefix(prompt, "[{") {
		var history []llm.Message
		if json.NewDecoder(strings.NewReader(prompt)).Decode(&history) == nil {
			for _, m := range history {
				if chunk, ok := x.in(m.Content); ok {
					return chunk, true, true
				}
			}
		}
	}
	chunk, ok = x.in(prompt)
	return chunk, false, ok
}

// matchAnswers finds the chunks of answers that neither name one nor have a
// prompt, as nano-graphrag and LightRAG 0.x store them: a record whose
// description is in the graph votes for the sources of its owner, the more the
// fewer they are. The answer is of the chunk with the most votes.
func (im *lightragImport) matchAnswers() error {
	if len(im.loose) == 0 {
		return nil
	}
	index, err := im.indexDescriptions()
	if err != nil {
		return err
	}
	type undecided struct {
		answer looseAnswer
		votes  map[int32]float64
	}
	var left []undecided
	for _, a := range im.loose {
		votes, err := im.votes(&a, index)
		if err != nil {
			return err
		}
		if c, ok := elected(votes); ok {
			im.chunks[c].answers = append(im.chunks[c].answers, a.cachedAnswer)
		} else if votes != nil {
			left = append(left, undecided{a, votes})
		}
	}
	im.loose = nil
	for _, u := range left { // a chunk that has both answers is out of the question
		for c := range u.votes {
			if len(im.chunks[c].answers) >= 2 {
				delete(u.votes, c)
			}
		}
		if c, ok := elected(u.votes); ok {
			im.chunks[c].answers = append(im.chunks[c].answers, u.answer.cachedAnswer)
		} else {
			im.issues.add("answer ambiguous", answersFile, u.answer.key, "")
		}
	}
	return nil
}

// votes are what the records of an answer say about its chunk; nil for an
// answer without any.
func (im *lightragImport) votes(a *looseAnswer, index map[uint64][]int32) (map[int32]float64, error) {
	b, err := im.spill.get(a.text)
	if err != nil {
		return nil, err
	}
	x := llm.ParseExtraction(string(b))
	if len(x.Entities)+len(x.Relations) == 0 {
		return nil, nil
	}
	im.canonical(&x)
	votes := make(map[int32]float64)
	vote := func(sources []int32) {
		for _, c := range sources {
			votes[c] += 1 / float64(len(sources)*len(sources))
		}
	}
	for j := range x.Entities {
		vote(index[describedAs(x.Entities[j].Name, "", x.Entities[j].Description)])
	}
	for j := range x.Relations {
		r := &x.Relations[j]
		vote(index[describedAs(min(r.Source, r.Target), max(r.Source, r.Target), r.Description)])
	}
	return votes, nil
}

// elected returns the chunk with clearly the most votes.
func elected(votes map[int32]float64) (int32, bool) {
	best, most, second := int32(-1), 0.0, 0.0
	for c, v := range votes {
		if v > most || v == most && c < best {
			best, most, second = c, v, most
		} else {
			second = max(second, v)
		}
	}
	return best, best >= 0 && second <= 0.9*most
}

func describedAs(a, b, description string) uint64 {
	return graphstore.TextHash(a + "\x00" + b + "\x00" + description)
}

// indexDescriptions returns the sources of every description of the graph.
func (im *lightragImport) indexDescriptions() (map[uint64][]int32, error) {
	index := make(map[uint64][]int32, len(im.nodes)+len(im.edges))
	add := func(a, b string, row span, sources []int32) error {
		var r graphRow
		if err := im.spill.getJSON(row, &r); err != nil {
			return err
		}
		for _, d := range im.descriptions(r.Attr["description"]) {
			index[describedAs(a, b, d)] = sources
		}
		return nil
	}
	for i := range im.nodes {
		if n := &im.nodes[i]; n.hasRow {
			if err := add(n.name, "", n.row, n.sources); err != nil {
				return nil, err
			}
		}
	}
	for i := range im.edges {
		e := &im.edges[i]
		a, b := im.nodes[e.a].name, im.nodes[e.b].name
		if err := add(min(a, b), max(a, b), e.row, e.sources); err != nil {
			return nil, err
		}
	}
	return index, nil
}
