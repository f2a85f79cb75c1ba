// Package graphstore is the durable half of the engine: one directory that
// holds a knowledge graph, the documents and chunks it was made from, the
// float32 vectors of its owners and a cache of model answers.
//
// # What it holds
//
// Raw owners (an entity is a distinct normalised name, a relation a sorted
// pair of them) and fragments (what one record of one model answer says about
// one owner) are the truth. Everything else about an owner, its type,
// description, keywords, weight, degree and sources, is a pure function of the
// fragments that survive, taken in canonical order (document, chunk order,
// pass, index). It never depends on the order in which documents arrived, and
// deleting a document leaves what would be there had it never been seen.
//
// What people decide lies over that, by name, and fragments never move for it:
// an alias lets the raw owners of several names show as one root, an override
// lays values over derived ones, and what is created by hand is a fragment of
// document 0. So documents come and go under a curation as if it were not
// there, and undoing it leaves what would be there without it. Everything that
// readers see is of roots.
//
// # Reading
//
// Store.View returns an immutable View: it sees one commit, takes no lock and
// stays valid until it is closed, whatever is written meanwhile. Hot values
// (neighbours, degree, weight, sources, token counts, slots) are answered from
// memory without allocating; records and texts come from the view's snapshot
// of the store.
//
// # Writing
//
// One logical change is one batch, synced before it is published and published
// before it is acknowledged: a reader or a crash sees all of it or none. A
// contribution is worked out by Store.Prepare without any lock, its new texts
// are embedded by the caller, and Store.Commit makes it durable. Several may go
// in one step, so that what they have in common is written once. Commits from
// many goroutines are pipelined: they are built one after another and share
// the wait for the disk. What a commit costs depends on what it touches, never
// on the size of the store.
//
// # Terms
//
// With Options.Terms, an analyzer, the store keeps postings: in which texts to
// embed each term occurs, and how often. They follow from records and chunks,
// are changed in the same batch as these, and are read by View.Postings.
//
// # Failing
//
// After a failed write the store is ErrFailed for every later write, and goes
// on answering readers from the last published view; opening it again is the
// way out. The process is never exited, and nothing is printed.
package graphstore
