package graphstore

import (
	"github.com/lightctl/lightrag/format"
)

// raw is a raw owner that gets fragments: it has a row that says that it
// exists, and belongs to a root, most often itself.
type raw struct {
	kind     Kind
	name     string // entity
	src, tgt string // relation, src < tgt by code point
	ends     [2]*raw
	add      []addition // canonical order

	id    uint32
	fresh bool // it does not exist yet; its id is given by the commit
	root  *change
}

// own says whether the raw owner is its own root.
func (w *raw) own() bool {
	return !w.root.hidden && w.name == w.root.name && w.src == w.root.src && w.tgt == w.root.tgt
}

// pair returns the raw ends of a relation once they have ids.
func (w *raw) pair() [2]EntityID { return [2]EntityID{EntityID(w.ends[0].id), EntityID(w.ends[1].id)} }

// change is what one plan does to one root: fragments of its raw owners that
// come, fragments that go, and what follows from that for the root's rows.
type change struct {
	kind     Kind
	name     string // entity
	src, tgt string // relation, src < tgt by code point
	ends     [2]*change
	pair     [2]EntityID // of a relation that exists
	// hidden: no root at all, but the relations that a merge has made
	// relations of the entity src (and tgt) with itself.
	hidden   bool
	hiddenOf EntityID

	owner   uint32
	fresh   bool // the root does not exist yet
	rawless bool // nor does a raw owner of its name: its id is given by the commit
	force   bool // derive everything anew although no fragment changes
	regroup bool // other raw owners than before: stored is given, not read
	keepRaw bool // regroup: the raw owner stays when the root goes
	later   bool // next is not worked out yet

	raws   []*raw     // those that get fragments
	add    []addition // theirs, canonical order
	drop   []fragment // stored fragments that go
	stored []uint32   // raw owners whose stored fragments count
	empty  []emptied  // raw owners, not the root, that lose their last fragment

	inherit []uint32 // regroup: roots whose summaries may fit

	vector    []float32
	vectorOf  uint64 // TextHash that vector was made from
	outdated  bool   // vector is wanted although its text is another one
	summaries []DoneSummary

	// As stored; the stale row follows from the record.
	agg    format.Aggregate
	rec    format.Record
	recSum uint64
	stale  format.Stale

	next derived
}

// addition is a fragment that comes. An implied one names the relation whose
// record implied it.
type addition struct {
	fragment
	of   *raw
	via  *raw
	text string // description of that record
}

// emptied is a raw owner whose rows go.
type emptied struct {
	raw    uint32
	name   string // entity
	member format.Member
}

// derived is what an owner will be.
type derived struct {
	gone       bool
	agg        format.Aggregate
	rec        format.Record // vector fields as stored
	text       string        // to embed
	sources    []ChunkID     // nil: as they were
	jobs       []SummaryJob
	oldSummary [][]byte // keys of summary rows that go
	newSummary []DoneSummary
}
