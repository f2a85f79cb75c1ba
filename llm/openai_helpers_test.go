package llm

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/lightctl/lightrag/llm/llmtest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-test-0123456789abcdef"

// fastOptions are options with back-offs of a millisecond.
func fastOptions(url string) OpenAIOptions {
	return OpenAIOptions{
		BaseURL: url, APIKey: testKey, Model: "test-model", Retries: 2,
		RetryMin: time.Millisecond, RetryMax: 2 * time.Millisecond,
	}
}

// newChat starts a scripted server and a client of it.
func newChat(t *testing.T, h llmtest.Handler, change ...func(*OpenAIOptions)) (*OpenAI, *llmtest.Server) {
	t.Helper()
	srv := llmtest.NewServer(t, h)
	o := fastOptions(srv.URL)
	for _, c := range change {
		c(&o)
	}
	client, err := NewOpenAI(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client, srv
}

// newEmbed is newChat for embeddings.
func newEmbed(t *testing.T, h llmtest.EmbedHandler, change ...func(*OpenAIEmbedOptions)) (*OpenAIEmbedder, *llmtest.Server) {
	t.Helper()
	srv := llmtest.NewServer(t, nil)
	srv.OnEmbed(h)
	o := OpenAIEmbedOptions{
		BaseURL: srv.URL, APIKey: testKey, Model: "test-embed", Retries: 2,
		RetryMin: time.Millisecond, RetryMax: 2 * time.Millisecond,
	}
	for _, c := range change {
		c(&o)
	}
	e, err := NewOpenAIEmbedder(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e, srv
}

// ask is a request with one user message.
func ask(text string) Request {
	return Request{Task: TaskChat, Messages: []Message{{Role: RoleUser, Content: text}}}
}

// streaming makes req one that gathers its pieces.
func streaming(req Request) (Request, *[]string) {
	var got []string
	req.Stream = func(s string) error { got = append(got, s); return nil }
	return req, &got
}

func complete(t *testing.T, c Completer, req Request) (Response, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return c.Complete(ctx, req)
}

// roundTrip is an http.RoundTripper without a network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
