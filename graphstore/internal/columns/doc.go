// Package columns holds the in-memory half of a store view: everything that a
// query needs about an entity, a relation or a chunk without asking the disk
// (neighbours, degree, weight, tokens, sources, mentions, vector slot).
//
// A *Columns is one immutable version. One writer makes the next version with
// Edit ... Done; any number of readers use any number of versions at the same
// time without locks. A version lives as long as somebody holds it; the garbage
// collector is the only reclaimer.
//
// # Layout
//
// Fixed-size rows live in pages of 32 rows behind a two-level table. An edit
// copies the page of each row it touches, the table node above it, and nothing
// else, so that the cost of a version is the number of touched rows, not the
// size of the store. Small pages win because touched ids are scattered: the
// bytes copied are pages times page size [a version of 160 touched owners at
// 100k entities, CPU: 0.08-0.11 ms for rows alone, 0.15-0.18 with 64 rows].
//
// Data of variable length (neighbour pairs, source lists, mentions, names) lives in
// arenas: lists of chunks without pointers that all versions share and only the
// newest appends to. Pages hold spans into them. A version reads only what was
// written before it was made, which is why no copy and no lock is needed. The
// one kind of write next to published data is the tail of a source list that
// was stored with room to grow; older versions hold a shorter length.
//
// A list that changes otherwise is written anew and the old one becomes
// garbage. When the garbage of an arena exceeds its live part plus 1 MiB, Done
// copies the live part to a fresh arena; older versions keep the old one. That
// Done costs time in proportion to the store, once per as many bytes of edits.
//
// # Branches
//
// Versions form a chain and Edit belongs on the newest one. Edit on a version
// that has a successor, or whose Builder is neither done nor discarded, is
// correct all the same but starts with a full copy of the arenas.
//
// # Ids
//
// Ids need not be dense. Document ids start at 1: DocID 0 as the sole document
// of an owner means "several documents". An id that is unknown or was dropped
// reads as zero values everywhere.
package columns
