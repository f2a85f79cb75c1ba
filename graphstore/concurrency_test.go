package graphstore

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/lightctl/lightrag/format"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestReadersSeeWholeCommits runs readers against commits, deletes, refreshes
// and seals. Every document mentions every name of its group, so that a reader
// can tell half a commit.
func TestReadersSeeWholeCommits(t *testing.T) {
	s, sink := opened(t, vfs.NewMem(), func(o *Options) { o.SealBytes = 256 })
	ctx := context.Background()
	stop := make(chan struct{})
	var readers, writers sync.WaitGroup
	var views atomic.Int64
	for range 3 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				v, err := s.View()
				if err != nil {
					t.Error(err)
					return
				}
				wholeCommits(t, v, sink)
				v.Close()
				v.Close()
				views.Add(1)
			}
		}()
	}
	for w := range 4 {
		writers.Add(1)
		go func() {
			defer writers.Done()
			for i := range 12 {
				group := (w + i) % 3
				d := &testDoc{id: fmt.Sprintf("%d %d", w, i), chunks: []testChunk{{}}}
				c := &d.chunks[0]
				for n := range 3 {
					c.entities = append(c.entities, e(uint16(n), fmt.Sprintf("G%d N%d", group, n), "t", fmt.Sprint(w, i)))
				}
				c.relations = []RelationFragment{
					r(10, fmt.Sprintf("G%d N0", group), fmt.Sprintf("G%d N1", group), "x", 1),
					r(11, fmt.Sprintf("G%d N1", group), fmt.Sprintf("G%d N2", group), "y", 1),
				}
				doc := insert(t, s, d)
				if i%3 == 2 {
					if _, err := s.Delete(ctx, []DocID{doc}, DeleteOptions{}); err != nil {
						t.Error(err)
					}
				}
			}
		}()
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if views.Load() == 0 {
		t.Error("no reader ran")
	}
	refreshAll(t, s)
	checked(t, s)
	vectorsMatch(t, s, sink)
	s.sealer.group.Wait()
	if s.Stats().Segments == 0 {
		t.Error("nothing was sealed")
	}
	if n := s.Stats().Documents; n != 4*8 {
		t.Errorf("%d documents", n)
	}
}

// wholeCommits fails if a view shows part of a commit.
func wholeCommits(t *testing.T, v *View, sink *memorySink) {
	t.Helper()
	for group := range 3 {
		counts := make(map[int]bool)
		for n := range 3 {
			id, ok, err := v.FindEntity(fmt.Sprintf("G%d N%d", group, n))
			if err != nil {
				t.Error(err)
			}
			if !ok {
				counts[0] = true
				continue
			}
			counts[len(v.Sources(format.KindEntity, uint32(id)))] = true
			all, err := v.AllSources(format.KindEntity, uint32(id))
			if err != nil {
				t.Error(err)
			}
			counts[len(all)] = true
			if want := []int{1, 2, 1}[n]; v.Degree(id) != want {
				t.Errorf("degree %d of N%d", v.Degree(id), n)
			}
			if slot, ok := v.Slot(format.KindEntity, uint32(id)); ok {
				if row := sink.row(format.KindEntity, slot); row.owner != uint32(id) || slot >= v.Bound(format.KindEntity) {
					t.Errorf("slot %d of entity %d holds %+v", slot, id, row)
				}
			}
		}
		if len(counts) > 1 {
			t.Errorf("view %d: group %d has counts %v", v.Seq(), group, counts)
		}
	}
}

func TestPublicationFollowsTheSequence(t *testing.T) {
	s, _ := opened(t, vfs.NewMem(), nil)
	var group sync.WaitGroup
	for w := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range 10 {
				d := oneChunk(fmt.Sprint(w, " ", i), fmt.Sprint("E", w, i))
				doc := register(t, s, d)
				info := commit(t, s, d, doc)
				v, err := s.View() // what was acknowledged is there
				if err != nil {
					t.Error(err)
					return
				}
				if row, err := v.Document(doc); err != nil || row.Status != format.StatusProcessed || v.Seq() < info.Seq {
					t.Errorf("%+v, %v, view %d of commit %d", row, err, v.Seq(), info.Seq)
				}
				v.Close()
			}
		}()
	}
	group.Wait()
	checked(t, s)
}

func TestLeakedViewsAreClosedAndLogged(t *testing.T) {
	var mu sync.Mutex
	var log strings.Builder
	h := slog.NewTextHandler(writerFunc(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return log.Write(b)
	}), nil)
	s, _ := opened(t, vfs.NewMem(), func(o *Options) { o.Logger = slog.New(h) })
	func() {
		v, err := s.View()
		if err != nil {
			t.Fatal(err)
		}
		_ = v.Seq()
	}()
	insert(t, s, oneChunk("a", "A"))
	logged := func() string {
		mu.Lock()
		defer mu.Unlock()
		return log.String()
	}
	said := func() bool { return strings.Contains(logged(), "view was not closed") }
	for range 500 { // the cleanup has a goroutine of its own
		runtime.GC()
		if s.Stats().Views == 0 && said() {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if s.Stats().Views != 0 || !said() {
		t.Errorf("%d views, log %q", s.Stats().Views, logged())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestCloseWaitsForViewsThenSaysHowManyThereAre(t *testing.T) {
	o, _ := testOptions(vfs.NewMem())
	s, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	s.wait = 20 * time.Millisecond
	insert(t, s, oneChunk("a", "Alice"))
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "1 views are still open") {
		t.Errorf("%v", err)
	}
	if _, ok, err := v.FindEntity("Alice"); !ok || err != nil {
		t.Errorf("the view is not readable: %v %v", ok, err)
	}
	s.wait = 10 * time.Second
	go func() {
		time.Sleep(20 * time.Millisecond)
		v.Close()
	}()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := v.FindEntity("Alice"); err == nil {
		t.Error("a closed view is read")
	}
}
