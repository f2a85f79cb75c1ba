// Package llm is what the engine knows about language models: two small
// interfaces, the clients and tokenizers behind them, the prompts, and the
// parsers of the answers.
//
// # The parts
//
//   - [Completer] answers a [Request]; [OpenAI] is one for every server that
//     speaks the chat API of OpenAI (OpenAI, Ollama, vLLM, llama.cpp, and the
//     hosted gateways).
//   - [Embedder] turns texts into vectors; [OpenAIEmbedder] is its counterpart
//     for the embeddings API. It checks every vector before it lets it through.
//   - [Limiter] is the one place where calls wait: a number of calls at a time,
//     requests and tokens per minute, and questions ahead of summaries ahead of
//     extraction. Two clients may share one.
//   - [Ledger] and [Metered] count what was spent, per [Task].
//   - [Tokenizer] counts and cuts text in tokens; [NewTokenizer] names three.
//
// The sub-package offline answers without a model, and llmtest is a scripted
// server for tests.
//
// # Failure
//
// A call is tried again after a back-off when that can help: a rate limit, a
// timeout, a broken connection, a server error, an answer without content. It
// is not when it cannot: a wrong key, a malformed request, a text that is too
// long. Errors are errors.Is-able with the sentinels of this package; a
// [StatusError] holds what the server said. No error, log line or identifier
// holds a key, even when the server echoes it.
//
// # Lifetime and concurrency
//
// Everything here is safe for concurrent use. Clients own no goroutines while
// idle except those of their connection pool, which Close ends. Nothing reads
// the environment: proxies and certificates come with an http.Client.
package llm
