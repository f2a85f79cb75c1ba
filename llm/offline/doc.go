// Package offline is the pair of models that needs no key and no network: a
// Completer that answers the engine's five tasks by rules, and an Embedder of
// word vectors and hashed n-grams. With it the whole product runs, tests and
// demonstrates itself on an aeroplane.
//
// It is weaker than a language model, and it is meant to be seen as such: its
// model names begin with "offline-" and appear wherever a model is named.
//
// # What it can do
//
//   - Extract: names in Latin scripts (with connectors, initials, trailing
//     numbers), acronyms with their long forms, identifiers (paths, host names,
//     CamelCase, snake_case), and noun phrases of up to four words, (adjective |
//     noun)* noun, by a part-of-speech lexicon of English that is made of WordNet
//     (internal/poslex); in Chinese, Japanese and Korean quoted names, words with a telling
//     suffix, subjects of sentences and repeated terms, in Chinese repeated n-grams
//     whose neighbours vary. Types come from evidence
//     in the text (titles, heads, appositions, "in X") and from names that the
//     lexicon knows. Relations are names and terms that share a sentence, the
//     closer and the more often the better, with the verbs between them as
//     keywords; terms must share two. Their weight is n x PMI: how often two meet, times how much more
//     often than two strangers would, between 0.25 and 10. Descriptions are
//     sentences of the text, verbatim. A text gives at most 40 entities,
//     and one relation for 85 bytes; manuals and novels come to 4,000 to 7,000 of both per MB,
//     and collections of short passages that are full of names to 17,000.
//   - Keywords: names and nouns to the low level, themes, verbs and abstract
//     nouns to the high level.
//   - Summary: the most informative distinct sentences that fit.
//   - Answer: one to five sentences of the passages, cited. It follows a name
//     from one passage into another, so that a question whose answer lies in two
//     documents is answered from both.
//   - Embed: texts that share words, word parts or characters are near, and so are
//     English texts that say the same in other words, by vectors of 35,000 words
//     that were learned from WordNet and two manuals (internal/wordvec).
//
// # What it cannot do
//
// It does not understand. It never rephrases, infers, counts or compares; it
// resolves a pronoun only to the subject of the sentence before; it does not
// translate, so that a question finds only passages of its own language and
// names written alike; synonyms are strangers to it in every language but
// English, and the order of words means nothing to it; it cannot see a relation
// that is spread over two sentences; its word classes are those of English, so
// that noun phrases of other languages in an alphabet are guesses; and segmentation of Chinese is by a
// small list of function words. Gleaning finds nothing more, and chatting is
// refused with an honest sentence. For real work configure a language model.
//
// # Guarantees
//
// Equal requests give equal bytes, and equal texts equal vectors on every
// platform. Values are immutable, and
// all methods are safe for concurrent use. Time and memory are linear in the
// input whatever it holds; extraction reads at most the first 1 MiB of a chunk.
// Nothing panics on any input. Word lists are this package's own, but for the
// lexicon and the word vectors: NOTICE names the works that these were made from.
package offline
