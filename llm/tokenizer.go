package llm

// Tokenizer counts and cuts text in the units a model is budgeted in.
// Implementations are safe for concurrent use and accept any string.
type Tokenizer interface {
	// Name is the name a store records at creation: o200k, cl100k, chars4.
	Name() string
	// Count returns the number of tokens of s.
	Count(s string) int
	// Cut returns the longest prefix of s that has at most max tokens and
	// ends on a rune boundary.
	Cut(s string, max int) string
	// Windows splits s into windows of size tokens, each starting size-overlap
	// tokens after the one before; the last may be shorter. 0 <= overlap < size.
	Windows(s string, size, overlap int) []Window
}

// Window is one slice of a tokenised text.
type Window struct {
	Text   string // decoded, valid UTF-8, not trimmed
	Tokens int
}
