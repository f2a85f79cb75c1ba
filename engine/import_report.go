package engine

import (
	"slices"
	"strings"
)

// ImportReport is the outcome of an import: what is in the store now because
// of it, and everything that was not as it should be.
type ImportReport struct {
	Source    string       // what was read
	Workspace string       // sub-directory that was taken, if any
	Files     []ImportFile // in the order they were read

	Documents, Unchanged int // committed, and already there
	Chunks               int // of the documents committed
	Entities, Relations  int // in the graph that was read
	Answers              int // model answers stored in the cache
	Replayed             int // chunks whose answers made the fragments
	FromRows             int // fragments made of graph rows
	Summaries            int // taken over as they are

	// Vectors taken over, those among them whose text differs from the stored
	// one, and owners that have no vector yet.
	Vectors, VectorsStale, VectorsMissing int

	// Unquoted says that names were wrapped in literal quotes, as old versions
	// wrote them, and that these were taken off.
	Unquoted bool

	// Issues are sorted by kind.
	Issues []ImportIssue
}

// ImportFile is one file of an import.
type ImportFile struct {
	Name string
	Rows int
	Note string // why it gave nothing, or not everything
}

// ImportIssue is one kind of inconsistency.
type ImportIssue struct {
	Kind     string // see ImportIssueKinds
	Count    int
	Examples []ImportExample // the first few
}

// ImportExample is where an inconsistency was met.
type ImportExample struct {
	File   string
	Key    string // of the row
	Detail string
}

const maxImportExamples = 5

// ImportIssueKinds explains the kinds of ImportIssue.
var ImportIssueKinds = map[string]string{
	"answer ambiguous":         "a cached answer fits several chunks equally well, or none; its chunk was imported from the graph rows",
	"answer without row":       "a record of a cached answer is about an entity or relation that the graph does not hold, and was left out",
	"answers surplus":          "a chunk has more than two cached answers; the first two were taken",
	"chunk order twice":        "chunks of one document have the same order; they were numbered anew",
	"chunk recovered":          "a chunk is missing among the texts; its text was taken from the vectors' file",
	"chunks cut anew":          "a document has no chunks; its text was cut anew, and `docs retry` extracts it",
	"degree differs":           "an entity has another number of neighbours than in the graph file",
	"description differs":      "the descriptions of the chunks' answers differ from the one in the graph file; the answers were kept",
	"description summarised":   "the graph file has one description where the answers give several; it is made anew when it is needed",
	"document blank":           "a document has neither text nor chunks, and was left out",
	"document duplicate":       "the store holds the text of a document under another id; it was left out",
	"document id changed":      "an id cannot be used; a digest stands for it",
	"document unnamed":         "a chunk names no document",
	"endpoint missing":         "an edge names an entity without a row; it is there as an entity of type UNKNOWN",
	"file damaged":             "a file could not be read to its end; what came before was imported",
	"keywords differ":          "a relation has other keywords than in the graph file",
	"matrix length":            "the matrix does not have as many vectors as there are rows",
	"name changed":             "a name was normalised",
	"name twice":               "two rows have the same name once it is normalised; they are one entity",
	"path unusable":            "a path cannot be used and was left out",
	"row malformed":            "a row has another form than it should, and was left out",
	"row twice":                "a key is there twice; the last row was taken",
	"self loop":                "an edge connects an entity with itself, and was left out",
	"source unknown":           "a row names a source that is no chunk; it belongs to the document " + unknownSourcesID,
	"sources fewer":            "an owner lacks sources that the graph file lists",
	"sources more":             "an owner has sources that the graph file does not list: every chunk whose answers name it, or a relation of it, is one",
	"text cleaned":             "NUL bytes, invalid UTF-8 or characters that XML forbids were taken out",
	"type differs":             "the vote of the answers gives another type than the graph file has",
	"vector dimension":         "vectors have another dimension than the store's; they were not taken over",
	"vector of another text":   "a vector was made from another text than the store would embed; it serves until it is made anew",
	"vector recovered":         "a vector is missing or damaged in the matrix and was taken from the row",
	"vector unusable":          "a vector holds NaN, Inf or only zeros, or cannot be decoded",
	"vector without owner":     "a vector's row names nothing that was imported",
	"vectors of another model": "the store's vectors come from the offline embedder; those of the directory were not taken over",
	"weight differs":           "a relation has another weight than in the graph file",
	"several workspaces":       "the directory holds workspaces that were not imported",
	"missing in the store":     "a row of the graph file has nothing that stands for it in the store",
}

// issues gathers what goes into ImportReport.Issues.
type issues map[string]*ImportIssue

func (is issues) add(kind, file, key, detail string) {
	i := is[kind]
	if i == nil {
		i = &ImportIssue{Kind: kind}
		is[kind] = i
	}
	i.Count++
	if len(i.Examples) < maxImportExamples {
		i.Examples = append(i.Examples, ImportExample{file, excerpt(key), excerpt(detail)})
	}
}

// excerpt cuts a text for a report.
func excerpt(s string) string {
	const most = 160
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

func (is issues) sorted() []ImportIssue {
	out := make([]ImportIssue, 0, len(is))
	for _, i := range is {
		out = append(out, *i)
	}
	slices.SortFunc(out, func(a, b ImportIssue) int { return strings.Compare(a.Kind, b.Kind) })
	return out
}

// Issue returns how often a kind of inconsistency was met.
func (r *ImportReport) Issue(kind string) int {
	for i := range r.Issues {
		if r.Issues[i].Kind == kind {
			return r.Issues[i].Count
		}
	}
	return 0
}
