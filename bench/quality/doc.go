// Command quality measures what retrieval finds, against gold and without a
// judge, and prints one row a figure.
//
//	go run ./bench/quality [--quick] [--json]
//
// Questions of several hops: 100 of MuSiQue (Trivedi et al., TACL 2022) over
// 1,890 passages, of which 237 are gold, from the recorded data in
// $LIGHTRAG_SHARED. The passages are indexed twice: with what a language model
// was recorded to extract from them, and with the offline extractor; each passage
// is one document of one chunk. Every mode ranks passages, beside a plain BM25
// that shares no code with the engine. Package eval says what recall, all-gold
// and the intervals are.
//
// Embedder: 40 pairs of paraphrases, from the recorded data, and the questions of
// perl's FAQ with their answers, where perl-doc is installed
// (apt-get install perl-doc). A question's answer is ranked among all answers by
// the embedder alone, by BM25, and by the engine, in which the answers are passages
// without a graph.
//
// Walk is measured with other settings too, one changed at a time, all that were
// tried with the engine; TRIED.md has what was tried before it was built.
//
// The goals are part of the rows: they are those of walk, as it is and matching
// by words, with the recorded extraction. Rows whose data is missing say so. All of it takes about a
// minute on two cores; --quick changes nothing but the notes.
package main
