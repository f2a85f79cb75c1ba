package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/lightctl/lightrag/format"
)

// LightRAGImport says how a LightRAG working directory is imported. The zero
// value is right for most.
type LightRAGImport struct {
	// Workspace is the sub-directory to take. "" = the directory itself, or
	// the only one of its sub-directories that is a workspace.
	Workspace string
	// KeepQuotes leaves names as they are in graphs of LightRAG 1.2.1 and
	// older, where they are wrapped in literal double quotes. Otherwise the
	// quotes are taken off, and the report says so.
	KeepQuotes bool
	// SkipVectors leaves the vectors of the directory out: it does not say
	// which model made them, and only their dimension can be checked.
	SkipVectors bool
	// TempDir is where texts are kept in a file meanwhile, as much as the
	// directory holds of them. "" = the system's.
	TempDir string
}

// ImportLightRAG takes over a working directory of LightRAG, of any version up
// to 1.5, or of nano-graphrag: documents, chunks, graph, vectors and cached
// extraction answers. No model is asked.
//
// A chunk whose answers are in the cache gets the fragments that the answers
// give, parsed as if the model had just given them, and only of what the graph
// holds: what was deleted there stays deleted. The rest of the graph becomes
// fragments made of its rows: the i-th description of a row on the i-th chunk
// among its sources that no answer covers, left-over ones on the last, type
// and keywords on all, and the weight split among them. Sources that are no
// chunk are chunks of a document of their own, lightrag:unknown-sources.
//
// Vectors are taken over if the dimension is that of the store's embedder and
// that is not the offline one. A vector whose row tells another text than the
// store would embed serves until Refresh makes it anew; so do missing ones.
//
// A row that cannot be used is reported and left out. The error matches
// ErrNotFound if the directory has none of the files. What was interrupted is
// continued by the same call, and what is there is left alone.
//
// Texts, answers and vectors wait in a temporary file; memory holds one
// document, one row and about 200 bytes for every row of the files, however
// long they are.
func (db *DB) ImportLightRAG(ctx context.Context, dir string, o LightRAGImport) (*ImportReport, error) {
	if err := db.begin(true); err != nil {
		return nil, err
	}
	defer db.end()
	rep, err := db.importLightRAG(ctx, dir, o)
	if err != nil {
		err = fmt.Errorf("lightrag: import %s: %w", dir, within(err))
	}
	return rep, err
}

func (db *DB) importLightRAG(ctx context.Context, dir string, o LightRAGImport) (_ *ImportReport, err error) {
	found, workspace, others, err := lightragDir(dir, o.Workspace)
	if err != nil {
		return nil, err
	}
	sp, err := newSpill(o.TempDir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sp.close()) }()
	im := &lightragImport{
		db: db, ctx: ctx, dir: found, o: o, spill: sp, issues: make(issues),
		rep:     &ImportReport{Source: dir, Workspace: workspace},
		docAt:   make(map[string]int32),
		chunkAt: make(map[string]int32),
		nodeAt:  make(map[string]int32),
		edgeAt:  make(map[[2]int32]int32),
	}
	for _, w := range others {
		im.issues.add("several workspaces", w, "", "")
	}
	if workspace != "" && o.Workspace == "" {
		im.rep.Source = found
	}
	steps := []func() error{
		im.readDocuments, im.readChunks, im.readGraph, im.readAnswers, im.matchAnswers,
		im.replayAnswers, im.spreadRows, im.commitAll, im.takeSummaries, im.takeVectors, im.compare,
	}
	for _, step := range steps {
		if err = step(); err != nil {
			break
		}
	}
	im.rep.Issues = im.issues.sorted()
	return im.rep, err
}

// lightragImport is one running import. Documents, chunks, nodes and edges are
// known by their index in the slices below, in the order of the files.
type lightragImport struct {
	db     *DB
	ctx    context.Context
	dir    string
	o      LightRAGImport
	spill  *spill
	rep    *ImportReport
	issues issues

	docs    []importDoc
	docAt   map[string]int32
	chunks  []importChunk
	chunkAt map[string]int32 // by their id in the directory

	graph  bool // there is a graph file
	quoted bool // its names are wrapped in quotes
	upper  bool // its names are upper-case
	nodes  []importNode
	nodeAt map[string]int32 // by name in the store
	folded map[string]int32 // upper only: by upper-case name
	edges  []importEdge
	edgeAt map[[2]int32]int32 // smaller index first

	cacheKeys map[string]int32 // of text_chunks' lists: whose answer it is
	loose     []looseAnswer    // answers whose chunk is not known yet

	told map[int32]*strings.Builder // texts of unknown sources

	chunkVectors *vectorFile
	mixed        bool // the store holds documents of elsewhere
}

// importDoc is a document of the directory.
type importDoc struct {
	id, path string
	text     bool // hash is that of its text
	hash     [32]byte
	cut      bool // its text is cut by us
	removed  int
	chunks   []int32
	rows     []span // fragments made of graph rows
	doc      format.DocID
	done     bool // its contribution is in the store
}

// importChunk is a chunk of the directory.
type importChunk struct {
	id      string
	doc     int32
	order   int64 // as written; then as stored
	tokens  uint32
	path    string
	text    span
	print   fingerprint
	answers []cachedAnswer // first and gleaning answer
}

// importNode is an entity; row is the row of the graph file, if it has one.
type importNode struct {
	name    string
	row     span
	hasRow  bool
	unknown bool    // its row names no type
	sources []int32 // as listed
	cover   coverage
	degree  int32
}

type importEdge struct {
	a, b    int32 // nodes
	row     span
	hasRow  bool
	sources []int32
	cover   coverage
}

// coverage is what the answers say about an owner.
type coverage struct {
	chunks []int32  // that mention it
	texts  []uint64 // hashes of descriptions
	weight int64
}

// contextReader ends when its context does.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}
