package llm

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Priority orders calls that wait for a Limiter: lower goes first.
type Priority uint8

// The priorities: somebody waits for a question; a summary holds up a document
// that is otherwise done; an extraction is one of many.
const (
	PriorityQuery Priority = iota
	PrioritySummary
	PriorityExtract
	priorities = 3
)

// Priority returns the priority of calls for t.
func (t Task) Priority() Priority {
	switch t {
	case TaskSummary:
		return PrioritySummary
	case TaskExtract, TaskGlean:
		return PriorityExtract
	}
	return PriorityQuery
}

// overtakes is how many calls in a row may pass a waiting call of lower
// priority before that one has its turn.
const overtakes = 8

// LimitOptions bounds the use of one endpoint. Zero means no bound.
type LimitOptions struct {
	Concurrency       int // calls at the same time
	RequestsPerMinute int
	TokensPerMinute   int // prompt and completion together
}

// Limiter admits calls within its bounds: by priority, within one priority in
// order of arrival. One that is full of questions still lets every ninth call
// be one that waits with a lower priority. It owns no goroutine.
//
// The rates are token buckets that hold five seconds' worth of requests and ten
// seconds' worth of tokens, so that a burst does not spend a minute's allowance
// at once. A call that is larger than the bucket waits for a full one and leaves
// it in debt.
type Limiter struct {
	mu       sync.Mutex
	slots    int // 0 = unbounded
	used     int
	queues   [priorities][]*waiter
	seq      uint64
	passed   int // admissions in a row that passed a lower priority
	requests *rate.Limiter
	tokens   *rate.Limiter
	perMin   int // tokens per minute
	credit   int // tokens paid for by estimates and not used
	paused   time.Time
	timer    *time.Timer
}

type waiter struct {
	ready   chan struct{}
	granted bool
	tokens  int
	seq     uint64
}

// NewLimiter returns a Limiter with full buckets.
func NewLimiter(o LimitOptions) *Limiter {
	l := &Limiter{slots: max(o.Concurrency, 0), perMin: max(o.TokensPerMinute, 0)}
	if o.RequestsPerMinute > 0 {
		l.requests = rate.NewLimiter(rate.Limit(float64(o.RequestsPerMinute)/60), max(1, o.RequestsPerMinute/12))
	}
	if l.perMin > 0 {
		l.tokens = rate.NewLimiter(rate.Limit(float64(l.perMin)/60), max(1, l.perMin/6))
	}
	return l
}

// Acquire waits until a call of about the given number of tokens may start. The
// Permit must be released. The error is that of the context.
func (l *Limiter) Acquire(ctx context.Context, p Priority, tokens int) (*Permit, error) {
	if ctx.Err() != nil {
		return nil, waitError(ctx)
	}
	q := int(min(p, priorities-1))
	w := &waiter{ready: make(chan struct{}), tokens: max(tokens, 0)}
	l.mu.Lock()
	l.seq++
	w.seq = l.seq
	l.queues[q] = append(l.queues[q], w)
	l.dispatch()
	l.mu.Unlock()

	select {
	case <-w.ready:
		return &Permit{l: l, tokens: w.tokens}, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.granted { // both happened at once
		l.used--
		l.settle(w.tokens, 0)
	} else {
		l.remove(q, w)
	}
	l.dispatch()
	return nil, waitError(ctx)
}

func waitError(ctx context.Context) error {
	return fmt.Errorf("waiting for a turn: %w", context.Cause(ctx))
}

// Pause admits nothing for d: a server that refuses one call for being one too
// many refuses the others as well.
func (l *Limiter) Pause(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until := time.Now().Add(d); until.After(l.paused) {
		l.paused = until
	}
}

// Permit is the right to make one call.
type Permit struct {
	l      *Limiter
	tokens int
	once   sync.Once
}

// Release gives the right back. used is the number of tokens that the call took,
// which corrects the estimate; below zero means unknown. Further calls do
// nothing.
func (p *Permit) Release(used int) {
	p.once.Do(func() {
		p.l.mu.Lock()
		defer p.l.mu.Unlock()
		p.l.used--
		if used >= 0 {
			p.l.settle(p.tokens, used)
		}
		p.l.dispatch()
	})
}

// dispatch admits as many waiting calls as may start now and, if time alone
// holds up the next one, arranges to be called again. The lock is held.
func (l *Limiter) dispatch() {
	for {
		p, ok := l.next()
		if !ok || l.slots > 0 && l.used >= l.slots {
			if l.timer != nil {
				l.timer.Stop()
			}
			return
		}
		w := l.queues[p][0]
		if wait := l.reserve(w.tokens); wait > 0 {
			l.wake(wait)
			return
		}
		l.remove(p, w)
		l.count(p)
		l.used++
		w.granted = true
		close(w.ready)
	}
}

func (l *Limiter) wake(after time.Duration) {
	if l.timer != nil {
		l.timer.Reset(after)
		return
	}
	l.timer = time.AfterFunc(after, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.dispatch()
	})
}

// next returns the queue whose head goes next.
func (l *Limiter) next() (int, bool) {
	first := -1
	oldest := -1
	for p, q := range l.queues {
		switch {
		case len(q) == 0:
		case first < 0:
			first = p
		case oldest < 0 || q[0].seq < l.queues[oldest][0].seq:
			oldest = p
		}
	}
	if oldest >= 0 && l.passed >= overtakes {
		return oldest, true
	}
	return first, first >= 0
}

// count notes whether the admission of one call from queue p passed others.
func (l *Limiter) count(p int) {
	for _, q := range l.queues[p+1:] {
		if len(q) > 0 && l.passed < overtakes {
			l.passed++
			return
		}
	}
	l.passed = 0
}

func (l *Limiter) remove(p int, w *waiter) {
	l.queues[p] = slices.DeleteFunc(l.queues[p], func(o *waiter) bool { return o == w })
}

// reserve takes one request and the tokens from the buckets, or returns how
// long that has to wait and takes nothing.
func (l *Limiter) reserve(tokens int) time.Duration {
	now := time.Now()
	if d := l.paused.Sub(now); d > 0 {
		return d
	}
	var wait time.Duration
	var taken [2]*rate.Reservation
	if l.requests != nil {
		taken[0] = l.requests.ReserveN(now, 1)
		wait = taken[0].DelayFrom(now)
	}
	cost := max(tokens-l.credit, 0)
	first := cost
	if l.tokens != nil {
		first = min(cost, l.tokens.Burst())
		taken[1] = l.tokens.ReserveN(now, first)
		wait = max(wait, taken[1].DelayFrom(now))
	}
	if wait > 0 {
		for _, r := range taken {
			if r != nil {
				r.CancelAt(now)
			}
		}
		return wait
	}
	if l.tokens != nil {
		l.credit -= tokens - cost
		l.owe(cost - first)
	}
	return 0
}

// settle replaces an estimate by what was used.
func (l *Limiter) settle(estimate, used int) {
	if l.tokens == nil {
		return
	}
	if used >= estimate {
		l.owe(used - estimate)
	} else { // rate.Limiter cannot be refilled: the rest pays for later calls
		l.credit = min(l.credit+estimate-used, l.perMin)
	}
}

// owe takes n tokens that nobody waited for. The debt of one call is at most a
// minute's worth, so that a nonsensical report of a server stops nothing.
func (l *Limiter) owe(n int) {
	now := time.Now()
	for n = min(n, l.perMin); n > 0; {
		part := min(n, l.tokens.Burst())
		l.tokens.ReserveN(now, part)
		n -= part
	}
}
