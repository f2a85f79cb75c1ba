package llm

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// What is read of one answer at most: an answer is rarely above a megabyte, a
// batch of vectors rarely above ten.
const (
	maxAnswerBytes = 128 << 20
	maxErrorBytes  = 64 << 10
)

const defaultBaseURL = "https://api.openai.com/v1"

// connection is what the chat and the embeddings client have in common.
type connection struct {
	base     string // scheme, host, path; no slash at the end
	host     string
	endpoint string // host and path, for messages
	query    string
	header   http.Header
	client   *http.Client
	own      *http.Transport // to be closed, unless the caller gave a client
	redact   redactor
	limiter  *Limiter
	policy   retryPolicy
	timeout  time.Duration
	log      *slog.Logger
}

// connectionOptions are the options that both clients share.
type connectionOptions struct {
	baseURL, apiKey, model string
	timeout                time.Duration
	client                 *http.Client
	limiter                *Limiter
	limits                 LimitOptions
	retries                int
	retryMin, retryMax     time.Duration
	retryAfterMax          time.Duration
	log                    *slog.Logger
	header                 map[string]string
}

func newConnection(op string, o connectionOptions) (*connection, error) {
	key := strings.TrimSpace(o.apiKey) // keys come from files that end in a newline
	secrets := []string{key}
	for _, v := range o.header {
		secrets = append(secrets, v)
	}
	u, query, err := parseBaseURL(o.baseURL)
	if u != nil && u.User != nil {
		pass, _ := u.User.Password()
		plain := u.User.Username() + ":" + pass
		secrets = append(secrets, pass, plain, base64.StdEncoding.EncodeToString([]byte(plain)))
	}
	for _, values := range query {
		secrets = append(secrets, values...)
	}
	c := &connection{redact: newRedactor(secrets...), timeout: o.timeout, log: o.log, limiter: o.limiter}
	problems := []error{err}
	if strings.TrimSpace(o.model) == "" {
		problems = append(problems, errors.New("no model given"))
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		problems = append(problems, errors.New("the API key holds control characters"))
	}
	c.header = http.Header{}
	for k, v := range o.header {
		if k == "" || strings.ContainsAny(k, " \t\r\n:") || strings.ContainsAny(v, "\r\n\x00") {
			problems = append(problems, fmt.Errorf("extra header %q cannot be sent", k))
		}
		c.header.Set(k, v)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("llm: %s: %w: %s", op, ErrInvalid, c.redact.message(err.Error()))
	}

	if c.header.Get("Authorization") == "" {
		switch {
		case key != "":
			c.header.Set("Authorization", "Bearer "+key)
		case u.User != nil:
			pass, _ := u.User.Password()
			c.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+pass)))
		}
	}
	u.User = nil
	c.base, c.host, c.endpoint, c.query = u.String(), u.Host, u.Host+u.EscapedPath(), query.Encode()
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.limiter == nil {
		c.limiter = NewLimiter(o.limits)
	}
	c.client, c.own = newHTTPClient(o.client, o.limits.Concurrency)
	c.policy = retryPolicy{
		tries: 1 + max(o.retries, 0), min: o.retryMin, max: max(o.retryMin, o.retryMax),
		waitMax: o.retryAfterMax, log: c.log, what: op + " " + o.model + "@" + c.host,
	}
	return c, nil
}

// newHTTPClient returns a client that follows no redirect: what is redirected is
// a POST with credentials, and another host has no right to them. The transport
// is returned too if it is our own.
func newHTTPClient(given *http.Client, conns int) (*http.Client, *http.Transport) {
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if given != nil {
		c := *given
		c.CheckRedirect = refuse
		return &c, nil
	}
	t := &http.Transport{
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        100,
		MaxIdleConnsPerHost: max(conns, 2),
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
	}
	return &http.Client{Transport: t, CheckRedirect: refuse}, t
}

// parseBaseURL accepts the address of a server with or without /v1, with or
// without a slash at the end, and with the path of a method. A path of any other
// kind is left alone: gateways have their own.
func parseBaseURL(s string) (*url.URL, url.Values, error) {
	if s = strings.TrimSpace(s); s == "" {
		s = defaultBaseURL
	}
	u, err := url.Parse(s)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) { // without the address, which may hold a password
			err = ue.Err
		}
		return nil, nil, fmt.Errorf("the base URL cannot be parsed: %v", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return u, nil, fmt.Errorf("the base URL %q needs the form http://host/v1 or https://host/v1", s)
	}
	if u.Fragment != "" {
		return u, nil, errors.New("the base URL holds a fragment (#)")
	}
	path := strings.TrimRight(u.Path, "/")
	for _, method := range []string{"/chat/completions", "/embeddings"} {
		path = strings.TrimRight(strings.TrimSuffix(path, method), "/")
	}
	if path == "" {
		path = "/v1"
	}
	query := u.Query()
	u.Path, u.RawPath, u.RawQuery, u.ForceQuery = path, "", "", false
	return u, query, nil
}

func (c *connection) close() {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// wholeAnswer is how Do hands back a complete JSON answer to a request that
// asked for a stream: some servers ignore the wish.
type wholeAnswer struct{ body []byte }

func (*wholeAnswer) Error() string { return "the server did not stream" }

// Do sends req and returns only answers that are worth decoding: every failure,
// including one that hides behind a 200, is an error of this package. Complete
// answers have been read, streams are filtered; see eventBody. It is what the
// SDK uses in place of an http.Client.
func (c *connection) Do(req *http.Request) (*http.Response, error) {
	for k, v := range c.header {
		req.Header[k] = v
	}
	req.URL.RawQuery = c.query
	ctx := req.Context()
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, c.transportError(ctx, err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer resp.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes))
		return nil, c.statusError(req, resp, body)
	}
	wantStream := strings.HasPrefix(req.Header.Get("Accept"), "text/event-stream")
	if wantStream && !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		resp.Body = newEventBody(resp.Body, maxAnswerBytes, watchOf(ctx), func(payload []byte) error {
			if _, ok := parseErrorBody(payload); ok {
				return c.statusError(req, resp, payload)
			}
			return nil
		})
		return resp, nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, c.transportError(ctx, err)
	}
	if len(body) > maxAnswerBytes {
		return nil, finalError{fmt.Errorf("%w: %s: more than %d MiB", ErrBadResponse, c.endpoint, maxAnswerBytes>>20)}
	}
	if _, ok := parseErrorBody(body); ok {
		return nil, c.statusError(req, resp, body)
	}
	if !json.Valid(body) {
		return nil, fmt.Errorf("%w: %s: not JSON: %s", ErrBadResponse, c.endpoint, c.redact.message(string(body[:min(len(body), 200)])))
	}
	if wantStream {
		return nil, &wholeAnswer{body}
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// post sends in as JSON to a method of the endpoint and decodes the answer.
func (c *connection) post(ctx context.Context, method string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return finalError{fmt.Errorf("%w: %v", ErrInvalid, err)}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+method, bytes.NewReader(body))
	if err != nil {
		return finalError{fmt.Errorf("%w: %s", ErrInvalid, c.redact.message(err.Error()))}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("%w: %s: %s", ErrBadResponse, c.endpoint, c.redact.message(err.Error()))
	}
	return nil
}

// transportError turns a failure below HTTP into ErrUnavailable. The original is
// kept in the chain only where it cannot hold a secret: what has to be cleaned
// is flattened to its cleaned text.
func (c *connection) transportError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause // the caller tells its own end from our time limit
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err // the address is in the message already
	}
	var cert *tls.CertificateVerificationError
	fatal := errors.As(err, &cert)
	text := err.Error()
	switch clean := c.redact.message(text); {
	case errors.Is(err, context.DeadlineExceeded) || clean != text:
		err = fmt.Errorf("%w: %s: %s", ErrUnavailable, c.endpoint, clean)
	default:
		err = fmt.Errorf("%w: %s: %w", ErrUnavailable, c.endpoint, err)
	}
	if fatal {
		return finalError{err}
	}
	return err
}

func (c *connection) statusError(req *http.Request, resp *http.Response, body []byte) error {
	e := &StatusError{
		Status:     resp.StatusCode,
		Endpoint:   c.redact.clean(req.URL.Host + req.URL.EscapedPath()),
		RetryAfter: parseRetryAfter(resp.Header, time.Now()),
	}
	said, ok := parseErrorBody(body)
	switch {
	case ok:
		e.Code, e.Message = c.redact.message(said.code), c.redact.message(said.message)
		if e.Status/100 == 2 { // gateways pass on the status of what is behind them
			e.Status = 200
			if said.status >= 400 && said.status <= 599 {
				e.Status = said.status
			}
		}
	case e.Status/100 == 3:
		e.Message = c.redact.message("redirected to " + resp.Header.Get("Location") + "; redirects are not followed, give that address as base URL")
	default:
		e.Message = c.redact.message(string(body))
	}
	return e
}
