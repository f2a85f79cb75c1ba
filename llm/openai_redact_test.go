package llm

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm/llmtest"
)

// texts returns every text by which err could be shown: its own, that of all it
// wraps, and what fmt makes of it.
func texts(err error) []string {
	if err == nil {
		return nil
	}
	out := []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		out = append(out, texts(e.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, in := range e.Unwrap() {
			out = append(out, texts(in)...)
		}
	}
	return out
}

func TestNoErrorShowsASecret(t *testing.T) {
	const key, header, pass = `k3y"with%odd/signs`, "gateway-token-77", "hunter2-pass"
	basic := base64.StdEncoding.EncodeToString([]byte("user:" + pass))
	secrets := []string{key, header, pass, basic, `k3y\"with%odd/signs`, url.QueryEscape(key), "query-secret"}
	echo := strings.Join(secrets, " and ")
	for name, reply := range map[string]llmtest.ChatReply{
		"401 echo":        {Status: 401, Body: `{"error":{"message":"Incorrect API key provided: ` + strings.ReplaceAll(strings.ReplaceAll(echo, `\`, `\\`), `"`, `\"`) + `","code":"` + header + `"}}`},
		"500 text":        {Status: 500, Body: echo, ContentType: "text/plain"},
		"200 not JSON":    {Body: echo},
		"200 error":       {Body: `{"error":"` + header + " " + pass + `"}`},
		"redirect":        {Status: 302, Body: "{}", Header: map[string][]string{"Location": {"http://user:" + pass + "@x/?k=" + header}}},
		"stream error":    {Raw: sse(`{"error":{"message":"` + header + `"}}`)},
		"refusal":         {Refuse: "not with " + header},
		"status in a 200": {Body: `{"error":{"message":"` + pass + `","code":401}}`},
		"cut":             {Text: strings.Repeat(header, 9), Cut: true},
		"broken JSON":     {Body: `{"choices":"` + header + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			c, srv := newChat(t, llmtest.Sequence(reply), func(o *OpenAIOptions) {
				o.BaseURL = strings.Replace(o.BaseURL, "http://", "http://user:"+pass+"@", 1) + "?token=query-secret"
				o.APIKey = key + "\n"
				o.ExtraHeaders = map[string]string{"X-Gateway": header}
				o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			req, _ := streaming(ask("x"))
			for _, r := range []Request{ask("x"), req} {
				_, err := complete(t, c, r)
				if err == nil && name != "stream error" && name != "cut" {
					t.Fatal("no error")
				}
				for _, text := range append(texts(err), log.String(), fmt.Sprintf("%v %+v %#v", c, c, c), c.Model()) {
					for _, s := range secrets {
						if strings.Contains(text, s) {
							t.Errorf("%q shows %q", text, s)
						}
					}
				}
			}
			if got := srv.Chats()[0].Header; got.Get("Authorization") != "Bearer "+key || got.Get("X-Gateway") != header {
				t.Errorf("the server got %v", got)
			}
		})
	}
}

func TestTransportErrorsShowNoSecret(t *testing.T) {
	o := fastOptions("http://user:hunter2-pass@127.0.0.1:1/v1?token=query-secret")
	o.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("proxy says no to %s with %s", r.URL, r.Header.Get("Authorization"))
	})}
	c, err := NewOpenAI(o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = complete(t, c, ask("x"))
	if !errors.Is(err, ErrUnavailable) {
		t.Fatal(err)
	}
	for _, text := range texts(err) {
		for _, s := range []string{testKey, "hunter2", "query-secret"} {
			if strings.Contains(text, s) {
				t.Errorf("%q shows %q", text, s)
			}
		}
	}
}

func TestOptionErrorsShowNoSecret(t *testing.T) {
	for _, o := range []OpenAIOptions{
		{Model: "m", BaseURL: "http://user:hunter2-pass@[::1/v1"},
		{Model: "m", BaseURL: "ftp://user:hunter2-pass@host/"},
		{Model: "m", BaseURL: testKey, APIKey: testKey},
		{APIKey: testKey + "\x00"},
		{Model: "m", ExtraHeaders: map[string]string{"X": "hunter2-pass\nA: b"}},
	} {
		_, err := NewOpenAI(o)
		text := fmt.Sprint(texts(err), o, fmt.Sprintf("%+v %#v", o, o))
		if err == nil || strings.Contains(text, "hunter2") || strings.Contains(text, testKey) {
			t.Errorf("%v", text)
		}
	}
	e := OpenAIEmbedOptions{Model: "m", APIKey: testKey}
	if s := fmt.Sprintf("%v %+v %#v", e, e, e); strings.Contains(s, testKey) {
		t.Error(s)
	}
}

func TestMaskedKeysAreHidden(t *testing.T) {
	var r redactor
	for _, s := range []string{"Incorrect key: sk-abcd****wxyz.", "Authorization: Bearer abc.def", "basic dXNlcjpwYXNz"} {
		if got := r.clean(s); !strings.Contains(got, redacted) || strings.Contains(got, "wxyz") || strings.Contains(got, "abc.def") || strings.Contains(got, "dXNl") {
			t.Errorf("%q became %q", s, got)
		}
	}
	if s := "model ollama/llama3 at http://host/v1 is busy, task-12 failed"; r.clean(s) != s {
		t.Errorf("harmless text became %q", r.clean(s))
	}
	if got := r.message(strings.Repeat("가 ", 900)); len([]rune(got)) != 501 {
		t.Errorf("%d runes", len([]rune(got)))
	}
}
