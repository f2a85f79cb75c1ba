package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// usageGrace is how long a stream may stay open after the model said it was
// done. Only the usage is still to come.
const usageGrace = 5 * time.Second

// callbackError carries an error of the caller's callback through the stream.
type callbackError struct{ error }

func (e callbackError) Unwrap() error { return e.error }

// stream asks for the answer piece by piece.
func (o *OpenAI) stream(ctx context.Context, w *watch, body openai.ChatCompletionRequest, req Request, delivered *bool) (Response, error) {
	deliver := func(piece string) error {
		*delivered = true
		w.hold() // the time the caller takes is not the server's
		err := req.Stream(piece)
		w.kick()
		if err != nil {
			return callbackError{err}
		}
		return nil
	}
	st, err := o.client.CreateChatCompletionStream(ctx, body)
	var whole *wholeAnswer
	if errors.As(err, &whole) {
		return o.unstreamed(whole, req, deliver)
	}
	if err != nil {
		return Response{}, o.sdkError(err)
	}
	defer st.Close()

	a := streamed{filter: thinkFilter{hold: o.holdBytes(), emit: deliver}}
	err = a.receive(st, w)
	resp := Response{Text: stripThink(a.raw.String()), Usage: usageOf(a.usage)}
	var cb callbackError
	if errors.As(err, &cb) {
		return resp, finalError(cb)
	}
	if a.reason == "" { // whatever ended it, the model did not
		if *delivered {
			if e := a.filter.end(); e != nil {
				return resp, finalError{errors.Unwrap(e)}
			}
		}
		return resp, o.cutError(ctx, err)
	}
	o.noteThink(req, a.raw.String())
	if err := o.finish(&resp, a.reason, a.refusal); err != nil {
		return resp, err
	}
	if err := a.filter.end(); err != nil {
		return resp, finalError{errors.Unwrap(err)}
	}
	return resp, nil
}

// streamed gathers a streamed answer.
type streamed struct {
	filter  thinkFilter
	raw     strings.Builder
	reason  string
	refusal string
	usage   *openai.Usage
}

// receive reads until the stream ends, and returns how.
func (a *streamed) receive(st *openai.ChatCompletionStream, w *watch) error {
	for {
		event, err := st.Recv()
		if err != nil {
			return err
		}
		if event.Usage != nil {
			a.usage = event.Usage
		}
		if len(event.Choices) == 0 {
			continue
		}
		c := event.Choices[0]
		a.refusal += c.Delta.Refusal
		if c.Delta.Content != "" {
			a.raw.WriteString(c.Delta.Content)
			if err := a.filter.write(c.Delta.Content); err != nil {
				return err
			}
		}
		if c.FinishReason != "" && c.FinishReason != openai.FinishReasonNull {
			a.reason = string(c.FinishReason)
			w.mu.Lock()
			w.idle = min(w.idle, usageGrace)
			w.mu.Unlock()
			w.kick()
		}
	}
}

// cutError is the error of a stream that ended with err and no finish reason.
func (o *OpenAI) cutError(ctx context.Context, err error) error {
	var timeout *timeoutError
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &timeout):
		return fmt.Errorf("%w: %s: %w", ErrStreamCut, o.conn.endpoint, timeout)
	case cause != nil:
		return cause
	case errors.As(err, new(*StatusError)):
		return err
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %s: no finish reason", ErrStreamCut, o.conn.endpoint)
	}
	return fmt.Errorf("%w: %s: %s", ErrStreamCut, o.conn.endpoint, o.conn.redact.message(err.Error()))
}

// unstreamed accepts the answer of a server that ignored the wish for a stream.
func (o *OpenAI) unstreamed(a *wholeAnswer, req Request, deliver func(string) error) (Response, error) {
	var answer openai.ChatCompletionResponse
	if err := json.Unmarshal(a.body, &answer); err != nil {
		return Response{}, o.sdkError(err)
	}
	resp, err := o.accept(answer, req)
	if err != nil {
		return resp, err
	}
	if err := deliver(resp.Text); err != nil {
		return resp, finalError{errors.Unwrap(err)}
	}
	return resp, nil
}

// How a model's answers begin, as far as this client has seen.
const (
	thinkUnknown uint32 = iota
	thinkNever          // with the answer, or with a block of their own
	thinkOrphan         // in a reasoning block that the prompt's template opened
)

// firstHold is how much of an answer is held back while it is not known whether
// its first part is reasoning: some 250 tokens, once per client.
const firstHold = 1024

// holdBytes is the hold of a thinkFilter for the next streamed answer.
func (o *OpenAI) holdBytes() int {
	switch o.think.Load() {
	case thinkNever:
		return 0
	case thinkOrphan:
		return holdAll
	}
	return firstHold
}

// noteThink learns from a complete answer. One in JSON mode says nothing: there
// the server lets the model write nothing else.
func (o *OpenAI) noteThink(req Request, raw string) {
	f := thinkFilter{hold: holdAll, emit: func(string) error { return nil }}
	_ = f.write(raw)
	switch {
	case f.orphan:
		o.think.Store(thinkOrphan)
	case !req.JSON:
		o.think.CompareAndSwap(thinkUnknown, thinkNever)
	}
}

// zeroTemperature makes the temperature of a request a true 0. The SDK leaves
// out a zero, which means 1 to servers, so that the smallest float stands for
// it; sent as such, it makes the logits of some servers overflow. The pattern
// cannot occur inside a JSON string, where its quotes would be escaped.
type zeroTemperature struct{ *connection }

func (z zeroTemperature) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, finalError{fmt.Errorf("%w: %v", ErrInvalid, err)}
		}
		_ = req.Body.Close()
		body = bytes.Replace(body, []byte(`"temperature":1e-45`), []byte(`"temperature":0`), 1)
		req.Body = io.NopCloser(bytes.NewReader(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.ContentLength = int64(len(body))
	}
	return z.connection.Do(req)
}
