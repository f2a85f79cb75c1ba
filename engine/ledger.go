package engine

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lightctl/lightrag/llm"
)

const (
	ledgerMeta  = "ledger"
	ledgerEvery = time.Second // between two writes of it
	loggedCalls = 64          // questions whose cost is kept one by one
	loggedText  = 160         // bytes of a question that are kept
)

// QueryCost is what one question cost.
type QueryCost struct {
	Time  time.Time `json:"time"`
	Text  string    `json:"text"` // its beginning
	Mode  Mode      `json:"mode"`
	Usage llm.Usage `json:"usage"`
}

// QueryCosts is what questions cost. Those that the cache or the offline pair
// answered cost nothing and are not counted.
type QueryCosts struct {
	Count int         `json:"count"` // over the life of the store
	Usage llm.Usage   `json:"usage"`
	Last  []QueryCost `json:"last"` // the newest 64, oldest first
}

// ledger counts model calls and tokens over the life of a store: by task, and
// of questions. What documents cost stands in their rows. It is saved at most
// once a second in the background, so that no question waits for a disk, and
// at the end of every Insert and in Close: a process that is killed loses the
// counts of its last second.
type ledger struct {
	mu    sync.Mutex
	state ledgerState
	dirty bool
	timer *time.Timer // runs when there is something to save
	flush func()      // nil: never saved

	saving sync.Mutex // so that an older state never overwrites a newer one
}

type ledgerState struct {
	Tasks   map[string]llm.Usage `json:"tasks"`
	Queries QueryCosts           `json:"queries"`
	// Extractors are the models that extracted, sorted; the list is never changed in place.
	Extractors []string `json:"extractors,omitempty"`
}

// add books a call of a model.
func (l *ledger) add(task llm.Task, model string, u llm.Usage) {
	if u == (llm.Usage{}) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if task == llm.TaskExtract {
		if i, known := slices.BinarySearch(l.state.Extractors, model); !known {
			l.state.Extractors = slices.Insert(slices.Clone(l.state.Extractors), i, model)
		}
	}
	if l.state.Tasks == nil {
		l.state.Tasks = make(map[string]llm.Usage)
	}
	l.state.Tasks[task.String()] = l.state.Tasks[task.String()].Add(u)
	l.changed()
}

func (l *ledger) addQuery(c QueryCost) {
	if c.Usage == (llm.Usage{}) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	q := &l.state.Queries
	q.Count++
	q.Usage = q.Usage.Add(c.Usage)
	if len(q.Last) >= loggedCalls {
		q.Last = slices.Delete(q.Last, 0, len(q.Last)-loggedCalls+1)
	}
	q.Last = append(q.Last, c)
	l.changed()
}

// changed sees to it that what was added is saved. l.mu is held.
func (l *ledger) changed() {
	l.dirty = true
	if l.flush != nil && l.timer == nil {
		l.timer = time.AfterFunc(ledgerEvery, l.flush)
	}
}

func (l *ledger) byTask() map[string]llm.Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make(map[string]llm.Usage, len(l.state.Tasks))
	maps.Copy(out, l.state.Tasks)
	return out
}

// extractors lists the models that extracted; the list is the ledger's own.
func (l *ledger) extractors() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.Extractors
}

func (l *ledger) queries() QueryCosts {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.state.Queries
	q.Last = slices.Clone(q.Last)
	return q
}

func (l *ledger) load(b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return json.Unmarshal(b, &l.state)
}

// save writes the encoded ledger, if anything was added since it was last
// written.
func (l *ledger) save(write func([]byte) error) error {
	l.saving.Lock()
	defer l.saving.Unlock()
	b, err := l.take()
	if err == nil && b != nil {
		err = write(b)
	}
	if err != nil {
		l.mu.Lock()
		l.dirty = true // for the next one that adds
		l.mu.Unlock()
	}
	return err
}

func (l *ledger) take() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	if !l.dirty {
		return nil, nil
	}
	l.dirty = false
	return json.Marshal(&l.state)
}

// recordQuery books what a question cost. It does not wait for a disk.
func (db *DB) recordQuery(q *Query, u llm.Usage) {
	db.ledger.addQuery(QueryCost{Time: db.opts.now().UTC().Truncate(time.Second), Text: cutBytes(q.Text, loggedText), Mode: q.Mode, Usage: u})
}

// cutBytes returns the longest beginning of s of at most n bytes that ends
// between two characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// Ledger returns the calls and tokens spent by task since the store was made.
func (db *DB) Ledger() map[string]llm.Usage { return db.ledger.byTask() }

// QueryCosts returns what questions cost.
func (db *DB) QueryCosts() QueryCosts { return db.ledger.queries() }

// saveLedger writes what was counted since the last time.
func (db *DB) saveLedger() error {
	if db.opts.ReadOnly {
		return nil
	}
	return db.ledger.save(func(b []byte) error { return db.store.SetMeta(ledgerMeta, b) })
}

// flushLedger is saveLedger in the background.
func (db *DB) flushLedger() {
	if db.begin(true) != nil { // Close saves it, or cannot
		return
	}
	defer db.end()
	if err := db.saveLedger(); err != nil {
		db.opts.Logger.Warn("lightrag: the token ledger was not saved", "error", err)
	}
}
