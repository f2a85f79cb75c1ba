package llm

import (
	"context"
	"maps"
	"sync"
)

// Ledger sums usage per task. The zero value is ready, and it is safe for
// concurrent use.
type Ledger struct {
	mu    sync.Mutex
	tasks map[Task]Usage
}

// Add counts u towards t.
func (l *Ledger) Add(t Task, u Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tasks == nil {
		l.tasks = make(map[Task]Usage)
	}
	l.tasks[t] = l.tasks[t].Add(u)
}

// ByTask returns a copy of the sums; tasks without a call are absent.
func (l *Ledger) ByTask() map[Task]Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.tasks)
}

// Total returns the sum over all tasks.
func (l *Ledger) Total() Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	var sum Usage
	for _, u := range l.tasks {
		sum = sum.Add(u)
	}
	return sum
}

// Metered returns a Completer that answers through c and counts into l what each
// call used, failed ones included: a bad answer is paid for like a good one.
func Metered(c Completer, l *Ledger) Completer { return metered{c, l} }

type metered struct {
	Completer
	ledger *Ledger
}

func (m metered) Complete(ctx context.Context, req Request) (Response, error) {
	resp, err := m.Completer.Complete(ctx, req)
	if resp.Usage != (Usage{}) {
		m.ledger.Add(req.Task, resp.Usage)
	}
	return resp, err
}
