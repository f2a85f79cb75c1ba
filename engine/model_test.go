package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/llmtest"
)

// A vector that cannot be stored fails its document and nothing else.
func TestUnusableVectorsAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		hook func(texts []string, vecs [][]float32) ([][]float32, error)
		want error
		says []string
	}{
		{"wrong dimension", func(_ []string, v [][]float32) ([][]float32, error) { v[0] = v[0][:7]; return v, nil },
			ErrMismatch, []string{"128", "7"}},
		{"one vector short", func(_ []string, v [][]float32) ([][]float32, error) { return v[1:], nil },
			llm.ErrBadResponse, []string{"vectors for"}},
		{"one vector too many", func(_ []string, v [][]float32) ([][]float32, error) { return append(v, v[0]), nil },
			llm.ErrBadResponse, []string{"vectors for"}},
		{"no vectors", func([]string, [][]float32) ([][]float32, error) { return nil, nil }, llm.ErrBadResponse, nil},
		{"nil vector", func(_ []string, v [][]float32) ([][]float32, error) { v[1] = nil; return v, nil }, ErrMismatch, nil},
		{"NaN", func(_ []string, v [][]float32) ([][]float32, error) { v[1][3] = float32(math.NaN()); return v, nil },
			ErrInvalid, []string{"NaN"}},
		{"Inf", func(_ []string, v [][]float32) ([][]float32, error) { v[1][3] = float32(math.Inf(-1)); return v, nil },
			ErrInvalid, []string{"Inf"}},
		{"zero", func(_ []string, v [][]float32) ([][]float32, error) { clear(v[1]); return v, nil }, ErrInvalid, []string{"zero"}},
		{"error", func([]string, [][]float32) ([][]float32, error) { return nil, llm.ErrUnavailable }, llm.ErrUnavailable, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := &words{}
			o := testOptions(&fakeModel{})
			o.Embedder = e
			db := opened(t, "store", o)
			inserted(t, db, corpus(1)...)
			before := exported(t, db)
			e.hook = tt.hook
			rep, err := db.Insert(t.Context(), doc("bad", "@e|Alpha|t|One.", "@e|Hub|t|Again."))
			if err != nil {
				t.Fatal(err)
			}
			d := rep.Documents[0]
			if d.Status != StatusFailed || !errors.Is(d.Err, tt.want) {
				t.Fatalf("%+v", d)
			}
			for _, s := range tt.says {
				if !strings.Contains(d.Err.Error(), s) {
					t.Errorf("%v does not name %q", d.Err, s)
				}
			}
			if got := exported(t, db); got != before {
				t.Errorf("something was committed:\n%s", got)
			}
			if _, err := db.Retrieve(t.Context(), Query{Text: "What is the hub?", Mode: Local, LowLevel: []string{"hub"}, Match: MatchVectors}); !errors.Is(err, tt.want) {
				t.Errorf("Retrieve: %v", err)
			}
			e.hook = nil
			if rep, err := db.Retry(t.Context()); err != nil || rep.Count(StatusProcessed) != 1 {
				t.Errorf("retry: %v %+v", err, rep)
			}
			sound(t, db)
		})
	}
}

// served opens a store whose models are a scripted server.
func served(t *testing.T, dir string, chat llmtest.Handler, edit func(*llm.OpenAIOptions)) (*DB, *llmtest.Server) {
	t.Helper()
	srv := llmtest.NewServer(t, chat)
	co := llm.OpenAIOptions{BaseURL: srv.URL, Model: "m", APIKey: secretKey, Retries: -1, RetryMin: time.Millisecond}
	if edit != nil {
		edit(&co)
	}
	model, err := llm.NewOpenAI(co)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	o := testOptions(model)
	o.Gleaning = -1
	if dir != "" {
		o.Storage.FS = nil
	} else {
		dir = "store"
	}
	return opened(t, dir, o), srv
}

const secretKey = "sk-this-must-never-be-seen-1234567890"

func TestAnswersThatAreNone(t *testing.T) {
	for _, tt := range []struct {
		name   string
		reply  llmtest.ChatReply
		status DocumentStatus
		failed int // chunks
	}{
		{"error object with status 200", llmtest.ChatReply{Body: `{"error":{"message":"upstream broke","type":"x"}}`}, StatusProcessed, 1},
		{"no choices", llmtest.ChatReply{Body: `{"id":"x","object":"chat.completion","choices":[]}`}, StatusProcessed, 1},
		{"refusal", llmtest.ChatReply{Refuse: "I cannot help with that."}, StatusProcessed, 1},
		{"length limit before the first word", llmtest.ChatReply{FinishReason: "length"}, StatusProcessed, 1},
		{"prose", llmtest.ChatReply{Text: "I'm sorry, but I can't assist with that."}, StatusProcessed, 1},
		{"nothing found", llmtest.ChatReply{Text: "<|COMPLETE|>"}, StatusProcessed, 0},
		{"not JSON", llmtest.ChatReply{Body: `<html>gateway</html>`}, StatusProcessed, 1},
		{"cut short", llmtest.ChatReply{Text: "entity<|#|>A<|#|>t<|#|>x", Cut: true}, StatusFailed, 0},
		{"server error", llmtest.ChatReply{Status: 500}, StatusFailed, 0},
		{"rate limit", llmtest.ChatReply{Status: 429}, StatusFailed, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ok := false
			db, _ := served(t, "", func(r llmtest.ChatRequest) llmtest.ChatReply {
				if ok {
					return scripted(r)
				}
				return tt.reply
			}, nil)
			rep, err := db.Insert(t.Context(), doc("a", "@e|Alpha|t|One."))
			if err != nil {
				t.Fatal(err)
			}
			d := rep.Documents[0]
			if d.Status != tt.status || d.FailedChunks != tt.failed || (d.Status == StatusFailed) != (d.Err != nil) {
				t.Errorf("%+v", d)
			}
			if n, err := db.CacheStats(); err != nil || n.Answers > 0 && tt.name != "nothing found" {
				t.Errorf("%d useless answers are cached: %v", n.Answers, err)
			}
			// The passage can be found all the same, once it is committed.
			if r, err := db.Retrieve(t.Context(), Query{Text: "Alpha", Mode: Naive}); err != nil || r.Found != (tt.status == StatusProcessed) {
				t.Errorf("Retrieve: %v %+v", err, r)
			}
			ok = true
			if _, err := db.Retry(t.Context()); err != nil {
				t.Error(err)
			}
			sound(t, db)
		})
	}
}

// With FailDocument an unusable answer fails the document, and a retry asks
// the model again.
func TestAnUnusableAnswerIsAskedForAgain(t *testing.T) {
	bad := true
	m := &fakeModel{}
	m.hook = func(_ context.Context, req *llm.Request) (llm.Response, bool, error) {
		return llm.Response{Text: "- a bullet list"}, bad && req.Task == llm.TaskExtract, nil
	}
	o := testOptions(m)
	o.ChunkPolicy = FailDocument
	db := opened(t, "store", o)
	rep, err := db.Insert(t.Context(), doc("a", "@e|Alpha|t|One."))
	if err != nil || rep.Documents[0].Status != StatusFailed || !strings.Contains(rep.Documents[0].Err.Error(), "1 of 1 chunks") {
		t.Fatalf("%v %+v", err, rep)
	}
	bad = false
	if rep, err = db.Retry(t.Context(), "a"); err != nil || rep.Count(StatusProcessed) != 1 {
		t.Fatalf("%v %+v", err, rep)
	}
	if !strings.Contains(exported(t, db), "Alpha") {
		t.Error("nothing was extracted")
	}
}

// A refused key ends the call at once. It stands in no error and no file.
func TestARefusedKeyEndsTheCall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	refuse := true
	db, srv := served(t, dir, func(r llmtest.ChatRequest) llmtest.ChatReply {
		if refuse {
			return llmtest.ChatReply{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: ` + secretKey + `","code":"invalid_api_key"}}`}
		}
		return scripted(r)
	}, nil)
	docs := corpus(20)
	rep, err := db.Insert(t.Context(), docs...)
	if !errors.Is(err, llm.ErrAuth) {
		t.Fatalf("Insert: %v", err)
	}
	if n := len(srv.Chats()); n > 8 {
		t.Errorf("%d calls after the key was refused", n)
	}
	texts := fmt.Sprintf("%v %+v", err, rep)
	for _, d := range rep.Documents {
		if d.Status != StatusPending {
			t.Errorf("%s is %s", d.ID, d.Status)
		}
		texts += fmt.Sprint(d.Err)
	}
	list, err := db.Documents()
	if err != nil || len(list) != len(docs) {
		t.Fatal(err, len(list))
	}
	for _, d := range list {
		if d.Status != StatusPending {
			t.Errorf("%s is stored as %s", d.ID, d.Status)
		}
	}
	texts += fmt.Sprintf("%+v", list)
	_, qerr := db.Query(t.Context(), Query{Text: "hub"})
	if !errors.Is(qerr, llm.ErrAuth) {
		t.Errorf("Query: %v", qerr)
	}
	if texts += fmt.Sprint(qerr); strings.Contains(texts, secretKey) {
		t.Error("the key stands in an error or a report")
	}
	refuse = false
	if rep, err := db.Resume(t.Context()); err != nil || rep.Count(StatusProcessed) != len(docs) {
		t.Fatalf("resume: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	files := 0
	if err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files++
		if bytes.Contains(b, []byte(secretKey)) || bytes.Contains(b, []byte(secretKey[10:])) {
			t.Errorf("%s holds the key", path)
		}
		return err
	}); err != nil || files < 3 {
		t.Errorf("%d files: %v", files, err)
	}
}

func TestARateLimitIsWaitedFor(t *testing.T) {
	var refused atomic.Int32
	var first atomic.Int64
	db, srv := served(t, "", func(r llmtest.ChatRequest) llmtest.ChatReply {
		if first.CompareAndSwap(0, time.Now().UnixNano()) {
			refused.Add(1)
			return llmtest.ChatReply{Status: 429, RetryAfter: "1"}
		}
		return scripted(r)
	}, func(o *llm.OpenAIOptions) { o.Retries = 2 })
	inserted(t, db, doc("a", "@e|Alpha|t|One."))
	if waited := time.Since(time.Unix(0, first.Load())); waited < time.Second {
		t.Errorf("tried again after %v", waited)
	}
	if n := len(srv.Chats()); n != 2 {
		t.Errorf("%d calls", n)
	}
}

func TestAStreamThatIsCutKeepsWhatCame(t *testing.T) {
	db, _ := served(t, "", func(r llmtest.ChatRequest) llmtest.ChatReply {
		if r.Stream {
			return llmtest.ChatReply{Chunks: []string{"half ", "an"}, Cut: true}
		}
		return scripted(r)
	}, nil)
	inserted(t, db, doc("a", "@e|Alpha|t|One."))
	var got strings.Builder
	r, err := db.Query(t.Context(), Query{Text: "Alpha", Mode: Naive, Stream: func(e Event) error {
		got.WriteString(e.Text)
		if e.Type == EventDone {
			t.Error("a cut stream was reported as done")
		}
		return nil
	}})
	if !errors.Is(err, llm.ErrStreamCut) || r == nil || r.Answer != "half an" || got.String() != "half an" {
		t.Errorf("%v %+v, streamed %q", err, r, got.String())
	}
	if n, err := db.CacheStats(); err != nil || n.Answers != 1 { // the extraction
		t.Errorf("%+v %v", n, err)
	}
}

// One summary that the model will not make holds up neither the others nor
// the documents that follow.
func TestARefusedSummaryStopsNothing(t *testing.T) {
	refuse := true
	m := &fakeModel{}
	m.hook = func(_ context.Context, req *llm.Request) (llm.Response, bool, error) {
		if refuse && req.Task == llm.TaskSummary && req.Input.Name == "Hub" {
			return llm.Response{}, true, llm.ErrRefused
		}
		return llm.Response{}, false, nil
	}
	o := testOptions(m)
	o.SummaryFragments = 4
	var log logged
	o.Logger = slogOf(&log)
	db := opened(t, "store", o)
	docs := corpus(6)
	rep := inserted(t, db, docs...)
	if rep.Stale != 1 || !errors.Is(rep.StaleErr, llm.ErrRefused) || !strings.Contains(log.String(), "stale") {
		t.Errorf("%d stale: %v; log: %s", rep.Stale, rep.StaleErr, log.String())
	}
	v := db.View()
	hub, err := v.Entity("Hub")
	v.Close()
	if err != nil || !hub.Pending || !strings.Contains(exported(t, db), "summary of") {
		t.Errorf("%+v %v", hub, err)
	}
	if err := db.Refresh(t.Context()); !errors.Is(err, llm.ErrRefused) {
		t.Errorf("Refresh: %v", err)
	}
	refuse = false
	if err := db.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	o = testOptions(&fakeModel{})
	o.SummaryFragments = 4
	fresh := opened(t, "fresh", o)
	inserted(t, fresh, docs...)
	if exported(t, db) != exported(t, fresh) {
		t.Error("the graph differs once the summary is made")
	}
	sound(t, db)
}

// Deleting works while the embedder is down; what it leaves stale is counted
// and made up for later.
func TestDeletingWithTheEmbedderDown(t *testing.T) {
	e := &words{}
	o := testOptions(&fakeModel{})
	o.Embedder = e
	db := opened(t, "store", o)
	docs := corpus(3)
	inserted(t, db, docs...)
	e.hook = func([]string, [][]float32) ([][]float32, error) { return nil, llm.ErrUnavailable }
	rep, err := db.DeleteDocuments(t.Context(), docs[1].ID)
	if err != nil || len(rep.Deleted) != 1 || rep.Stale == 0 {
		t.Fatalf("%v %+v", err, rep)
	}
	if strings.Contains(exported(t, db), docs[1].ID) {
		t.Error("the document still shows")
	}
	e.hook = nil
	if err := db.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, err := db.Stats(); err != nil || s.Stale != 0 {
		t.Errorf("%d stale: %v", s.Stale, err)
	}
	sound(t, db)
}

// An embedder is never handed all of a huge document at once.
func TestAHugeDocumentIsEmbeddedInBatches(t *testing.T) {
	most, sum := 0, 0
	e := &words{dim: 8, hook: func(texts []string, vecs [][]float32) ([][]float32, error) {
		most, sum = max(most, len(texts)), sum+len(texts)
		return vecs, nil
	}}
	o := testOptions(&fakeModel{})
	o.Embedder, o.Gleaning = e, -1
	db := opened(t, "store", o)
	d := Document{ID: "a"}
	for i := range embedTexts + 10 {
		d.Chunks = append(d.Chunks, Chunk{Order: i, Content: fmt.Sprint("chunk ", i)})
	}
	inserted(t, db, d)
	if most > embedTexts || sum != len(d.Chunks) {
		t.Errorf("%d texts at once, %d in all", most, sum)
	}
}
