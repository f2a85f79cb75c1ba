// Package llmtest is a scripted server that speaks the chat and embeddings API
// of OpenAI, for tests of what talks to a model.
//
// In a test, [NewServer] starts one and closes it at the end:
//
//	srv := llmtest.NewServer(t, func(r llmtest.ChatRequest) llmtest.ChatReply {
//		return llmtest.ChatReply{Text: "the answer to " + r.User()}
//	})
//	client, err := llm.NewOpenAI(llm.OpenAIOptions{BaseURL: srv.URL, Model: "test"})
//
// In a program of its own, [New] returns a [Fake] whose Handler serves the same.
//
// A reply may be a text, a status with a body, a stream in given pieces, a
// stream or connection that breaks off, or one that is late. Without a script
// the chat method echoes the last user message and the embeddings method returns
// vectors that are a function of the text. All requests are recorded. Everything
// is safe for concurrent use.
package llmtest
