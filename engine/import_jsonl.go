package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// JSONLReport says what ImportJSONL took over.
type JSONLReport struct {
	Documents int
	Chunks    int
	Fragments int
	Entities  int
	Relations int
	Vectors   int
	Summaries int
	Answers   int
	// Differences are records that came out otherwise than the file has them:
	// it was changed by hand, or made by a version that derives them in another
	// way. The fragments decide. Of many only the first are listed.
	Differences     []string
	DifferencesMore int
}

const maxDifferences = 20

// ImportJSONL makes the store dir from what View.ExportFull wrote, an equal
// one: its own full export has the same bytes. No model is called; of the
// options only Storage and Logger are used, since the file says the rest.
//
// The store appears whole or not at all: it is made in dir + ".unfinished" and
// renamed in the end, and what an interrupted import leaves there is removed by
// the next one; while another import or a backup works there, the error matches
// ErrLocked. dir must not exist, or be empty: otherwise the error matches
// ErrExists. A line that cannot be used is a *LineError; it matches ErrInvalid,
// or ErrTooNew for a file of a newer version. Memory does not depend on the
// size of the file, only on that of its largest document.
func ImportJSONL(ctx context.Context, dir string, r io.Reader, o Options) (*JSONLReport, error) {
	dir = filepath.Clean(dir)
	rep, err := importJSONL(ctx, dir, r, o.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("lightrag: import into %s: %w", dir, within(err))
	}
	return rep, nil
}

func importJSONL(ctx context.Context, dir string, r io.Reader, o Options) (_ *JSONLReport, err error) {
	im := &jsonlImport{ctx: ctx, in: newLineReader(r)}
	head, err := im.header() // before anything is made
	if err != nil {
		return nil, err
	}
	stage, err := graphstore.Stage(o.Storage.FS, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	if err := im.open(stage.Dir(), head, o); err != nil {
		return nil, err
	}
	err = im.lines()
	if cerr := im.store.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return &im.rep, stage.Publish()
}

// jsonlImport is one ImportJSONL.
type jsonlImport struct {
	ctx   context.Context
	in    *lineReader
	store *graphstore.Store
	rep   JSONLReport
	stage int // kinds of lines come in an order

	overlays graphstore.Overlays

	doc   *jsonlDocument // whose lines are being read
	ready []*jsonlDocument
	size  int // bytes of ready

	owner  *jsonlOwner // whose lines are being read
	owners []*jsonlOwner
	held   int // bytes of owners

	keys    [][32]byte
	answers []format.Answer
	bytes   int // of answers
}

// Stages of a file, in the order of jsonl.go.
const (
	atOverlays = iota
	atDocuments
	atEntities
	atRelations
	atAnswers
	atMetas
	atEnd
)

// header reads the first line.
func (im *jsonlImport) header() (*storeLine, error) {
	line, err := im.in.next()
	if errors.Is(err, io.EOF) {
		return nil, im.in.fail("", "the file is empty")
	}
	if err != nil {
		return nil, err
	}
	kind, err := im.in.kind(line)
	if err != nil {
		return nil, err
	}
	if kind != "store" {
		if kind == "entity" || kind == "relation" {
			return nil, im.in.fail("kind", "this is an export of the graph alone, which does not make a store: export with --full")
		}
		return nil, im.in.fail("kind", "%q comes first, a full export begins with store", kind)
	}
	var l storeLine
	if err := im.in.decode(line, &l); err != nil {
		return nil, err
	}
	switch {
	case l.Version > jsonlVersion:
		return nil, &LineError{im.in.line, "version", fmt.Errorf("%d, this is a program for %d: %w", l.Version, jsonlVersion, ErrTooNew)}
	case l.Version < 1:
		return nil, im.in.fail("version", "%d", l.Version)
	case l.Dim > 65535:
		return nil, im.in.fail("dim", "%d is not in 0..65535", l.Dim)
	case l.Created <= 0:
		return nil, im.in.fail("created", "%d is no time", l.Created)
	case l.MaxSources < -1 || l.MaxSources == 0:
		return nil, im.in.fail("max_sources", "%d is neither -1 nor positive", l.MaxSources)
	case l.SummaryFragments < 0 || l.SummaryFragments == 1:
		return nil, im.in.fail("summary_fragments", "%d is neither 0 nor at least 2", l.SummaryFragments)
	case l.SummaryTokens < 1:
		return nil, im.in.fail("summary_tokens", "%d is not positive", l.SummaryTokens)
	case l.SummaryJoin < 1:
		return nil, im.in.fail("summary_join", "%d is not positive", l.SummaryJoin)
	}
	if _, err := llm.NewTokenizer(l.Tokenizer); err != nil {
		return nil, im.in.fail("tokenizer", "%v", err)
	}
	return &l, nil
}

// open makes the store that the header describes. Nobody asks it for vectors,
// so none are indexed: Open does that.
func (im *jsonlImport) open(dir string, h *storeLine, o Options) error {
	var err error
	im.store, err = graphstore.Open(dir, graphstore.Options{
		FS: o.Storage.FS, Logger: o.Logger, CacheBytes: o.Storage.CacheBytes,
		MemTableBytes: o.Storage.MemTableBytes, SealBytes: o.Storage.SealBytes,
		Identity: format.Identity{
			Embedder: h.Embedder, Dim: h.Dim, Checksum: h.Checksum, Tokenizer: h.Tokenizer, Created: h.Created,
		},
		MaxSources: h.MaxSources,
		Summary:    graphstore.SummaryPolicy{Fragments: h.SummaryFragments, Tokens: h.SummaryTokens, Join: h.SummaryJoin},
		Measure: func(id format.Identity) (graphstore.Measurer, error) {
			tok, err := llm.NewTokenizer(id.Tokenizer)
			if err != nil {
				return nil, err
			}
			return newMeasure(tok), nil
		},
		Now: o.now,
	})
	return err
}

// lines reads the lines after the header.
func (im *jsonlImport) lines() error {
	for n := 1; ; n++ {
		if n%64 == 0 && im.ctx.Err() != nil {
			return context.Cause(im.ctx)
		}
		line, err := im.in.next()
		if errors.Is(err, io.EOF) {
			if im.stage != atEnd {
				return im.in.fail("", "the file ends here, without the line of the kind end: it was cut short")
			}
			return im.verify()
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", im.in.line+1, err)
		}
		kind, err := im.in.kind(line)
		if err != nil {
			return err
		}
		if im.stage == atEnd {
			return im.in.fail("kind", "%q after the line of the kind end", kind)
		}
		if err := im.take(kind, line, n); err != nil {
			return err
		}
	}
}

// take uses one line; n lines came before it.
func (im *jsonlImport) take(kind string, line []byte, n int) error {
	switch kind {
	case "alias", "override", "change", "curated":
		return im.overlayLine(kind, line)
	case "document":
		return im.documentLine(line)
	case "chunk":
		return im.chunkLine(line)
	case "fragment":
		return im.fragmentLine(line)
	case "vector":
		return im.vectorLine(line)
	case "summary":
		return im.summaryLine(line)
	case "entity":
		return im.entityLine(line)
	case "relation":
		return im.relationLine(line)
	case "answer":
		return im.answerLine(line)
	case "meta":
		return im.metaLine(line)
	case "end":
		var l endLine
		if err := im.enter(atEnd, kind); err != nil {
			return err
		}
		if err := im.in.decode(line, &l); err != nil {
			return err
		}
		if l.Lines != n {
			return im.in.fail("lines", "%d, but %d lines came before: some are missing or were added", l.Lines, n)
		}
		return nil
	}
	return im.in.fail("kind", "%q is no kind of line", kind)
}

// enter moves on to a stage of the file and finishes those before it.
func (im *jsonlImport) enter(stage int, kind string) error {
	if stage < im.stage {
		return im.in.fail("kind", "%q is out of place: lines of its kind came earlier", kind)
	}
	if stage == im.stage {
		return nil
	}
	was := im.stage
	im.stage = stage
	if was == atOverlays {
		if err := im.restoreOverlays(); err != nil {
			return err
		}
	}
	if was == atDocuments {
		if err := im.endDocument(); err != nil {
			return err
		}
		if err := im.flushDocuments(); err != nil {
			return err
		}
	}
	if was <= atRelations {
		if err := im.flushOwners(); err != nil {
			return err
		}
	}
	if was <= atAnswers {
		return im.flushAnswers()
	}
	return nil
}

// answerBytes of cached answers are stored at a time.
const answerBytes = 4 << 20

func (im *jsonlImport) answerLine(line []byte) error {
	if err := im.enter(atAnswers, "answer"); err != nil {
		return err
	}
	var l answerLine
	if err := im.in.decode(line, &l); err != nil {
		return err
	}
	im.keys = append(im.keys, l.Key)
	im.answers = append(im.answers, format.Answer{
		Text: l.Text, Task: l.Task, Created: l.Created, PromptTokens: l.PromptTokens,
		CachedTokens: l.CachedTokens, CompletionTokens: l.CompletionTokens,
	})
	im.rep.Answers++
	if im.bytes += len(line); im.bytes < answerBytes {
		return nil
	}
	return im.flushAnswers()
}

func (im *jsonlImport) flushAnswers() error {
	if len(im.keys) == 0 {
		return nil
	}
	err := im.store.PutAnswers(im.keys, im.answers)
	im.keys, im.answers, im.bytes = im.keys[:0], im.answers[:0], 0
	return err
}

func (im *jsonlImport) metaLine(line []byte) error {
	if err := im.enter(atMetas, "meta"); err != nil {
		return err
	}
	var l metaLine
	if err := im.in.decode(line, &l); err != nil {
		return err
	}
	if l.Data == nil {
		l.Data = []byte{}
	}
	return im.store.SetMeta(l.Name, l.Data)
}

// verify compares the store with what the lines named.
func (im *jsonlImport) verify() error {
	v, err := im.store.View()
	if err != nil {
		return err
	}
	defer v.Close()
	n := v.Counts()
	for _, c := range [...]struct {
		what  string
		have  uint64
		lines int
	}{
		{"documents", n.Documents, im.rep.Documents},
		{"entities", n.Entities, im.rep.Entities},
		{"relations", n.Relations, im.rep.Relations},
	} {
		if c.have != uint64(c.lines) {
			return im.in.fail("", "the lines make %d %s, the file names %d", c.have, c.what, c.lines)
		}
	}
	return nil
}

func (im *jsonlImport) differs(line int, text string, args ...any) {
	if len(im.rep.Differences) == maxDifferences {
		im.rep.DifferencesMore++
		return
	}
	im.rep.Differences = append(im.rep.Differences, fmt.Sprintf("line %d: ", line)+fmt.Sprintf(text, args...))
}
