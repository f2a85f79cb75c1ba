package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// post returns status, headers and body; the error is that of reading the body.
func post(t *testing.T, s *Server, path, body string) (int, http.Header, string, error) {
	t.Helper()
	resp, err := s.Client().Post(s.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(b), err
}

const (
	chatPath   = "/v1/chat/completions"
	askBody    = `{"model":"m","messages":[{"role":"system","content":"sys"},{"role":"user","content":"hello there"}]}`
	streamBody = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello there"}]}`
)

func TestChatEchoesAndRecords(t *testing.T) {
	s := NewServer(t, nil)
	status, _, body, err := post(t, s, chatPath, askBody)
	if err != nil || status != 200 || !strings.Contains(body, `"content":"hello there"`) || !strings.Contains(body, `"prompt_tokens":3`) {
		t.Errorf("%d, %s, %v", status, body, err)
	}
	r := s.Chats()
	if len(r) != 1 || r[0].System() != "sys" || r[0].User() != "hello there" || r[0].Temperature != nil || string(r[0].Raw) != askBody {
		t.Errorf("recorded %+v", r)
	}
}

func TestChatReplies(t *testing.T) {
	for name, tc := range map[string]struct {
		reply  ChatReply
		body   string
		status int
		holds  []string
		lacks  []string
		broken bool
	}{
		"status":       {ChatReply{Status: 429, RetryAfter: "3"}, askBody, 429, []string{"Too Many Requests"}, nil, false},
		"body":         {ChatReply{Body: `{"error":"x"}`}, askBody, 200, []string{`{"error":"x"}`}, nil, false},
		"reason":       {ChatReply{Text: "a", FinishReason: "length"}, askBody, 200, []string{`"finish_reason":"length"`}, nil, false},
		"no usage":     {ChatReply{Text: "a", NoUsage: true}, askBody, 200, nil, []string{"usage"}, false},
		"cut":          {ChatReply{Text: strings.Repeat("a", 99), Cut: true}, askBody, 200, []string{`"aaaa`}, []string{"usage"}, true},
		"stream":       {ChatReply{Chunks: []string{"ab", "cd"}}, streamBody, 200, []string{`"content":"ab"`, `"content":"cd"`, `"stop"`, "usage", "[DONE]"}, nil, false},
		"stream cut":   {ChatReply{Chunks: []string{"ab"}, Cut: true}, streamBody, 200, []string{`"content":"ab"`}, []string{`"stop"`, "[DONE]"}, true},
		"stream raw":   {ChatReply{Raw: "data: x\n\n"}, streamBody, 200, []string{"data: x\n\n"}, []string{"[DONE]"}, false},
		"no reason":    {ChatReply{Text: "가나다라마바사아자", FinishReason: "none"}, streamBody, 200, []string{`"content":"가나다라마바사아"`, `"content":"자"`}, []string{`"stop"`}, false},
		"stream error": {ChatReply{Status: 500}, streamBody, 500, []string{"Internal Server Error"}, []string{"data:"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewServer(t, Sequence(tc.reply))
			status, h, body, err := post(t, s, chatPath, tc.body)
			if status != tc.status || (err != nil) != tc.broken || h.Get("Retry-After") != tc.reply.RetryAfter {
				t.Errorf("%d, %v", status, err)
			}
			for _, w := range tc.holds {
				if !strings.Contains(body, w) {
					t.Errorf("%s lacks %s", body, w)
				}
			}
			for _, w := range tc.lacks {
				if strings.Contains(body, w) {
					t.Errorf("%s holds %s", body, w)
				}
			}
		})
	}
}

func TestSequenceRepeatsTheLast(t *testing.T) {
	s := NewServer(t, Sequence(ChatReply{Text: "one"}, ChatReply{Text: "two"}))
	for _, want := range []string{"one", "two", "two"} {
		if _, _, body, _ := post(t, s, chatPath, askBody); !strings.Contains(body, `"`+want+`"`) {
			t.Errorf("%s, want %s", body, want)
		}
	}
}

func TestEmbeddingsAreAFunctionOfTheText(t *testing.T) {
	f := New(nil, nil)
	call := func(body string) []any {
		w := httptest.NewRecorder()
		f.Handler().ServeHTTP(w, httptest.NewRequest("POST", "/v1/embeddings", strings.NewReader(body)))
		var out struct {
			Data []struct{ Embedding any }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatal(err)
		}
		var v []any
		for _, d := range out.Data {
			v = append(v, d.Embedding)
		}
		return v
	}
	v := call(`{"model":"m","input":["a","b"],"dimensions":3}`)
	want := Vector("b", 3)
	if got := v[1].([]any); len(got) != 3 || float32(got[2].(float64)) != want[2] {
		t.Errorf("%v, want %v", v, want)
	}
	raw, err := base64.StdEncoding.DecodeString(call(`{"model":"m","input":["a"],"encoding_format":"base64"}`)[0].(string))
	if err != nil || len(raw) != 4*DefaultDim {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
	var sum float64
	for _, x := range Vector("가", 64) {
		sum += float64(x) * float64(x)
	}
	if math.Abs(sum-1) > 1e-5 || len(f.Embeds()) != 2 {
		t.Errorf("norm %v, %d requests", sum, len(f.Embeds()))
	}
}

func TestOtherRequestsAreRefused(t *testing.T) {
	s := NewServer(t, nil)
	for path, want := range map[string]int{"/nowhere": 404, chatPath: 400, "/v1/embeddings": 400} {
		if status, _, _, _ := post(t, s, path, "not JSON"); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
	resp, err := s.Client().Get(s.URL + chatPath)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 405 {
		t.Errorf("GET: %d", resp.StatusCode)
	}
}

func TestStallEndsWithTheClient(t *testing.T) {
	s := NewServer(t, Sequence(ChatReply{Chunks: []string{"a"}, Stall: true}))
	resp, err := s.Client().Post(s.URL+chatPath, "application/json", strings.NewReader(streamBody))
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1)
	if _, err := resp.Body.Read(buf); err != nil && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	resp.Body.Close() // the server's Close would hang otherwise
}
