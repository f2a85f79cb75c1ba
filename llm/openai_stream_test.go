package llm

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lightctl/lightrag/llm/llmtest"
)

func TestStreamDeliversPiecesAndUsage(t *testing.T) {
	c, srv := newChat(t, llmtest.Sequence(llmtest.ChatReply{
		Chunks: []string{"세계 ", "hello", " 🌍"}, Usage: &llmtest.Usage{Prompt: 5, Cached: 1, Completion: 3},
	}))
	c.think.Store(thinkNever)
	req, got := streaming(ask("x"))
	resp, err := complete(t, c, req)
	if err != nil || resp.Text != "세계 hello 🌍" || strings.Join(*got, "|") != "세계 |hello| 🌍" {
		t.Fatalf("%+v, %v, delivered %q", resp, err, *got)
	}
	if resp.Usage != (Usage{Calls: 1, PromptTokens: 5, CachedTokens: 1, CompletionTokens: 3}) {
		t.Errorf("usage %+v", resp.Usage)
	}
	if r := srv.Chats()[0]; r.StreamOptions == nil || !r.StreamOptions.IncludeUsage {
		t.Error("usage was not asked for")
	}
}

func TestStreamCutShort(t *testing.T) {
	for name, reply := range map[string]llmtest.ChatReply{
		"connection dropped":    {Chunks: []string{"half an ", "answer"}, Cut: true},
		"clean end, no reason":  {Chunks: []string{"half an ", "answer"}, FinishReason: "none"},
		"end without DONE":      {Raw: sse(`{"choices":[{"delta":{"content":"half an answer"}}]}`)},
		"torn line":             {Raw: sse(`{"choices":[{"delta":{"content":"half an answer"}}]}`) + `data: {"choices":[{"del`},
		"goes silent":           {Chunks: []string{"half an ", "answer"}, Stall: true},
		"error in the stream":   {Raw: sse(`{"choices":[{"delta":{"content":"half an answer"}}]}`) + sse(`{"error":{"message":"boom"}}`)},
		"error after a comment": {Raw: sse(`{"choices":[{"delta":{"content":"half an answer"}}]}`) + ": ping\n\n" + sse(`{"error":"boom"}`)},
		"error inside a chunk":  {Raw: sse(`{"choices":[{"delta":{"content":"half an answer"}}]}`) + sse(`{"id":"x","error":{"message":"boom"},"choices":[]}`)},
		"error without data":    {Raw: sse(`{"choices":[{"delta":{"content":"half an answer"}}]}`) + `{"error":{"message":"boom"}}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, held := range []bool{false, true} { // by the filter, so that nothing was delivered
				c, srv := newChat(t, llmtest.Sequence(reply), func(o *OpenAIOptions) { o.StreamIdleTimeout = 30 * time.Millisecond })
				if !held {
					c.think.Store(thinkNever)
				}
				req, got := streaming(ask("x"))
				resp, err := complete(t, c, req)
				wantErr, requests, delivered := ErrStreamCut, 1, "half an answer"
				if strings.HasPrefix(name, "error") {
					wantErr = ErrBadResponse
				}
				if held { // then another attempt can do no harm
					requests, delivered = 3, ""
				}
				if !errors.Is(err, wantErr) || resp.Text != "half an answer" {
					t.Errorf("held %v: %q, %v", held, resp.Text, err)
				}
				if d := strings.Join(*got, ""); d != delivered || len(srv.Chats()) != requests {
					t.Errorf("held %v: delivered %q in %d requests", held, d, len(srv.Chats()))
				}
				if strings.HasPrefix(name, "error") && !strings.Contains(err.Error(), "boom") {
					t.Errorf("held %v: message %q", held, err)
				}
			}
		})
	}
}

func sse(payload string) string { return "data: " + payload + "\n\n" }

func TestStreamOddities(t *testing.T) {
	content := func(s string) string { return `{"choices":[{"delta":{"content":"` + s + `"}}]}` }
	stop := `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	for name, raw := range map[string]string{
		"comments, event names, CRLF": ": hi\r\nevent: message\r\ndata: " + content("o") + "\r\n\r\n: ping\r\n\r\ndata:" + content("k") + "\r\n\r\ndata: " + stop + "\r\n\r\ndata: [DONE]\r\n\r\n",
		"null error":                  sse(`{"error":null,"choices":[{"delta":{"content":"ok"}}]}`) + sse(stop),
		"no DONE":                     sse(content("ok")) + sse(stop),
		"no newline at the end":       sse(content("ok")) + "data: " + stop,
		"empty choices first":         sse(`{"choices":[]}`) + sse(content("ok")) + sse(stop),
		"reasoning apart":             sse(`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`) + sse(content("ok")) + sse(stop),
		"reason with the last piece":  sse(`{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`),
		"garbage after the end":       sse(content("ok")) + sse(stop) + sse("{{{"),
		"many comments":               strings.Repeat(": ping\n\n", 500) + sse(content("ok")) + sse(stop),
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := newChat(t, llmtest.Sequence(llmtest.ChatReply{Raw: raw}))
			req, got := streaming(ask("x"))
			if resp, err := complete(t, c, req); err != nil || resp.Text != "ok" || strings.Join(*got, "") != "ok" {
				t.Errorf("%q, %v, delivered %q", resp.Text, err, *got)
			}
		})
	}
	t.Run("a whole answer instead of a stream", func(t *testing.T) {
		c, _ := newChat(t, llmtest.Sequence(llmtest.ChatReply{
			Body: `{"choices":[{"message":{"content":"<think>a</think>ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}`}))
		req, got := streaming(ask("x"))
		resp, err := complete(t, c, req)
		if err != nil || resp.Text != "ok" || strings.Join(*got, "") != "ok" || resp.Usage.PromptTokens != 3 {
			t.Errorf("%+v, %v, delivered %q", resp, err, *got)
		}
	})
}

// A stream over a pipe, in fake time: a piece every ten seconds.
func TestStreamIdleTimeout(t *testing.T) {
	for name, tc := range map[string]struct {
		idle, callback time.Duration
		cut            bool
	}{
		"pieces come in time":                {15 * time.Second, 0, false},
		"pieces come too late":               {5 * time.Second, 0, true},
		"the callback's own time is its own": {15 * time.Second, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := fastOptions("http://fake")
				o.StreamIdleTimeout = tc.idle
				o.HTTPClient = &http.Client{Transport: roundTrip(slowStream)}
				c, err := NewOpenAI(o)
				if err != nil {
					t.Fatal(err)
				}
				c.think.Store(thinkNever)
				req := ask("x")
				req.Stream = func(string) error { time.Sleep(tc.callback); return nil }
				resp, err := c.Complete(t.Context(), req)
				time.Sleep(time.Minute) // until the other end has noticed
				if tc.cut != errors.Is(err, ErrStreamCut) || !tc.cut && (err != nil || resp.Text != "aaaa") {
					t.Errorf("%q, %v", resp.Text, err)
				}
			})
		})
	}
}

// slowStream answers with a stream that writes a piece every ten seconds.
func slowStream(r *http.Request) (*http.Response, error) {
	pr, pw := io.Pipe()
	stop := context.AfterFunc(r.Context(), func() { _ = pw.CloseWithError(context.Cause(r.Context())) })
	go func() {
		defer stop()
		for range 4 {
			time.Sleep(10 * time.Second)
			if _, err := io.WriteString(pw, sse(`{"choices":[{"delta":{"content":"a"}}]}`)); err != nil {
				return
			}
		}
		_, _ = io.WriteString(pw, sse(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`))
		_ = pw.Close()
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: pr, Request: r}, nil
}

func TestStreamCallbackErrorEndsTheCall(t *testing.T) {
	stop := errors.New("enough")
	for _, think := range []uint32{thinkNever, thinkOrphan} { // at a piece; at the end
		c, srv := newChat(t, llmtest.Sequence(llmtest.ChatReply{Chunks: []string{"a", "b"}}))
		c.think.Store(think)
		req := ask("x")
		req.Stream = func(string) error { return stop }
		if _, err := complete(t, c, req); !errors.Is(err, stop) || len(srv.Chats()) != 1 {
			t.Errorf("%v after %d requests", err, len(srv.Chats()))
		}
	}
}

func TestStreamEndsWithTheContext(t *testing.T) {
	c, _ := newChat(t, llmtest.Sequence(llmtest.ChatReply{Chunks: []string{"half"}, Stall: true}))
	c.think.Store(thinkNever)
	ctx, cancel := context.WithCancel(t.Context())
	req := ask("x")
	req.Stream = func(string) error { cancel(); return nil }
	resp, err := c.Complete(ctx, req)
	if !errors.Is(err, context.Canceled) || resp.Text != "half" {
		t.Errorf("%q, %v", resp.Text, err)
	}
}

func TestStreamHoldsReasoningThatIsOnlyClosed(t *testing.T) {
	long := strings.Repeat("let me see. ", 200)
	answer := llmtest.ChatReply{Text: long + "</think>\nyes"}
	c, _ := newChat(t, llmtest.Sequence(answer))
	first, got := streaming(ask("x"))
	if resp, err := complete(t, c, first); err != nil || resp.Text != "yes" {
		t.Fatalf("first: %q, %v", resp.Text, err)
	}
	if !strings.Contains(strings.Join(*got, ""), "let me see") {
		t.Error("the first answer was held back longer than documented")
	}
	second, got := streaming(ask("x"))
	if resp, err := complete(t, c, second); err != nil || resp.Text != "yes" || strings.Join(*got, "") != "yes" {
		t.Errorf("second: %q, %v, delivered %q", resp.Text, err, *got)
	}
	// An answer in one piece teaches the same.
	c, _ = newChat(t, llmtest.Sequence(answer))
	if _, err := complete(t, c, ask("x")); err != nil {
		t.Fatal(err)
	}
	third, got := streaming(ask("x"))
	if _, err := complete(t, c, third); err != nil || strings.Join(*got, "") != "yes" {
		t.Errorf("third: %v, delivered %q", err, *got)
	}
}

func TestStreamLinesAreBounded(t *testing.T) {
	body := newEventBody(nopCloser{strings.NewReader("data: " + strings.Repeat("x", 1<<16))}, 1<<10, nil, func([]byte) error { return nil })
	if _, err := body.Read(make([]byte, 1)); !errors.Is(err, errTooLong) {
		t.Errorf("error %v", err)
	}
}

type nopCloser struct{ *strings.Reader }

func (nopCloser) Close() error { return nil }
