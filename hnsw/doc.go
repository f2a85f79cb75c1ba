// Package hnsw is an approximate nearest-neighbour index over float32 vectors under cosine similarity:
// hierarchical navigable small-world graphs (Malkov and Yashunin, arXiv 1603.09320) with lock-free readers.
//
// There are two layers.
//
// [Graph] knows dense slots 0, 1, 2, ... and nothing else. Append writes a row and makes it readable at once, AppendBatch
// many; Link, usually called from a background goroutine, wires appended rows into the graph and advances a mark; Search
// walks the graph below the mark and scans the rest exactly, so that a row is found the moment it is appended. It is
// meant for a store that owns the vectors, maps slots to its own objects and decides which slots a query may see. Codes
// and links can be saved and loaded; rows are the store's business.
//
// [Index] is for everybody else: ids of the caller's choice, upsert, delete, search, one file with everything
// in it.
//
// Rows are normalised when they are added, so a score is an inner product in [-1, 1] and larger is nearer.
// Hits are ordered by score descending, then slot ascending, and there are always min(k, eligible) of them:
// where the walk cannot promise that, or would cost more than looking at every row, an exact scan answers.
//
// # Codes
//
// Beside its row, a slot has a code: the row rotated and rounded to one byte per element, with one scale for all. From
// 64 dimensions on, for amd64 and arm64, walks compare codes, in searches and in linking: a quarter of the memory to
// read. The rows of the best are compared in the end, so that hits and their scores are exact ones. Options.Walk makes
// them compare rows instead.
//
// Scans read codes too: products of codes prove what the score of a slot is at most and at least, and rows are read only
// of slots that may be among the hits. Hits are those of a scan of all rows, bit by bit. Only where the scan of a list
// stands in for a walk (see Filters) is that not proven: then it counts on codes being off at random, by six standard
// deviations once in a billion, watches how far they are off of the rows it reads, and proves its answer where that is
// too far. A code takes 1 us to make when a row is appended; files hold them.
//
// # Filters
//
// A search can be told what it may return: slots below a bound, those of a list, those that a function accepts. All
// others are stepping stones. Of a short list every slot is looked at. Otherwise the search walks, and sees how many of
// the slots near the query it may return: if so few that the walk would cost more than a scan it leaves the rest to that,
// at the latest when it has cost as much. Whatever the filter, a search costs about twice the cheaper of the two at
// most, and returns as many as there are. SearchOptions.Exact proves the answer whatever it costs.
//
// [Iterator] and [IndexIterator] yield the nearest batch by batch, for whoever cannot tell beforehand how many it takes.
//
// # Memory
//
// Of 384 dimensions, and with M 16, a slot takes 384 bytes of codes, 128 of links, 9 of state and 4 of upper layers:
// all a walk needs but for the last step. Its row, 1,536 bytes, is read now and then.
//
// Where the system lets them (Linux and macOS, 64 bits), codes, links and rows lie in address space reserved for them, and
// grow in place. The garbage collector neither counts that memory nor runs because of it, and debug.SetMemoryLimit does not
// know of it: it is given back once the collector has found the graph unreachable, which may take minutes. Index.Close and
// Index.Compact give back at once what they leave. A process has address space for some 300 graphs of 384 dimensions; those
// made when it is used up are on the heap. Elsewhere all are; codes and links then move when they grow,
// which linking waits for and searches do not.
//
// The rows of a Graph may lie in a file (Options.RowFile), so that the system can take their memory back.
//
// # Deletion
//
// A killed slot is no hit, but a step of walks, which costs them little while there are few of them. Where most of what is
// near died, a document with all its parts, say, a search goes on as with a filter: through the dead, or by a scan. One
// that was killed before it was linked is not linked at all, and costs nothing. Graph.Consolidate takes the dead out:
// whoever named one chooses others as neighbours, from those whom the dead one named. It does so in portions, beside
// everything else. Slots of a Graph are not used again.
//
// An Index consolidates on its own, a little with every write, and does use slots again. A vector much like the one it
// replaces takes the place of that one in the graph, which costs a small part of linking it, and whose slot is mostly
// free at once; when it has drifted far from where its neighbours were looked for, it is linked properly. What is much
// replaced is found as well as what is not.
//
// # Concurrency
//
// Any number of searches run beside one Append, one Link and one Consolidate. Searches take no lock, and allocate nothing
// once warm; those of an Index allocate what they return and, given a list of ids, take a lock for as long as it takes to
// look the ids up. Every search notes when it begins and ends, in a few ns: what it may see is not overwritten before it
// has ended, so that a search that never ends keeps memory from being used again. A search of an Index sees the ids and
// vectors of the moment it began, all changes of a batch or none.
//
// Rows never move. A neighbour list is changed in place, word by word, with atomic stores, in an order
// that keeps every word a reader may see a linked slot; a reader that meets a list halfway sees old and new
// neighbours mixed, which is as good as either.
//
// # Files
//
// A file is an image of memory (format/FORMAT.md, "Index files"), so that [Open] maps it rather than reading it:
// 100,000 vectors of 384 dimensions answer the first query some milliseconds later, from the page cache, and nothing is
// built. Of what has been mapped, a list of neighbours is verified before it is walked, a row before it is scored, and
// codes, which only say what rows are worth scoring, by and by; damage is an error that names file and offset, never a
// wrong score. Pages are private copies once written to: the file stays as it was until SaveFile replaces it or
// SaveChanges adds to it.
//
// Changes live in memory. Nothing is durable until SaveFile or SaveChanges has returned, or Save and the caller's own
// sync of the file. The package starts no goroutine that outlives a call.
package hnsw
