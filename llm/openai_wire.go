package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// saidError is what an error body says.
type saidError struct {
	message, code string
	status        int // numeric code, 0 if none
}

// parseErrorBody finds the error object in an answer. Servers write it in four
// ways: {"error":{"message","code","type"}}, {"error":"text"},
// {"object":"error","message"} and {"detail":…}. A null or empty error is none.
func parseErrorBody(body []byte) (saidError, bool) {
	if !bytes.Contains(body, []byte("error")) && !bytes.Contains(body, []byte(`"detail"`)) &&
		!bytes.Contains(body, []byte(`"message"`)) {
		return saidError{}, false
	}
	var top struct {
		Error   json.RawMessage `json:"error"`
		Object  json.RawMessage `json:"object"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"type"`
		Choices json.RawMessage `json:"choices"`
		Data    json.RawMessage `json:"data"`
	}
	if json.Unmarshal(body, &top) != nil {
		return saidError{}, false
	}
	var e saidError
	if len(top.Error) > 0 && string(top.Error) != "null" {
		var in struct {
			Message json.RawMessage `json:"message"`
			Code    json.RawMessage `json:"code"`
			Type    json.RawMessage `json:"type"`
			Prompt  int             `json:"n_prompt_tokens"` // llama.cpp
			Window  int             `json:"n_ctx"`
		}
		if top.Error[0] == '{' && json.Unmarshal(top.Error, &in) == nil {
			e = said(in.Message, in.Code, in.Type)
			if in.Window > 0 {
				e.code = plain(in.Type) // rather than the number of the status
				e.message += fmt.Sprintf(" (n_prompt_tokens: %d, n_ctx: %d)", in.Prompt, in.Window)
			}
			if e.message == "" && e.code == "" && string(top.Error) != "{}" {
				e.message = string(top.Error)
			}
		} else if s := plain(top.Error); s != "" && s != "false" {
			e.message = s
		}
	} else if top.Choices == nil && top.Data == nil { // an answer may have fields of these names
		text := top.Message
		if len(text) == 0 {
			text = top.Detail
		}
		e = said(text, top.Code, top.Type)
		if e.message == "" && plain(top.Object) != "error" {
			return saidError{}, false
		}
	}
	return e, e.message != "" || e.code != ""
}

func said(message, code, kind json.RawMessage) saidError {
	e := saidError{message: plain(message), code: plain(code)}
	e.status, _ = strconv.Atoi(e.code)
	if e.code == "" {
		e.code = plain(kind)
	}
	return e
}

// plain returns a JSON string's text and anything else as it is written; null
// is "".
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// parseRetryAfter reads the wait a server asks for: milliseconds in a header of
// their own, seconds, or a date. What cannot be read is zero.
func parseRetryAfter(h http.Header, now time.Time) time.Duration {
	const limit = 365 * 24 * 3600 // seconds; a Duration ends at 292 years
	seconds := func(s string, unit float64) (time.Duration, bool) {
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || f != f {
			return 0, false
		}
		return time.Duration(min(max(f*unit, 0), limit) * float64(time.Second)), true
	}
	if d, ok := seconds(h.Get("Retry-After-Ms"), 1e-3); ok {
		return d
	}
	v := h.Get("Retry-After")
	if d, ok := seconds(v, 1); ok {
		return d
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// estimateTokens guesses a token count without a tokenizer: four ASCII letters
// or one other character per token. It is used for rate limits only, where the
// server's count replaces it.
func estimateTokens(s string) int {
	ascii, other := 0, 0
	for _, r := range s {
		if r < 0x80 {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+3)/4 + other
}
