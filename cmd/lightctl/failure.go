package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm"
)

// Exit codes.
const (
	exitOK = iota
	exitFailure
	exitUsage
	exitNotFound
	exitCorrupt
	exitLocked
)

// usageError says what is wrong with the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// objectError names what a failure is about: a document id, an entity, a path.
type objectError struct {
	object string
	err    error
}

func (e *objectError) Error() string { return e.err.Error() }
func (e *objectError) Unwrap() error { return e.err }

// plainError replaces the text of err, not what it is.
type plainError struct {
	err  error
	text string
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.err }

// innermost is the text of the last layers of err, without the places that
// passed it on.
func innermost(err error) string {
	parts := strings.Split(err.Error(), ": ")
	return strings.Join(parts[max(0, len(parts)-2):], ": ")
}

// about attaches the object to a failure; nil stays nil.
func about(object string, err error) error {
	if err == nil {
		return nil
	}
	return &objectError{object, err}
}

// exitStatus ends a command whose report is already written.
type exitStatus struct{ code int }

func (e *exitStatus) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// reported returns the error that makes the program exit with code and write
// nothing more.
func reported(code int) error {
	if code == exitOK {
		return nil
	}
	return &exitStatus{code}
}

// classify returns the exit code of err and a word for scripts.
func classify(err error) (code int, word string) {
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		return exitUsage, "usage"
	case errors.Is(err, engine.ErrCorrupt):
		return exitCorrupt, "corrupt"
	case errors.Is(err, engine.ErrLocked):
		return exitLocked, "locked"
	case errors.Is(err, engine.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return exitNotFound, "not_found"
	case errors.Is(err, engine.ErrInvalid):
		return exitUsage, "invalid"
	}
	for _, k := range []struct {
		err  error
		word string
	}{
		{context.Canceled, "cancelled"},
		{engine.ErrMismatch, "mismatch"},
		{engine.ErrTooNew, "too_new"},
		{engine.ErrDiskFull, "disk_full"},
		{engine.ErrReadOnly, "read_only"},
		{engine.ErrExists, "exists"},
		{llm.ErrAuth, "auth"},
		{llm.ErrRateLimited, "rate_limited"},
		{llm.ErrContextLength, "context_length"},
		{llm.ErrDimension, "mismatch"},
		{llm.ErrUnavailable, "unavailable"},
		{fs.ErrPermission, "permission"},
	} {
		if errors.Is(err, k.err) {
			return exitFailure, k.word
		}
	}
	return exitFailure, "failure"
}

// failureJSON is {"error": ...} on standard output.
type failureJSON struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Object  string `json:"object"`
}

// describe turns err into what is shown of it.
func (a *app) describe(err error) failureJSON {
	_, word := classify(err)
	f := failureJSON{Code: word, Message: a.scrub(message(err))}
	var o *objectError
	if errors.As(err, &o) {
		f.Object = a.scrub(o.object)
	}
	return f
}

// layers takes out the names of packages that an error came through.
var layers = strings.NewReplacer(": curate graph: ", ": ", ": lightrag: ", ": ", ": llm: ", ": ", ": durable: ", ": ", ": offline: ", ": ",
	"\nlightrag: ", "\n", "\ndurable: ", "\n", "\nllm: ", "\n")

// message is the text of err without the library's prefixes, which say nothing
// to somebody who did not write it, and with what to do next.
func message(err error) string {
	text := layers.Replace(strings.TrimPrefix(strings.TrimPrefix(err.Error(), "lightrag: "), "llm: "))
	if errors.As(err, new(*plainError)) {
		return text
	}
	if errors.Is(err, engine.ErrInvalid) { // the text says what is invalid; that it is, goes without saying
		what := engine.ErrInvalid.Error()
		text = strings.TrimSuffix(strings.ReplaceAll(text, what+": ", ""), ": "+what)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.Is(err, engine.ErrCorrupt):
		return text + "; `lightctl check --deep` lists the damage if the store still opens, else use a copy of it"
	case errors.Is(err, engine.ErrTooNew):
		return text + "; use a newer lightctl"
	case errors.Is(err, llm.ErrAuth):
		return text + "; the key is read from OPENAI_API_KEY (embeddings: LIGHTRAG_EMBED_API_KEY)"
	}
	return text
}

// fail writes err where it belongs and returns the exit code.
func (a *app) fail(err error, asJSON bool) int {
	var status *exitStatus
	if errors.As(err, &status) {
		return status.code
	}
	code, _ := classify(err)
	f := a.describe(err)
	if asJSON {
		if werr := writeJSON(a.out, map[string]failureJSON{"error": f}); werr == nil {
			return code
		}
	}
	fmt.Fprintln(a.err, "lightctl: "+printable(strings.ReplaceAll(f.Message, "\n", "; ")))
	return code
}

// secrets are the values that must never be shown.
func (a *app) secrets() []string {
	var out []string
	for _, name := range []string{envKey, envEmbedKey, envRerankKey} {
		if v := strings.TrimSpace(a.env(name)); len(v) >= 6 {
			out = append(out, v)
		}
	}
	return out
}

func (a *app) scrub(s string) string {
	for _, secret := range a.secrets() {
		s = strings.ReplaceAll(s, secret, "[key]")
	}
	return s
}

// scrubber removes secrets from what is written to it, one whole line or
// message a call.
type scrubber struct {
	w       io.Writer
	secrets []string
}

func (s *scrubber) Write(p []byte) (int, error) {
	n := len(p)
	for _, secret := range s.secrets {
		p = bytes.ReplaceAll(p, []byte(secret), []byte("[key]"))
	}
	if _, err := s.w.Write(p); err != nil {
		return 0, err
	}
	return n, nil
}
