package llm

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// The causes a caller can act on. Every error of this package is errors.Is-able
// with one of them or with the error of the context.
var (
	// ErrAuth: the key, the account or its balance was refused. Never retried.
	ErrAuth = errors.New("credentials refused")
	// ErrRateLimited: too many requests or tokens, also after the retries.
	ErrRateLimited = errors.New("rate limited")
	// ErrUnavailable: no connection, no answer in time, or a server error, also
	// after the retries.
	ErrUnavailable = errors.New("model unavailable")
	// ErrBadResponse: the server answered with something that is no answer.
	ErrBadResponse = errors.New("bad response")
	// ErrStreamCut: a streamed answer ended before the model said it was done.
	// The Response returned beside it holds what came.
	ErrStreamCut = errors.New("stream cut short")
	// ErrTruncated: the length limit was reached before any text was written.
	// (An answer that has text is returned with Response.Truncated instead.)
	ErrTruncated = errors.New("answer truncated before its first word")
	// ErrRefused: the model or a content filter declined to answer.
	ErrRefused = errors.New("model refused to answer")
	// ErrContextLength: the input is longer than the model takes. ContextWindow
	// tells how long it may be.
	ErrContextLength = errors.New("input too long for the model")
	// ErrDimension: a vector has another length than its space; see DimensionError.
	ErrDimension = errors.New("wrong embedding dimension")
	// ErrVector: a vector is all zeros or holds a NaN or an infinity.
	ErrVector = errors.New("unusable embedding")
	// ErrInvalid: an option or a request is wrong; sending it again cannot help.
	ErrInvalid = errors.New("invalid request")
)

// StatusError is an error that a server reported, by an HTTP status or, with
// Status 200, by an error object in place of an answer. Its texts are shortened
// and free of keys.
type StatusError struct {
	Status     int           // HTTP status, or the one named inside a 200 body
	Code       string        // machine-readable code or type, "" if none
	Message    string        // what the server said, at most 500 characters
	RetryAfter time.Duration // wait the server asked for; 0 if none
	Endpoint   string        // host and path
}

func (e *StatusError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %s: HTTP %d", e.kind(), e.Endpoint, e.Status)
	if s := http.StatusText(e.Status); s != "" {
		b.WriteString(" " + s)
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if e.Code != "" {
		b.WriteString(" (" + e.Code + ")")
	}
	return b.String()
}

// Is reports whether the status and code mean the given sentinel.
func (e *StatusError) Is(target error) bool { return target == e.kind() }

// contextPhrases are how servers of different make say that a prompt is too
// long; only some of them send the code that OpenAI does.
var contextPhrases = []string{
	"maximum context length", "context length", "context window", "context size",
	"prompt is too long", "input is too long", "too many tokens", "must have less than",
	"maximum model length", "exceeds the maximum number of tokens", "max context length",
}

func (e *StatusError) kind() error {
	switch e.Code {
	case "context_length_exceeded", "exceed_context_size_error":
		return ErrContextLength
	case "invalid_api_key", "authentication_error":
		return ErrAuth
	case "rate_limit_exceeded", "insufficient_quota":
		return ErrRateLimited
	}
	switch {
	case e.Status == 401 || e.Status == 402 || e.Status == 403:
		return ErrAuth
	case e.Status == 429:
		return ErrRateLimited
	case e.Status == 413:
		return ErrContextLength
	case e.Status == 400 || e.Status == 422 || e.Status == 200 || e.Status == 500: // 500: Ollama
		low := strings.ToLower(e.Message)
		for _, p := range contextPhrases {
			if strings.Contains(low, p) {
				return ErrContextLength
			}
		}
	}
	if e.Status == 408 || e.Status == 425 || e.Status >= 500 {
		return ErrUnavailable
	}
	if e.Status == 200 {
		return ErrBadResponse
	}
	return ErrInvalid
}

// retryable reports whether the same request may succeed later.
func (e *StatusError) retryable() bool {
	if e.Code == "insufficient_quota" { // a 429 that only a payment ends
		return false
	}
	k := e.kind()
	return k == ErrRateLimited || k == ErrUnavailable || k == ErrBadResponse
}

// DimensionError names the text whose vector has the wrong length. It is
// ErrDimension.
type DimensionError struct {
	Text int // index into the texts given to Embed
	Have int // components received
	Want int // components expected
}

func (e *DimensionError) Error() string {
	return fmt.Sprintf("%v: text %d: got %d components, want %d", ErrDimension, e.Text, e.Have, e.Want)
}

// Is makes a DimensionError an ErrDimension.
func (e *DimensionError) Is(target error) bool { return target == ErrDimension }
