package engine

import (
	"encoding/json"
	"sync"

	"github.com/lightctl/lightrag/llm"
)

const ledgerMeta = "ledger"

// ledger counts model calls and tokens by task, over the life of a store.
type ledger struct {
	mu    sync.Mutex
	tasks map[string]llm.Usage
	dirty bool

	saving sync.Mutex // so that an older state never overwrites a newer one
}

func (l *ledger) add(t llm.Task, u llm.Usage) {
	if u == (llm.Usage{}) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tasks == nil {
		l.tasks = make(map[string]llm.Usage)
	}
	l.tasks[t.String()] = l.tasks[t.String()].Add(u)
	l.dirty = true
}

func (l *ledger) snapshot() map[string]llm.Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make(map[string]llm.Usage, len(l.tasks))
	for k, v := range l.tasks {
		out[k] = v
	}
	return out
}

func (l *ledger) load(b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return json.Unmarshal(b, &l.tasks)
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
		l.dirty = true
		l.mu.Unlock()
	}
	return err
}

func (l *ledger) take() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.dirty {
		return nil, nil
	}
	l.dirty = false
	return json.Marshal(l.tasks)
}
