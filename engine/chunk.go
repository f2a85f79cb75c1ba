package engine

import (
	"strings"

	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// cutText cuts a text the way the options say.
func cutText(tok llm.Tokenizer, text string, o *Options) []graphstore.NewChunk {
	if o.ChunkBy == ByParagraphs {
		return chunkParagraphs(tok, text, o.ChunkTokens)
	}
	return chunkText(tok, text, o.ChunkTokens, o.ChunkOverlap)
}

// chunkText cuts text into windows of size tokens that share overlap tokens
// with their neighbour, trims them and drops the blank ones.
func chunkText(tok llm.Tokenizer, text string, size, overlap int) []graphstore.NewChunk {
	windows := tok.Windows(text, size, overlap)
	chunks := make([]graphstore.NewChunk, 0, len(windows))
	for _, w := range windows {
		content := strings.TrimSpace(w.Text)
		if content == "" {
			continue
		}
		chunks = append(chunks, graphstore.NewChunk{
			Order:  uint32(len(chunks)),
			Text:   content,
			Tokens: uint32(w.Tokens),
		})
	}
	return chunks
}
