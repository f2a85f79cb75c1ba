package llm

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lightctl/lightrag/llm/llmtest"
)

func TestCompleteReturnsTextAndUsage(t *testing.T) {
	c, srv := newChat(t, llmtest.Sequence(llmtest.ChatReply{
		Text: "42", Usage: &llmtest.Usage{Prompt: 10, Cached: 4, Completion: 2},
	}))
	resp, err := complete(t, c, Request{Task: TaskAnswer, MaxTokens: 7, Messages: []Message{
		{RoleSystem, "be short"}, {RoleAssistant, ""}, {RoleUser, "why?"},
	}})
	want := Response{Text: "42", Usage: Usage{Calls: 1, PromptTokens: 10, CachedTokens: 4, CompletionTokens: 2}}
	if err != nil || resp != want {
		t.Fatalf("got %+v, %v", resp, err)
	}
	r := srv.Chats()[0]
	if r.Path != "/v1/chat/completions" || r.Model != "test-model" || r.MaxTokens != 7 || r.JSON() || r.Stream {
		t.Errorf("request %+v", r)
	}
	if len(r.Messages) != 2 || r.System() != "be short" || r.User() != "why?" {
		t.Errorf("messages %+v: one without content must not be sent", r.Messages)
	}
	if got := r.Header.Get("Authorization"); got != "Bearer "+testKey {
		t.Errorf("Authorization %q", got)
	}
}

func TestTemperatureZeroIsSentAsZero(t *testing.T) {
	c, srv := newChat(t, nil)
	text := `say "temperature":1e-45 back`
	resp, err := complete(t, c, ask(text))
	if err != nil || resp.Text != text {
		t.Fatalf("got %q, %v", resp.Text, err)
	}
	r := srv.Chats()[0]
	if r.Temperature == nil || *r.Temperature != 0 || !bytes.Contains(r.Raw, []byte(`"temperature":0,`)) {
		t.Errorf("sent %s", r.Raw)
	}
	warm, srv := newChat(t, nil, func(o *OpenAIOptions) { o.Temperature = 0.5 })
	if _, err := complete(t, warm, ask("x")); err != nil || *srv.Chats()[0].Temperature != 0.5 {
		t.Errorf("0.5 was sent as %s, %v", srv.Chats()[0].Raw, err)
	}
}

func TestReasoningModelsGetTheirOwnFields(t *testing.T) {
	for _, model := range []string{"o1", "o3-mini", "o4-mini", "gpt-5", "gpt-5-mini", "gpt-6-sol"} {
		c, srv := newChat(t, nil, func(o *OpenAIOptions) { o.Model, o.MaxTokens, o.Temperature = model, 99, 0.3 })
		if _, err := complete(t, c, ask("x")); err != nil {
			t.Fatalf("%s: %v", model, err)
		}
		if r := srv.Chats()[0]; r.Temperature != nil || r.MaxTokens != 0 || r.MaxCompletionTokens != 99 {
			t.Errorf("%s: sent %s", model, r.Raw)
		}
	}
}

func TestRefusedFieldIsLeftOutAndRemembered(t *testing.T) {
	refusal := func(text string) llmtest.ChatReply {
		return llmtest.ChatReply{Status: 400, Body: `{"error":{"message":"` + text + `","type":"invalid_request_error"}}`}
	}
	for name, tc := range map[string]struct {
		has     func(llmtest.ChatRequest) bool
		refusal string
		stream  bool
	}{
		"response_format": {llmtest.ChatRequest.JSON, "response_format is not supported", false},
		"temperature": {func(r llmtest.ChatRequest) bool { return r.Temperature != nil },
			"Unsupported value: 'temperature' does not support 0 with this model.", false},
		"max_tokens": {func(r llmtest.ChatRequest) bool { return r.MaxTokens > 0 },
			"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", false},
		"stream_options": {func(r llmtest.ChatRequest) bool { return r.StreamOptions != nil },
			"unknown field stream_options", true},
	} {
		t.Run(name, func(t *testing.T) {
			c, srv := newChat(t, func(r llmtest.ChatRequest) llmtest.ChatReply {
				if tc.has(r) {
					return refusal(tc.refusal)
				}
				return llmtest.ChatReply{Text: "{}"}
			})
			for range 2 {
				req := ask("json please")
				req.JSON, req.MaxTokens = true, 5
				if tc.stream {
					req, _ = streaming(req)
				}
				if resp, err := complete(t, c, req); err != nil || resp.Text != "{}" {
					t.Fatalf("got %q, %v", resp.Text, err)
				}
			}
			if n := len(srv.Chats()); n != 3 {
				t.Errorf("%d requests, want 3: the refusal is paid once", n)
			}
		})
	}
	t.Run("not again", func(t *testing.T) {
		c, srv := newChat(t, llmtest.Sequence(refusal("response_format again")))
		req := ask("x")
		req.JSON = true
		if _, err := complete(t, c, req); !errors.Is(err, ErrInvalid) || len(srv.Chats()) != 2 {
			t.Errorf("%v after %d requests, want ErrInvalid after 2", err, len(srv.Chats()))
		}
	})
	t.Run("JSON wanted in the prompt", func(t *testing.T) {
		c, srv := newChat(t, func(r llmtest.ChatRequest) llmtest.ChatReply {
			if r.JSON() && !strings.Contains(r.User(), "json") {
				return refusal("messages must contain the word json to use response_format")
			}
			return llmtest.ChatReply{Text: "{}"}
		})
		for _, text := range []string{"x", "json"} {
			req := ask(text)
			req.JSON = true
			if _, err := complete(t, c, req); err != nil {
				t.Fatal(err)
			}
		}
		if r := srv.Chats(); len(r) != 3 || !r[2].JSON() {
			t.Error("JSON mode was given up for good")
		}
	})
}

// A failure and what becomes of it: the sentinel, how many requests were made,
// and words that the message holds.
func TestFailures(t *testing.T) {
	ollama := `{"error":"model 'nope' not found"}`
	for name, tc := range map[string]struct {
		reply    llmtest.ChatReply
		is       error
		requests int
		says     string
	}{
		"401":                      {llmtest.ChatReply{Status: 401}, ErrAuth, 1, "401"},
		"402":                      {llmtest.ChatReply{Status: 402}, ErrAuth, 1, ""},
		"403":                      {llmtest.ChatReply{Status: 403}, ErrAuth, 1, ""},
		"400":                      {llmtest.ChatReply{Status: 400}, ErrInvalid, 1, "Bad Request"},
		"404 with a string":        {llmtest.ChatReply{Status: 404, Body: ollama}, ErrInvalid, 1, "HTTP 404 Not Found: model 'nope' not found"},
		"422 with detail":          {llmtest.ChatReply{Status: 422, Body: `{"detail":[{"msg":"field required"}]}`}, ErrInvalid, 1, "field required"},
		"408":                      {llmtest.ChatReply{Status: 408}, ErrUnavailable, 3, "after 3 attempts"},
		"429":                      {llmtest.ChatReply{Status: 429}, ErrRateLimited, 3, ""},
		"429 without money":        {llmtest.ChatReply{Status: 429, Body: `{"error":{"message":"pay","code":"insufficient_quota"}}`}, ErrRateLimited, 1, "pay"},
		"429, come back tomorrow":  {llmtest.ChatReply{Status: 429, RetryAfter: "86400"}, ErrRateLimited, 1, ""},
		"500":                      {llmtest.ChatReply{Status: 500}, ErrUnavailable, 3, ""},
		"502 in HTML":              {llmtest.ChatReply{Status: 502, Body: "<html>\n<b>oops</b>", ContentType: "text/html"}, ErrUnavailable, 3, "<html> <b>oops</b>"},
		"529":                      {llmtest.ChatReply{Status: 529}, ErrUnavailable, 3, ""},
		"context by code":          {llmtest.ChatReply{Status: 400, Body: `{"error":{"message":"no","code":"context_length_exceeded"}}`}, ErrContextLength, 1, ""},
		"context by words":         {llmtest.ChatReply{Status: 400, Body: `{"object":"error","message":"This model's maximum context length is 4096 tokens"}`}, ErrContextLength, 1, "4096"},
		"413":                      {llmtest.ChatReply{Status: 413}, ErrContextLength, 1, ""},
		"200 with an error":        {llmtest.ChatReply{Body: `{"error":{"message":"overloaded","type":"server_error"}}`}, ErrBadResponse, 3, "overloaded"},
		"200 with an error string": {llmtest.ChatReply{Body: `{"error":"boom"}`}, ErrBadResponse, 3, "boom"},
		"200 with a 401 inside":    {llmtest.ChatReply{Body: `{"error":{"message":"bad key","code":401}}`}, ErrAuth, 1, "bad key"},
		"200 with a 503 inside":    {llmtest.ChatReply{Body: `{"error":{"message":"later","code":503}}`}, ErrUnavailable, 3, "503"},
		"no choices":               {llmtest.ChatReply{Body: `{"id":"x","choices":[]}`}, ErrBadResponse, 3, "no choices"},
		"null choices":             {llmtest.ChatReply{Body: `{"id":"x","choices":null,"error":null}`}, ErrBadResponse, 3, "no choices"},
		"not JSON":                 {llmtest.ChatReply{Body: "hello"}, ErrBadResponse, 3, "not JSON: hello"},
		"JSON of another kind":     {llmtest.ChatReply{Body: `{"choices":"many"}`}, ErrBadResponse, 3, ""},
		"half a body":              {llmtest.ChatReply{Text: "abcdefghijkl", Cut: true}, ErrUnavailable, 3, ""},
		"empty answer":             {llmtest.ChatReply{Text: ""}, ErrBadResponse, 3, "no text"},
		"blank answer":             {llmtest.ChatReply{Text: " \n"}, ErrBadResponse, 3, "no text"},
		"only reasoning":           {llmtest.ChatReply{Text: "<think>hm</think>\n"}, ErrBadResponse, 3, "no text"},
		"truncated in reasoning":   {llmtest.ChatReply{Text: "<think>hm and", FinishReason: "length"}, ErrTruncated, 1, ""},
		"truncated before a word":  {llmtest.ChatReply{FinishReason: "length"}, ErrTruncated, 1, ""},
		"refused":                  {llmtest.ChatReply{Refuse: "I cannot"}, ErrRefused, 1, "I cannot"},
		"filtered":                 {llmtest.ChatReply{FinishReason: "content_filter"}, ErrRefused, 1, ""},
		"redirected":               {llmtest.ChatReply{Status: 307, Header: map[string][]string{"Location": {"http://elsewhere/v1"}}, Body: "{}"}, ErrInvalid, 1, "http://elsewhere/v1"},
	} {
		for _, stream := range []bool{false, true} {
			if stream && name == "half a body" {
				continue
			}
			t.Run(name+map[bool]string{true: " streamed"}[stream], func(t *testing.T) {
				c, srv := newChat(t, llmtest.Sequence(tc.reply))
				req := ask("x")
				var got *[]string
				if stream {
					req, got = streaming(req)
				}
				_, err := complete(t, c, req)
				if !errors.Is(err, tc.is) {
					t.Fatalf("error %v, want %v", err, tc.is)
				}
				if n := len(srv.Chats()); n != tc.requests {
					t.Errorf("%d requests, want %d", n, tc.requests)
				}
				if !strings.Contains(err.Error(), tc.says) || !strings.HasPrefix(err.Error(), "llm: complete test-model@127.0.0.1:") {
					t.Errorf("message %q, want in it %q", err, tc.says)
				}
				if stream && strings.TrimSpace(strings.Join(*got, "")) != "" {
					t.Errorf("delivered %q", *got)
				}
			})
		}
	}
}

func TestFailureThenSuccess(t *testing.T) {
	for name, bad := range map[string]llmtest.ChatReply{
		"429":        {Status: 429, RetryAfter: "0.01"},
		"no choices": {Body: `{"choices":[],"usage":{"prompt_tokens":5}}`},
		"half":       {Text: "abcdefghijkl", Cut: true},
	} {
		c, srv := newChat(t, llmtest.Sequence(bad, llmtest.ChatReply{Text: "ok", Usage: &llmtest.Usage{Prompt: 1}}))
		resp, err := complete(t, c, ask("x"))
		if err != nil || resp.Text != "ok" || len(srv.Chats()) != 2 {
			t.Errorf("%s: %+v, %v after %d requests", name, resp, err, len(srv.Chats()))
		}
		if name == "no choices" && (resp.Usage.PromptTokens != 6 || resp.Usage.Calls != 2) {
			t.Errorf("usage %+v: what the bad answer cost must be counted", resp.Usage)
		}
	}
}

func TestTruncatedAnswerIsFlagged(t *testing.T) {
	for _, reason := range []string{"length", "content_filter"} {
		c, _ := newChat(t, llmtest.Sequence(llmtest.ChatReply{Text: "half a", FinishReason: reason}))
		req, got := streaming(ask("x"))
		for _, r := range []Request{ask("x"), req} {
			if resp, err := complete(t, c, r); err != nil || !resp.Truncated || resp.Text != "half a" {
				t.Errorf("%s: %+v, %v", reason, resp, err)
			}
		}
		if strings.Join(*got, "") != "half a" {
			t.Errorf("delivered %q", *got)
		}
	}
	c, _ := newChat(t, nil)
	if resp, err := complete(t, c, ask("x")); err != nil || resp.Truncated {
		t.Errorf("an answer that ended by itself: %+v, %v", resp, err)
	}
}

func TestReasoningIsRemoved(t *testing.T) {
	for _, text := range []string{"<think>let me\nsee</think>\n\nyes", "\n<think></think>yes", "let me see</think> yes"} {
		c, _ := newChat(t, llmtest.Sequence(llmtest.ChatReply{Text: text}))
		req, got := streaming(ask("x"))
		for _, r := range []Request{req, ask("x"), req} {
			if resp, err := complete(t, c, r); err != nil || resp.Text != "yes" {
				t.Errorf("%q: %+v, %v", text, resp, err)
			}
		}
		if strings.Join(*got, "") != "yesyes" {
			t.Errorf("%q: delivered %q", text, *got)
		}
	}
}

func TestTimeoutOfAnAttemptIsRetriedAndIsNotTheCallersDeadline(t *testing.T) {
	slow := llmtest.ChatReply{Text: "late", Delay: 5 * time.Second}
	for _, stream := range []bool{false, true} {
		c, srv := newChat(t, llmtest.Sequence(slow, llmtest.ChatReply{Text: "ok"}), func(o *OpenAIOptions) { o.Timeout = 40 * time.Millisecond })
		req := ask("x")
		if stream {
			req, _ = streaming(req)
		}
		if resp, err := complete(t, c, req); err != nil || resp.Text != "ok" || len(srv.Chats()) != 2 {
			t.Errorf("%+v, %v", resp, err)
		}
	}
	c, _ := newChat(t, llmtest.Sequence(slow), func(o *OpenAIOptions) { o.Timeout, o.Retries = 20*time.Millisecond, -1 })
	if _, err := complete(t, c, ask("x")); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "20ms") {
		t.Errorf("error %v", err)
	}
}

func TestTasksHaveTheirPriority(t *testing.T) {
	for task, want := range map[Task]Priority{
		TaskKeywords: PriorityQuery, TaskAnswer: PriorityQuery, TaskChat: PriorityQuery,
		TaskSummary: PrioritySummary, TaskExtract: PriorityExtract, TaskGlean: PriorityExtract,
	} {
		if got := task.Priority(); got != want {
			t.Errorf("%v: %d, want %d", task, got, want)
		}
	}
}

func TestMeteredCountsPerTaskAlsoFailures(t *testing.T) {
	c, _ := newChat(t, func(r llmtest.ChatRequest) llmtest.ChatReply {
		if r.User() == "bad" {
			return llmtest.ChatReply{FinishReason: "length", Usage: &llmtest.Usage{Prompt: 7}}
		}
		return llmtest.ChatReply{Text: "ok", Usage: &llmtest.Usage{Prompt: 2, Completion: 1}}
	})
	var l Ledger
	m := Metered(c, &l)
	for _, r := range []Request{{Task: TaskExtract}, {Task: TaskExtract}, {Task: TaskSummary}} {
		r.Messages = ask("good").Messages
		if _, err := m.Complete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Complete(t.Context(), Request{Task: TaskGlean, Messages: ask("bad").Messages}); err == nil {
		t.Fatal("no error")
	}
	by := l.ByTask()
	if by[TaskExtract] != (Usage{Calls: 2, PromptTokens: 4, CompletionTokens: 2}) || by[TaskGlean].PromptTokens != 7 || len(by) != 3 {
		t.Errorf("by task %+v", by)
	}
	if got := l.Total(); got != (Usage{Calls: 4, PromptTokens: 13, CompletionTokens: 3}) {
		t.Errorf("total %+v", got)
	}
	if m.Model() != c.Model() {
		t.Error("the wrapper changes the model's name")
	}
}

func TestRequestWithoutContentIsInvalid(t *testing.T) {
	c, srv := newChat(t, nil)
	if _, err := complete(t, c, Request{Messages: []Message{{RoleUser, ""}}}); !errors.Is(err, ErrInvalid) || len(srv.Chats()) != 0 {
		t.Errorf("error %v", err)
	}
}

func TestBaseURLForms(t *testing.T) {
	_, srv := newChat(t, nil)
	for suffix, path := range map[string]string{
		"": "/v1", "/": "/v1", "/v1": "/v1", "/v1/": "/v1", "/v1//": "/v1", "/api/v1": "/api/v1", "/v1beta/openai/": "/v1beta/openai",
		"/v1/chat/completions": "/v1", "/v1/embeddings/": "/v1", "/v1?api-version=2": "/v1",
	} {
		c, err := NewOpenAI(fastOptions(srv.URL + suffix))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := complete(t, c, ask("x")); err != nil {
			t.Errorf("%q: %v", suffix, err)
		}
		_ = c.Close()
		chats := srv.Chats()
		got, want := chats[len(chats)-1].Path, path+"/chat/completions"
		if strings.Contains(suffix, "?") {
			want += "?api-version=2"
		}
		if got != want {
			t.Errorf("%q: path %q, want %q", suffix, got, want)
		}
	}
	c, err := NewOpenAI(OpenAIOptions{Model: "m"})
	if err != nil || c.Model() != "m@api.openai.com" || c.conn.base != "https://api.openai.com/v1" {
		t.Errorf("default: %v, %v", c, err)
	}
}

func TestBadOptionsAreAllNamed(t *testing.T) {
	for _, tc := range []struct {
		opt  OpenAIOptions
		says []string
	}{
		{OpenAIOptions{}, []string{"no model"}},
		{OpenAIOptions{Model: "m", BaseURL: "localhost:11434"}, []string{"http://host/v1"}},
		{OpenAIOptions{Model: "m", BaseURL: "ftp://x/"}, []string{"http://host/v1"}},
		{OpenAIOptions{Model: "m", BaseURL: "http://"}, []string{"http://host/v1"}},
		{OpenAIOptions{Model: "m", BaseURL: "http://[::1"}, []string{"cannot be parsed"}},
		{OpenAIOptions{Model: "m", BaseURL: "http://x/v1#a"}, []string{"fragment"}},
		{OpenAIOptions{BaseURL: "nowhere", APIKey: "sk-a\nb"}, []string{"no model", "http://host/v1", "control characters"}},
		{OpenAIOptions{Model: "m", ExtraHeaders: map[string]string{"A B": "c"}}, []string{"A B"}},
		{OpenAIOptions{Model: "m", Temperature: 3}, []string{"temperature"}},
	} {
		_, err := NewOpenAI(tc.opt)
		if !errors.Is(err, ErrInvalid) {
			t.Fatalf("%v: error %v", tc.opt.BaseURL, err)
		}
		if i := slices.IndexFunc(tc.says, func(s string) bool { return !strings.Contains(err.Error(), s) }); i >= 0 {
			t.Errorf("%q does not say %q", err, tc.says[i])
		}
	}
}
