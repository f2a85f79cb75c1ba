// Package eval measures retrieval against gold, without a judge: it puts
// questions to a retriever and counts which of the documents that are known to
// hold the answer it ranks first.
//
// # Use
//
//	var set eval.Set
//	err := set.Read("questions.jsonl", file)
//	outcomes, err := eval.Measure(ctx, set.Questions, 20, eval.Retriever(db, engine.Query{Mode: engine.Mix}))
//	fmt.Println(outcomes.Recall(10).Interval())
//
// # Format
//
// A set is lines of JSON objects, in one file or in several. Fields that are not
// named here are ignored, as are blank lines.
//
//	{"id": "a1", "title": "Mount Wilson", "text": "The telescope was paid for by ..."}
//	{"question": "Who paid for the telescope on Mount Wilson?", "gold": ["a1"]}
//
// A line with a question is a question: gold names the documents that a perfect
// retriever ranks before all others, at least one. Any other line is a document
// of the corpus: id and text must be there, title may be. The corpus may be left
// out where the documents are in a store already; gold then names them by the ids
// that they have there.
//
// # Measures
//
// Recall@k is the share of a question's gold documents among the first k,
// all-gold@k is 1 if all of them are, the reciprocal rank is 1/r for the first of
// them at rank r and 0 if none was found. Each is a value per question; means
// come with 95 % intervals of the percentile bootstrap (Efron and Tibshirani, An
// Introduction to the Bootstrap, 1993, chapter 13) over the questions. Two
// retrievers are compared by the interval of their differences question by
// question, which is much narrower than what the two intervals suggest.
//
// Equal outcomes give equal figures, on every platform.
package eval
