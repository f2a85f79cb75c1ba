package llm

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lightctl/lightrag/llm/llmtest"
)

func TestTheContextWindowIsReadFromTheRefusal(t *testing.T) {
	quoted := func(message string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, message)
	}
	for _, tt := range []struct {
		name           string
		status         int
		body           string
		window, prompt int
	}{
		{"OpenAI", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, 8192, 9001},
		{"OpenAI with a completion", 400, quoted("This model's maximum context length is 4097 tokens. However, you requested 5360 tokens (4360 in the messages, 1000 in the completion)."), 4097, 4360},
		{"vLLM", 400, quoted("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages, Please reduce the length of the messages."), 4096, 5000},
		{"vLLM, another", 400, `{"object":"error","message":"The decoder prompt (length 5005) is longer than the maximum model length of 4096. Make sure that ...","type":"BadRequestError","code":400}`, 4096, 5005},
		{"llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":6021,"n_ctx":4096}}`, 4096, 6021},
		{"llama.cpp, later", 400, quoted("request (6021 tokens) exceeds the available context size (4096 tokens), try increasing it"), 4096, 6021},
		{"Ollama", 500, `{"error":"the input length exceeds the context length"}`, 0, 0},
		{"Ollama with numbers", 400, quoted("prompt is too long: 9000 tokens, context window is 8192"), 8192, 9000},
		{"Anthropic", 400, quoted("prompt is too long: 209012 tokens > 200000 maximum"), 200000, 209012},
		{"Mistral", 400, `{"object":"error","message":"Prompt contains 40563 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt","code":"3051"}`, 32768, 40563},
		{"TGI", 422, "{\"error\":\"Input validation error: `inputs` must have less than 4096 tokens. Given: 5120\"}", 4096, 5120},
		{"Gemini", 400, quoted("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."), 1048576, 1200000},
		{"SGLang", 400, quoted("The input (5000 tokens) is longer than the model's context length (4096 tokens)."), 4096, 5000},
		{"LM Studio", 400, quoted("Trying to keep the first 5200 tokens when context overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."), 4096, 5200},
		{"no numbers", 413, quoted("Please reduce the length of the messages or completion."), 0, 0},
		{"a number of something else", 400, quoted("maximum context length is 7 tokens"), 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := llmtest.NewServer(t, func(llmtest.ChatRequest) llmtest.ChatReply {
				return llmtest.ChatReply{Status: tt.status, Body: tt.body}
			})
			c, err := NewOpenAI(OpenAIOptions{BaseURL: srv.URL, Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = c.Complete(t.Context(), Request{Task: TaskAnswer, Messages: []Message{{RoleUser, "long"}}})
			if !errors.Is(err, ErrContextLength) || len(srv.Chats()) != 1 {
				t.Fatalf("%d calls: %v", len(srv.Chats()), err)
			}
			window, prompt, ok := ContextWindow(err)
			if window != tt.window || prompt != tt.prompt || ok != (tt.window > 0) {
				t.Errorf("%v: window %d, prompt %d, %v", err, window, prompt, ok)
			}
		})
	}
	for _, err := range []error{nil, errors.New("maximum context length is 8192 tokens"), &StatusError{Status: 429, Message: "context window 8192"}} {
		if w, _, ok := ContextWindow(err); ok || w != 0 {
			t.Errorf("%v: window %d", err, w)
		}
	}
}
