package llm

// Tokenizer counts and cuts text in the units a model is budgeted in.
// Implementations are safe for concurrent use and accept any string.
type Tokenizer interface {
	// Name is the name a store records at creation: o200k, cl100k, chars4.
	Name() string
	// Count returns the number of tokens of s.
	Count(s string) int
	// Cut returns s if it has at most max tokens, else the prefix that its first
	// max tokens spell, cut back to a rune boundary. Count of the result is at
	// most max.
	Cut(s string, max int) string
	// Windows splits s into windows of size tokens, each starting size-overlap
	// tokens after the one before, as long as a window begins before the end of s:
	// the last may be shorter and may lie inside the one before. Where a window
	// edge falls inside a character, the character belongs to the later window,
	// so that without overlap the texts joined are s. Bytes that are no UTF-8 come
	// out as U+FFFD. 0 <= overlap < size; other values are moved into that range,
	// and a size below 1 has no windows. Texts are slices of s where that is valid.
	Windows(s string, size, overlap int) []Window
}

// Window is one slice of a tokenised text.
type Window struct {
	Text   string // decoded, valid UTF-8, not trimmed
	Tokens int
}
