package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Fake is the scripted server as an http.Handler. Paths that end in
// /chat/completions and /embeddings are served, /models lists one model.
type Fake struct {
	mu     sync.Mutex
	chat   Handler
	embed  EmbedHandler
	chats  []ChatRequest
	embeds []EmbedRequest
}

// New returns a Fake. A nil script means the default, see the package.
func New(chat Handler, embed EmbedHandler) *Fake { return &Fake{chat: chat, embed: embed} }

// Handler returns the Fake as what an http.Server takes.
func (f *Fake) Handler() http.Handler { return f }

// OnChat replaces the chat script.
func (f *Fake) OnChat(h Handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.chat = h
}

// OnEmbed replaces the embeddings script.
func (f *Fake) OnEmbed(h EmbedHandler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.embed = h
}

// Chats returns the chat requests received so far.
func (f *Fake) Chats() []ChatRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.chats)
}

// Embeds returns the embeddings requests received so far.
func (f *Fake) Embeds() []EmbedRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.embeds)
}

// TB is what NewServer needs of a testing.TB. That type itself would link the
// testing package into programs.
type TB interface {
	Helper()
	Cleanup(func())
}

// Server is a Fake that listens.
type Server struct {
	*Fake
	URL string // without a slash at the end
	srv *httptest.Server
}

// NewServer starts a server that is closed when the test ends. A nil script
// means the default; see OnEmbed for that of embeddings.
func NewServer(t TB, chat Handler) *Server {
	t.Helper()
	f := New(chat, nil)
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	return &Server{Fake: f, URL: srv.URL, srv: srv}
}

// Client returns an http.Client whose connections end with the server.
func (s *Server) Client() *http.Client { return s.srv.Client() }

// maxBody bounds what is read of a request.
const maxBody = 64 << 20

// ServeHTTP records and answers one request.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeError(w, http.StatusRequestEntityTooLarge, err.Error())
		return
	}
	path := r.URL.Path
	if r.URL.RawQuery != "" {
		path += "?" + r.URL.RawQuery
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/models"):
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": "fake", "object": "model"}}})
	case r.Method != http.MethodPost:
		writeError(w, http.StatusMethodNotAllowed, "use POST")
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		req := ChatRequest{Header: r.Header.Clone(), Raw: body, Path: path}
		if err := json.Unmarshal(body, &req); err != nil {
			writeError(w, http.StatusBadRequest, err.Error())
			return
		}
		f.mu.Lock()
		req.Number = len(f.chats)
		f.chats = append(f.chats, req)
		h := f.chat
		f.mu.Unlock()
		reply := ChatReply{Echo: true}
		if h != nil {
			reply = h(req)
		}
		answerChat(w, r, req, reply)
	case strings.HasSuffix(r.URL.Path, "/embeddings"):
		req := EmbedRequest{Header: r.Header.Clone(), Raw: body, Path: path}
		if err := json.Unmarshal(body, &req); err != nil {
			writeError(w, http.StatusBadRequest, err.Error())
			return
		}
		f.mu.Lock()
		req.Number = len(f.embeds)
		f.embeds = append(f.embeds, req)
		h := f.embed
		f.mu.Unlock()
		var reply EmbedReply
		if h != nil {
			reply = h(req)
		}
		answerEmbed(w, r, req, reply)
	default:
		writeError(w, http.StatusNotFound, "no such path: "+r.URL.Path)
	}
}

// wait lets d pass and reports whether the client is still there.
func wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have left
}

func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{
		"message": message, "type": fmt.Sprintf("status_%d", status),
	}})
}
