package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/lightctl/lightrag/bench/measure"
	"github.com/lightctl/lightrag/bench/store"
	"github.com/lightctl/lightrag/engine"
)

// root is the folder of all stores of the process.
var root string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	root = dir
	code := m.Run()
	if shared.db != nil {
		shared.db.Close()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// probes is how many documents follow the chunks of the shared store.
const probes = 400

// shared is the store that most benchmarks read: built once, open until the
// end. Its files at closed are those of a copy that nobody opens.
var shared struct {
	once   sync.Once
	err    error
	chunks int
	corpus *store.Corpus
	db     *engine.DB
	closed string
}

func sharedStore(b *testing.B) {
	b.Helper()
	shared.once.Do(func() {
		s := &shared
		s.chunks = store.Chunks20k
		if testing.Short() {
			s.chunks = store.Chunks5k
		}
		s.corpus = store.NewCorpus(s.chunks + probes*store.PerDocument)
		s.closed = filepath.Join(root, "closed")
		if _, s.err = s.corpus.Build(context.Background(), s.closed, s.chunks); s.err != nil {
			return
		}
		dir := filepath.Join(root, "shared")
		if s.err = os.CopyFS(dir, os.DirFS(s.closed)); s.err != nil {
			return
		}
		s.db, s.err = engine.Open(dir, s.corpus.Options())
	})
	if shared.err != nil {
		b.Fatal(shared.err)
	}
}

// copyStore returns a copy of the shared store, not open, of the benchmark's
// own.
func copyStore(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "store")
	if err := os.CopyFS(dir, os.DirFS(shared.closed)); err != nil {
		b.Fatal(err)
	}
	return dir
}

// times collects the wall time of every iteration. Like b.Loop it must not be
// shared.
type times struct {
	sample measure.Sample
	start  time.Time
}

func (t *times) begin() { t.start = time.Now() }
func (t *times) end()   { t.sample = append(t.sample, time.Since(t.start)) }

func (t *times) report(b *testing.B) {
	for _, p := range []float64{50, 90, 99} {
		b.ReportMetric(float64(t.sample.Percentile(p)), fmt.Sprintf("p%v-ns", p))
	}
}
