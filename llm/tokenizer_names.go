package llm

import (
	"fmt"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// The names that NewTokenizer knows.
const (
	TokenizerO200k  = "o200k"  // GPT-4o and later
	TokenizerCl100k = "cl100k" // GPT-4, GPT-3.5, text-embedding-3
	TokenizerChars4 = "chars4" // four code points; no vocabulary, no start-up time
)

// NewTokenizer returns the tokenizer of that name, or ErrInvalid. The vocabulary
// of a real one (some 20 MB of memory, 10 to 70 ms) is loaded at its first use, and
// put into a table (10 MB more, 30 to 60 ms) when it has been used for 256 KB of text.
func NewTokenizer(name string) (Tokenizer, error) {
	switch name {
	case TokenizerO200k:
		return newBPE(name, tokenizer.O200kBase, splitO200k), nil
	case TokenizerCl100k:
		return newBPE(name, tokenizer.Cl100kBase, splitCl100k), nil
	case TokenizerChars4:
		return chars4{}, nil
	}
	return nil, fmt.Errorf("llm: tokenizer %q: %w: known are %s, %s, %s",
		name, ErrInvalid, TokenizerO200k, TokenizerCl100k, TokenizerChars4)
}

// span is a window in tokens, [from, to).
type span struct{ from, to int }

// spans lays windows over total tokens; see Tokenizer.Windows.
func spans(total, size, overlap int) []span {
	if total <= 0 || size < 1 {
		return nil
	}
	step := size - min(max(overlap, 0), size-1)
	out := make([]span, 0, (total-1)/step+1)
	for from := 0; from < total; from += step {
		out = append(out, span{from, from + min(size, total-from)})
	}
	return out
}

// validUTF8 replaces every byte that is no UTF-8 by U+FFFD, one for one, so that
// the runes of the result are those of range s.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// runePrefix returns the prefix of s that holds n runes.
func runePrefix(s string, n int) string {
	if n <= 0 {
		return ""
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
