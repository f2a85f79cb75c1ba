package main

import (
	"testing"
	"time"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm"
)

func TestProgressLine(t *testing.T) {
	p := &progress{}
	p.last = engine.Progress{
		Documents: 3, DocumentsDone: 1, Chunks: 10, ChunksDone: 4, Cached: 2, Usage: llm.Usage{Calls: 6, PromptTokens: 70, CompletionTokens: 8},
		TimeLeft: 83*time.Second + 400*time.Millisecond,
	}
	if got, want := p.documents(), "1 of 3 documents "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := p.chunks(), " 4 of 10 chunks, 6 calls (2 cached), 78 tokens, about 1m20s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.next()
	p.last = engine.Progress{Documents: 1, Chunks: 1, ChunksDone: 1, Usage: llm.Usage{Calls: 1, PromptTokens: 1}, Cached: 1}
	if got, want := p.chunks(), " 5 of 11 chunks, 7 calls (3 cached), 79 tokens"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
