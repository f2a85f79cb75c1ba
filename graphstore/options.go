package graphstore

import (
	"fmt"
	"log/slog"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

// FS is the file system that a store lives on.
type FS = vfs.FS

// Ids and keys, as in package format.
type (
	DocID       = format.DocID
	ChunkID     = format.ChunkID
	EntityID    = format.EntityID
	RelationID  = format.RelationID
	Kind        = format.Kind
	FragmentKey = format.FragmentKey
)

// Defaults of Options.
const (
	DefaultCacheBytes    = 64 << 20
	DefaultMemTableBytes = 64 << 20
	DefaultSealBytes     = 16 << 20
	DefaultMaxSources    = 200
	DefaultSummaryTokens = 1200
)

// Options says how a store is opened. The zero value opens or creates a store
// with the defaults.
type Options struct {
	// FS is the file system; nil = the operating system's.
	FS FS
	// Logger receives what an operator should know; nil = silent.
	Logger *slog.Logger
	// Identity is what a new store is created with. For an existing one every
	// non-zero field must equal the stored one, else *MismatchError.
	Identity format.Identity
	// AnyTokenizer lets an existing store have another tokenizer than Identity
	// names, which then is only what a new store gets.
	AnyTokenizer bool
	// ReadOnly refuses every write with ErrReadOnly. The store is locked all
	// the same.
	ReadOnly bool
	// MustExist makes Open return ErrNotFound instead of creating a store.
	MustExist bool
	// CacheBytes is the size of the block cache; 0 = DefaultCacheBytes.
	CacheBytes int64
	// MemTableBytes is the size of a memtable; 0 = DefaultMemTableBytes.
	MemTableBytes int64
	// SealBytes of buffered vectors start the writing of a segment;
	// 0 = DefaultSealBytes.
	SealBytes int64
	// MaxSources bounds, in canonical order, the sources that feed an owner's
	// description and passage picking; 0 = DefaultMaxSources, -1 = all.
	MaxSources int
	// Summary says when descriptions are summarised.
	Summary SummaryPolicy
	// Keep names the settings that an existing store keeps as it has them;
	// what is given for them is then only what a new store gets.
	Keep Kept
	// Terms cuts texts into the terms of which postings are kept; nil = none
	// are kept, and those that the store has are deleted. A read-only store
	// whose postings are of an analyzer of another name shows none.
	Terms Analyzer
	// RebuildTerms makes all postings anew although Terms has made them.
	RebuildTerms bool
	// Measure makes the token counter, once the store's identity is known;
	// nil = one token per four code points.
	Measure func(format.Identity) (Measurer, error)
	// Vectors makes the sink of live vectors, once the store's identity is
	// known; nil = vectors are durable but nobody is told of them. The files
	// are where the sink may keep what it derives from vectors.
	Vectors func(format.Identity, IndexFiles) (VectorSink, error)
	// Now is the clock of document rows; nil = time.Now.
	Now func() time.Time
}

// Kept names settings by which records were derived.
type Kept struct {
	MaxSources       bool
	SummaryFragments bool
	SummaryTokens    bool // SummaryPolicy.Tokens and Join
}

// SummaryPolicy says when the descriptions of an owner are replaced by
// summaries of them. The zero value never summarises.
type SummaryPolicy struct {
	// Fragments is how many items make a level be summarised; 0 = never, not
	// even by Tokens.
	Fragments int
	// Tokens of a level make it be summarised; 0 = DefaultSummaryTokens.
	Tokens int
	// Join bounds, in tokens, the descriptions that stand in for a summary
	// that is still to be made; 0 = DefaultSummaryTokens.
	Join int
	// Model names who makes the summaries. It is stored with each; those that
	// another model made stay as paid for.
	Model string
}

// Measurer counts the tokens of descriptions and context lines. It must be
// safe for concurrent use and give the same counts for the life of a store.
type Measurer interface {
	// Tokens counts the tokens of a description.
	Tokens(s string) int
	// EntityLine counts the tokens of an entity's context line.
	EntityLine(name, typ, description string) int
	// RelationLine counts the tokens of a relation's context line.
	RelationLine(src, tgt, description string) int
	// ChunkLine counts the tokens of a chunk's context line.
	ChunkLine(content string) int
}

// VectorSink receives every live vector while a store opens, and every new
// one inside the commit that names it. It is called by one goroutine at a
// time.
type VectorSink interface {
	// Append copies vec, which is only lent, and returns the slot it took: a
	// number that is never reused. An error aborts the commit, or the open.
	Append(kind Kind, owner, version uint32, vec []float32) (slot uint32, err error)
	// Bound returns how many slots of the kind exist.
	Bound(kind Kind) uint32
}

// withDefaults fills in the zero fields.
func (o Options) withDefaults() Options {
	if o.CacheBytes == 0 {
		o.CacheBytes = DefaultCacheBytes
	}
	if o.MemTableBytes == 0 {
		o.MemTableBytes = DefaultMemTableBytes
	}
	if o.SealBytes == 0 {
		o.SealBytes = DefaultSealBytes
	}
	if o.MaxSources == 0 {
		o.MaxSources = DefaultMaxSources
	}
	if o.Summary.Tokens == 0 {
		o.Summary.Tokens = DefaultSummaryTokens
	}
	if o.Summary.Join == 0 {
		o.Summary.Join = DefaultSummaryTokens
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// validate reports the first setting that makes no sense.
func (o Options) validate() error {
	switch {
	case o.CacheBytes < 0, o.MemTableBytes < 0, o.SealBytes < 0:
		return fmt.Errorf("negative size: %w", ErrInvalid)
	case o.MaxSources < -1:
		return fmt.Errorf("MaxSources %d: %w", o.MaxSources, ErrInvalid)
	case o.Summary.Fragments < 0, o.Summary.Fragments == 1, o.Summary.Tokens < 0, o.Summary.Join < 0:
		return fmt.Errorf("summary policy %+v: %w", o.Summary, ErrInvalid)
	}
	return nil
}

// runeMeasurer stands in for a tokenizer: one token per four code points,
// rounded up, of the text itself; the frame of a context line is counted as a
// constant.
type runeMeasurer struct{}

const lineFrame = 12 // tokens of the JSON around the fields of a context line

func (runeMeasurer) Tokens(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }

func (m runeMeasurer) EntityLine(name, typ, description string) int {
	return m.Tokens(name) + m.Tokens(typ) + m.Tokens(description) + lineFrame
}

func (m runeMeasurer) RelationLine(src, tgt, description string) int {
	return m.Tokens(src) + m.Tokens(tgt) + m.Tokens(description) + lineFrame
}

func (m runeMeasurer) ChunkLine(content string) int { return m.Tokens(content) + lineFrame }
