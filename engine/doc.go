// Package engine is an embedded graph-RAG engine: it turns documents into a
// knowledge graph with the help of a language model, keeps graph, vectors and
// passages in one directory, and answers questions from them in the way of
// LightRAG (arXiv 2410.05779): keywords of two levels are matched against
// entities and relations, the matches are expanded by one hop, and their
// values and source passages are given to the model.
//
// # Use
//
//	db, err := engine.Open("knowledge.db", engine.Options{})
//	defer db.Close()
//	report, err := db.Insert(ctx, engine.Document{Path: "a.md", Text: text})
//	answer, err := db.Query(ctx, engine.Query{Text: "Who founded the observatory?"})
//
// The zero Options use the offline pair of package llm/offline: no key, no
// network, weaker extraction and extractive answers. With a
// [llm.Completer] and an [llm.Embedder] the same calls use a real model.
//
// ImportLightRAG takes over what LightRAG or nano-graphrag has stored, and
// ImportKG a graph made by hand.
//
// # Matching
//
// Keywords and questions find entities, relations and passages by vectors and by
// words, BM25 over postings that the store keeps. The best of both are ranked by
// the part of the words' weight that their text has plus a quarter of their cosine
// (a convex combination of bounded scores, Bruch et al. 2023), and an entity that a
// low-level keyword names, but for case, width and punctuation, comes before all
// others. Query.Match asks for one of the two instead: [MatchVectors] is LightRAG's way, and
// [MatchLexical] embeds nothing. An embedder that cannot be reached costs a
// question its vectors and not its answer: Result.Warnings then says so.
//
// The keywords of a question come from the model, unless Options.Keywords or
// Query.Keywords let the store find them: [KeywordsByWords] takes the entities that the
// question names and the words that relations speak of, so that retrieval calls
// no model at all; [KeywordsAuto] asks the model where that is not sure.
//
// # Modes
//
// Naive, Local, Global, Hybrid and Mix retrieve as LightRAG does. [Walk] starts from
// the facts, entities and passages that match the question best and spreads over
// the graph from there (personalised PageRank): it finds the passages of a question
// that takes several facts, of which the question names only the first, and asks no
// model for keywords.
//
// # Filters
//
// Query.Documents and Query.EntityTypes apply before anything is ranked: an
// owner that they exclude is not found, and takes no place of another one. A
// query that is limited to documents shows no word of any other document, in
// descriptions, keywords and references too. What a filter lets through is
// worked out once for each commit and kept for the next questions with the same
// filter.
//
// # Budgets
//
// What a question shows the model is cut to token budgets, and these to the
// model's context window: of what it holds, a quarter but at most 2048 tokens
// stay free for the answer, and history, question and prompt come before
// entities, relations and passages, which keep their proportions. Where
// Options.ContextWindow does not say the window, the refusal of a server does:
// the context is made again within it, once, and the DB remembers it. Cached
// answers are found by the very prompt, context included: they cannot be stale.
//
// Options.Reranker orders all passages that were found, before ChunkTopK and
// the budget cut them. Query.Explain tells what each stage found and cut.
//
// # Durability
//
// When Insert reports a document as processed, its graph, vectors and passages
// are on disk, in one atomic commit. Every finished model call is cached on
// disk before it is used, so that a crash at any point resumes without paying
// for it again. A document that was accepted but not finished is taken up by
// the next Insert or Resume.
//
// # Long runs
//
// Documents that are ready at the same time are committed in one step. What a
// document says about an owner that exists changes its description, keywords
// and postings with the document; its vector, and a summary of many descriptions,
// are made anew when half of the store has come since that was last done, and at
// the end of the call. [DB.InsertPart] is Insert for all calls but the last of a
// run. What waits is marked in the store: if a run does not come to its end, the
// next Insert, Resume or Refresh makes it good.
//
// # Updates
//
// A Document with Replace takes the place of the text under its ID in one
// commit. Chunks whose text stays the same are not extracted again, and with
// [ByParagraphs] a small edit leaves all but three as they were. A chunk whose
// answer was unusable is kept apart ([ChunkFailure]); Retry asks for it alone.
// What a call would cost is known before it is made ([Estimator]), and what it
// did cost after ([DocumentInfo], [DB.Ledger], [DB.QueryCosts]).
//
// The embedder of a store is changed by [DB.ReEmbed], atomically.
//
// # Curation
//
// CreateEntity, EditEntity, RenameEntity, MergeEntities, DeleteEntities and
// their like for relations change what the graph shows, each in one atomic
// change that [DB.Changes] lists and, but for a deletion, [DB.Undo] takes back.
// They lie over what documents say, and stay when documents come and go.
// [DB.Duplicates] suggests what may be one entity, and Options.ResolveEntities
// merges what differs in spelling alone.
//
// # Concurrency
//
// Every method of DB is safe for concurrent use. Readers never wait: Retrieve,
// Query and View work on an immutable view, loaded through one atomic pointer,
// and see all of a document or none of it. A cancelled context leaves nothing
// half done.
//
// # Export and import
//
// The Export methods of View write the graph for other programs and for people.
// ExportFull writes all of a store, and ImportJSONL makes an equal store of
// that.
//
// # Errors
//
// Errors can be tested with errors.Is against the sentinels of this package.
// The library never exits the process, never panics on input or I/O, never
// prints and never reads the environment.
package engine
