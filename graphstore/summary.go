package graphstore

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"

	"github.com/lightctl/lightrag/format"
)

// The summaries of an owner form a tree over its distinct descriptions in
// canonical order. While a level has enough items or tokens, runs of its items
// are replaced by one summary each, which are items of the next level. Where a
// run ends is decided by the item's own hash, so that one more or one fewer
// description changes one run of each level and leaves the others as paid for.
// An item of a higher level has the hash of its input, never of what a model
// wrote, and counts as at most half of the token limit: the shape of the tree
// is a pure function of the descriptions.

const (
	groupMin   = 2  // items of a run before it may end
	groupMax   = 16 // items of a run that end it
	groupEvery = 8  // an item in so many ends a run
)

// summaryKey places a summary in an owner's tree.
type summaryKey struct {
	level uint8
	first FragmentKey
}

// covered is what a summary stands for, besides its first fragment.
type covered struct {
	input [32]byte
	last  FragmentKey
}

// node is an item of one level.
type node struct {
	first, last FragmentKey
	id          [32]byte
	text        string
	known       bool   // text is there
	tokens      int    // < 0: not counted yet
	run         []node // what it summarises, whose tokens are its own; nil: a description
}

// summaries is what a tree comes to.
type summaries struct {
	text    string // for the record
	pending bool
	wanted  map[summaryKey]covered // every summary of the tree
	jobs    []SummaryJob           // missing ones of the lowest level that misses any
}

// tree builds the tree of items, which have at most most tokens together.
// lookup returns the text of a summary if it is there and has that input. The
// caller fills in whom the jobs are for.
func (p SummaryPolicy) tree(items []item, most int, m Measurer, lookup func(summaryKey, [32]byte) (string, bool, error)) (summaries, error) {
	if p.Fragments == 0 || len(items) < groupMin || len(items) < p.Fragments && most < p.Tokens {
		return summaries{text: joined(items)}, nil
	}
	level := make([]node, len(items))
	for i, it := range items {
		level[i] = node{first: it.key, last: it.key, text: it.text, known: true, tokens: -1}
	}
	if !p.full(level, most, m) {
		return summaries{text: joined(items)}, nil
	}
	leaves := level
	for i := range level {
		level[i].id = sha256.Sum256([]byte(level[i].text))
	}
	s := summaries{wanted: make(map[summaryKey]covered)}
	for n := uint8(0); p.full(level, most, m); n++ {
		next := make([]node, 0, len(level)/groupMin+1)
		for len(level) > 0 {
			run := level[:runLength(level)]
			level = level[len(run):]
			if len(run) == 1 {
				next = append(next, run[0])
				continue
			}
			nd, err := p.summarise(&s, n, run, lookup)
			if err != nil {
				return summaries{}, err
			}
			next = append(next, nd)
		}
		level = next
	}
	if s.pending {
		s.text = joined(items[:p.standIn(leaves, most, m)])
		return s, nil
	}
	texts := make([]item, len(level))
	for i := range level {
		texts[i].text = level[i].text
	}
	s.text = joined(texts)
	return s, nil
}

// mayHave says whether an owner whose record the policy has derived from what
// agg counts may have summaries.
func (p SummaryPolicy) mayHave(agg *format.Aggregate) bool {
	return int(agg.Distinct) >= p.Fragments || agg.Tokens >= uint64(p.Tokens)
}

// full says whether a level is to be summarised. An item of a higher level
// never counts for more than its descriptions, which have most tokens together.
func (p SummaryPolicy) full(level []node, most int, m Measurer) bool {
	switch {
	case len(level) < groupMin:
		return false
	case len(level) >= p.Fragments:
		return true
	case most < p.Tokens:
		return false
	}
	total := 0
	for i := range level {
		if total += p.count(&level[i], m); total >= p.Tokens {
			return true
		}
	}
	return false
}

// count returns the tokens of an item. Most levels are full by the number of
// their items or hold few tokens altogether, so that most items are never counted.
func (p SummaryPolicy) count(nd *node, m Measurer) int {
	switch {
	case nd.tokens >= 0:
	case nd.run == nil:
		nd.tokens = m.Tokens(nd.text)
	default:
		nd.tokens = 0
		for i := range nd.run {
			if nd.tokens += p.count(&nd.run[i], m); nd.tokens >= p.Tokens/2 {
				nd.tokens = p.Tokens / 2
				break
			}
		}
	}
	return nd.tokens
}

// runLength returns how many items the first run of level has.
func runLength(level []node) int {
	for i := range level {
		n := i + 1
		ends := binary.LittleEndian.Uint64(level[i].id[:])%groupEvery == 0
		if n >= groupMin && ends || n == groupMax {
			return n
		}
	}
	return len(level)
}

// summarise makes the item that stands for run on the next level.
func (p SummaryPolicy) summarise(s *summaries, level uint8, run []node,
	lookup func(summaryKey, [32]byte) (string, bool, error)) (node, error) {
	nd := node{first: run[0].first, last: run[len(run)-1].last, id: inputOf(run), tokens: -1, run: run}
	key := summaryKey{level, nd.first}
	s.wanted[key] = covered{nd.id, nd.last}
	if s.pending && (len(s.jobs) == 0 || s.jobs[0].Level != level) {
		return nd, nil // its texts may not be there: a lower level comes first
	}
	text, ok, err := lookup(key, nd.id)
	if err != nil {
		return node{}, err
	}
	if ok {
		nd.text, nd.known = text, true
		return nd, nil
	}
	job := SummaryJob{Level: level, First: nd.first, Last: nd.last, Input: nd.id, Texts: make([]string, len(run))}
	for i := range run {
		job.Texts[i] = run[i].text
	}
	s.jobs, s.pending = append(s.jobs, job), true
	return nd, nil
}

// inputOf hashes what a summary is made of, not who makes it.
func inputOf(run []node) (sum [32]byte) {
	h := sha256.New()
	for i := range run {
		h.Write(run[i].id[:])
	}
	h.Sum(sum[:0])
	return sum
}

// standIn returns how many descriptions stand for a summary which is still to
// be made: as many as fit into Join tokens, at least one.
func (p SummaryPolicy) standIn(leaves []node, most int, m Measurer) int {
	if most <= p.Join {
		return len(leaves)
	}
	total := 0
	for i := range leaves {
		if total += p.count(&leaves[i], m); total > p.Join && i > 0 {
			return i
		}
	}
	return len(leaves)
}

// summaryRow is the row that answers a job.
func (p SummaryPolicy) summaryRow(d *DoneSummary) *format.Summary {
	return &format.Summary{Last: d.Job.Last, Input: d.Job.Input, Model: cmp.Or(d.Model, p.Model), Text: d.Text}
}
