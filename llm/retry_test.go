package llm

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lightctl/lightrag/llm/llmtest"
)

func policy(tries int) retryPolicy {
	return retryPolicy{tries: tries, min: time.Second, max: 4 * time.Second, waitMax: time.Minute, log: slog.New(slog.DiscardHandler), what: "test"}
}

// failing returns an operation that fails with each error in turn, then works.
func failing(calls *int, errs ...error) func() (int, error) {
	return func() (int, error) {
		*calls++
		if *calls <= len(errs) {
			return 0, errs[*calls-1]
		}
		return 7, nil
	}
}

func TestRetryBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, start := 0, time.Now()
		v, err := retry(t.Context(), policy(5), failing(&calls, ErrUnavailable, ErrUnavailable, ErrUnavailable, ErrUnavailable))
		d := time.Since(start) // 1+2+4+4 s, each give or take a half
		if v != 7 || err != nil || calls != 5 || d < 5500*time.Millisecond || d > 16500*time.Millisecond {
			t.Errorf("%d, %v, %d calls in %v", v, err, calls, d)
		}
	})
}

func TestRetryHonoursRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, start := 0, time.Now()
		_, err := retry(t.Context(), policy(3), failing(&calls, &StatusError{Status: 429, RetryAfter: 20 * time.Second}))
		if d := time.Since(start); err != nil || d != 20*time.Second {
			t.Errorf("%v after %v", err, d)
		}
		calls, start = 0, time.Now()
		_, err = retry(t.Context(), policy(3), failing(&calls, &StatusError{Status: 429, RetryAfter: time.Hour}))
		if d := time.Since(start); !errors.Is(err, ErrRateLimited) || d != 0 || calls != 1 {
			t.Errorf("an hour: %v after %v and %d calls", err, d, calls)
		}
	})
}

func TestRetryEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("gone")
		time.AfterFunc(100*time.Millisecond, func() { cancel(cause) })
		calls := 0
		_, err := retry(ctx, policy(9), failing(&calls, ErrUnavailable, ErrUnavailable))
		if !errors.Is(err, cause) || !errors.Is(err, ErrUnavailable) || calls != 1 {
			t.Errorf("%v after %d calls", err, calls)
		}
		// A wait that the deadline would cut is not begun.
		short, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer stop()
		start := time.Now()
		calls = 0
		_, err = retry(short, policy(9), failing(&calls, ErrUnavailable))
		if !errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestRetryableErrors(t *testing.T) {
	for err, want := range map[error]bool{
		ErrUnavailable: true, ErrBadResponse: true, ErrStreamCut: true,
		ErrAuth: false, ErrInvalid: false, ErrContextLength: false, ErrDimension: false, ErrVector: false, ErrTruncated: false, ErrRefused: false,
		finalError{ErrUnavailable}:                                                false,
		fmt.Errorf("%w: %w", ErrUnavailable, context.Canceled):                    false,
		fmt.Errorf("%w: %w", ErrUnavailable, &tls.CertificateVerificationError{}): false,
		fmt.Errorf("%w: %w", ErrStreamCut, &timeoutError{time.Second}):            true,
		error(&StatusError{Status: 503}):                                          true,
		error(&StatusError{Status: 404}):                                          false,
		error(&StatusError{Status: 429, Code: "insufficient_quota"}):              false,
		errors.New("what else"):                                                   false,
	} {
		if got := retryable(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}

func TestRetryNamesAttemptsAndLogs(t *testing.T) {
	var log bytes.Buffer
	c, _ := newChat(t, llmtest.Sequence(llmtest.ChatReply{Status: 503}), func(o *OpenAIOptions) {
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	_, err := complete(t, c, ask("the secret prompt"))
	if !strings.Contains(err.Error(), "after 3 attempts") {
		t.Errorf("error %v", err)
	}
	if n := strings.Count(log.String(), "trying again"); n != 2 {
		t.Errorf("%d log lines:\n%s", n, &log)
	}
	if strings.Contains(log.String(), testKey) || strings.Contains(log.String(), "secret prompt") {
		t.Errorf("the log tells too much:\n%s", &log)
	}
}

func TestRateLimitHoldsBackOtherCalls(t *testing.T) {
	c, _ := newChat(t, llmtest.Sequence(llmtest.ChatReply{Status: 429, RetryAfter: "30"}), func(o *OpenAIOptions) { o.Retries = -1 })
	if _, err := complete(t, c, ask("x")); !errors.Is(err, ErrRateLimited) {
		t.Fatal(err)
	}
	if d := time.Until(c.conn.limiter.paused); d < 25*time.Second || d > 30*time.Second {
		t.Errorf("paused for %v", d)
	}
}

func TestConnectionFailures(t *testing.T) {
	srv := llmtest.NewServer(t, nil)
	c, err := NewOpenAI(fastOptions("http://127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := complete(t, c, ask("x")); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "after 3 attempts") {
		t.Errorf("refused connection: %v", err)
	}
	o := fastOptions(srv.URL)
	o.HTTPClient = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, &tls.CertificateVerificationError{Err: errors.New("unknown authority")}
	})}
	c, err = NewOpenAI(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := complete(t, c, ask("x")); !errors.Is(err, ErrUnavailable) || strings.Contains(err.Error(), "attempts") {
		t.Errorf("bad certificate: %v", err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	other := llmtest.NewServer(t, nil)
	for _, given := range []*http.Client{nil, {}} {
		c, _ := newChat(t, llmtest.Sequence(llmtest.ChatReply{
			Status: 307, Body: "{}", Header: map[string][]string{"Location": {other.URL + "/v1/chat/completions"}},
		}), func(o *OpenAIOptions) { o.HTTPClient = given })
		if _, err := complete(t, c, ask("x")); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), other.URL) {
			t.Errorf("error %v", err)
		}
		if given != nil && given.CheckRedirect != nil {
			t.Error("the caller's client was changed")
		}
	}
	if n := len(other.Chats()); n != 0 {
		t.Errorf("%d requests, with the key, went to another host", n)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestCompleteEndsWithTheCallersContext(t *testing.T) {
	c, _ := newChat(t, llmtest.Sequence(llmtest.ChatReply{Delay: time.Minute}))
	for _, stream := range []bool{false, true} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		req := ask("x")
		if stream {
			req, _ = streaming(req)
		}
		start := time.Now()
		_, err := c.Complete(ctx, req)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second {
			t.Errorf("stream %v: %v", stream, err)
		}
	}
}

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "3": 3 * time.Second, "0.5": 500 * time.Millisecond, "-3": 0, "x": 0, "NaN": 0, "1e300": 365 * 24 * time.Hour,
		"Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second, "Fri, 02 Jan 2026 03:00:00 GMT": 0,
	} {
		if got := parseRetryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
	h := http.Header{"Retry-After": {"9"}, "Retry-After-Ms": {"250"}}
	if got := parseRetryAfter(h, now); got != 250*time.Millisecond {
		t.Errorf("milliseconds: %v", got)
	}
}
