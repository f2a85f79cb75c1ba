package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/llmtest"
)

const killConcurrency = 3

// scripted answers chat requests from the text that stands in them.
func scripted(r llmtest.ChatRequest) llmtest.ChatReply {
	first := ""
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			return llmtest.ChatReply{Text: "<|COMPLETE|>"}
		}
		if m.Role == "user" && first == "" {
			first = m.Content
		}
	}
	if strings.Contains(first, `{"Description"`) {
		return llmtest.ChatReply{Text: digest([]string{first})}
	}
	return llmtest.ChatReply{Text: records(first)}
}

func servedOptions(url string) (Options, func(), error) {
	chat, err := llm.NewOpenAI(llm.OpenAIOptions{BaseURL: url, Model: "m", APIKey: "secret", RetryMin: time.Millisecond})
	if err != nil {
		return Options{}, nil, err
	}
	embed, err := llm.NewOpenAIEmbedder(llm.OpenAIEmbedOptions{BaseURL: url, Model: "e", Dim: llmtest.DefaultDim, RetryMin: time.Millisecond})
	if err != nil {
		return Options{}, nil, err
	}
	o := testOptions(chat)
	o.Embedder, o.Storage.FS, o.Concurrency, o.ChunkTokens, o.ChunkOverlap = embed, nil, killConcurrency, 24, -1
	o.SummaryFragments = 3
	return o, func() { chat.Close(); embed.Close() }, nil
}

func killDocuments() []Document {
	var docs []Document
	for i := range 3 {
		var lines []string
		for j := range 4 {
			lines = append(lines,
				fmt.Sprintf("@e|Observatory|building|Statement %d of document %d on the hub.", j, i),
				fmt.Sprintf("@r|Observatory|Star %d|sky, light|Sighting %d in document %d.", j+i, j, i))
		}
		docs = append(docs, doc(fmt.Sprint("night ", i), lines...))
	}
	return docs
}

func helpInsert(args []string) error {
	o, done, err := servedOptions(args[1])
	if err != nil {
		return err
	}
	defer done()
	db, err := Open(args[0], o)
	if err != nil {
		return err
	}
	rep, err := db.Insert(context.Background(), killDocuments()...)
	if err == nil {
		err = rep.StaleErr
	}
	return errors.Join(err, db.Close())
}

// helper returns a command that runs the test binary as a helper process.
func helper(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), helperEnv+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// TestKilledProcessResumes kills a process that indexes, at several points,
// and finishes its work in another one.
func TestKilledProcessResumes(t *testing.T) {
	srv := llmtest.NewServer(t, scripted)
	undisturbed := filepath.Join(t.TempDir(), "store")
	if err := helper(t, "insert", undisturbed, srv.URL).Run(); err != nil {
		t.Fatal(err)
	}
	all := len(srv.Chats())
	want := finished(t, undisturbed, srv.URL, 0)
	if n := len(srv.Chats()); n != all {
		t.Fatalf("%d calls to open a finished store", n-all)
	}
	if strings.Count(want, `"kind":"entity"`) < 4 || !strings.Contains(want, "summary of") {
		t.Fatalf("the undisturbed run made this graph:\n%s", want)
	}

	for _, at := range []int{2, 7, all - 3} {
		t.Run(fmt.Sprintf("after call %d of %d", at, all), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			reached := make(chan struct{})
			var once sync.Once
			srv := llmtest.NewServer(t, nil)
			srv.OnChat(func(r llmtest.ChatRequest) llmtest.ChatReply {
				if r.Number >= at {
					once.Do(func() { close(reached) })
				}
				reply := scripted(r)
				reply.Delay = time.Duration(r.Number%3) * 5 * time.Millisecond
				return reply
			})
			// The address is part of what a cached answer is kept under.
			cmd := helper(t, "insert", dir, srv.URL)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-reached
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // killed
			killed := len(srv.Chats())
			if got := finished(t, dir, srv.URL, 3); got != want {
				t.Errorf("the graph differs from that of an undisturbed run:\n%s\nwant\n%s", got, want)
			}
			seen := make(map[string]int)
			for _, r := range srv.Chats() {
				seen[string(r.Raw)]++
			}
			repeated := 0
			for _, n := range seen {
				repeated += n - 1
			}
			if len(seen) != all {
				t.Errorf("%d different calls, want %d", len(seen), all)
			}
			if repeated > killConcurrency {
				t.Errorf("%d calls were made twice, at most %d were in flight", repeated, killConcurrency)
			}
			t.Logf("killed after %d calls; %d repeated", killed, repeated)
		})
	}
}

// finished resumes a store, all of whose documents must be processed then, and
// returns its graph.
func finished(t *testing.T, dir, url string, docs int) string {
	t.Helper()
	o, done, err := servedOptions(url)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	db, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rep, err := db.Resume(t.Context())
	if err == nil {
		err = rep.StaleErr
	}
	if err != nil {
		t.Fatal(err)
	}
	list, err := db.Documents()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if d.Status != StatusProcessed {
			t.Errorf("document %q is %s: %s", d.ID, d.Status, d.Error)
		}
	}
	if docs > 0 && len(list) != docs {
		t.Errorf("%d documents, want %d", len(list), docs)
	}
	sound(t, db)
	return exported(t, db)
}
