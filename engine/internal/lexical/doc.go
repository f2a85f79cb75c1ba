// Package lexical matches texts by their words: an Analyzer cuts texts into
// terms, QueryTerms those of a question or a keyword, and a Ranker finds the
// owners of posting lists that have the highest BM25 scores.
//
// Nothing here knows where postings are kept. Equal input gives equal results on
// every platform.
package lexical
