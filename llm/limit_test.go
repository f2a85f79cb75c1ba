package llm

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// hold takes a permit or fails the test.
func hold(t *testing.T, l *Limiter, p Priority, tokens int) *Permit {
	t.Helper()
	permit, err := l.Acquire(t.Context(), p, tokens)
	if err != nil {
		t.Fatal(err)
	}
	return permit
}

func TestLimiterBoundsConcurrency(t *testing.T) {
	l := NewLimiter(LimitOptions{Concurrency: 3})
	var mu sync.Mutex
	now, most := 0, 0
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			p := hold(t, l, Priority(i%3), 1)
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(100 * time.Microsecond)
			mu.Lock()
			now--
			mu.Unlock()
			p.Release(1)
			p.Release(1) // a second time is nothing
		})
	}
	wg.Wait()
	if most != 3 || l.used != 0 {
		t.Errorf("%d at a time, %d still in use", most, l.used)
	}
}

func TestLimiterServesByPriorityThenArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(LimitOptions{Concurrency: 1})
		first := hold(t, l, PriorityQuery, 0)
		var order []int
		for i, p := range []Priority{PriorityExtract, PriorityExtract, PrioritySummary, PriorityQuery, PriorityQuery} {
			go func() {
				permit := hold(t, l, p, 0)
				order = append(order, i)
				permit.Release(-1)
			}()
			synctest.Wait() // until it stands in line
		}
		first.Release(-1)
		synctest.Wait()
		if !slices.Equal(order, []int{3, 4, 2, 0, 1}) {
			t.Errorf("order %v", order)
		}
	})
}

func TestLimiterStarvesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(LimitOptions{Concurrency: 1})
		first := hold(t, l, PriorityQuery, 0)
		var order []Priority
		wait := func(p Priority) {
			go func() {
				permit := hold(t, l, p, 0)
				order = append(order, p)
				permit.Release(-1)
			}()
			synctest.Wait()
		}
		wait(PriorityExtract)
		for range 20 {
			wait(PriorityQuery)
		}
		first.Release(-1)
		synctest.Wait()
		if at := slices.Index(order, PriorityExtract); at != overtakes {
			t.Errorf("the extraction came after %d questions, want %d", at, overtakes)
		}
	})
}

func TestLimiterKeepsTheRequestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(LimitOptions{RequestsPerMinute: 120}) // 2 a second, 10 at once
		start := time.Now()
		for range 30 {
			hold(t, l, PriorityExtract, 0).Release(-1)
		}
		if d := time.Since(start); d < 9900*time.Millisecond || d > 10100*time.Millisecond {
			t.Errorf("30 requests took %v, want 10 s", d)
		}
	})
}

func TestLimiterKeepsTheTokenRate(t *testing.T) {
	for name, tc := range map[string]struct {
		estimate, used, calls int
		want                  time.Duration
	}{
		"estimates are right":             {100, 100, 20, 10 * time.Second}, // 2,000 tokens less 1,000 at once, 100 a second
		"estimates are unknown":           {100, -1, 20, 10 * time.Second},
		"estimates are too low":           {50, 100, 21, 10 * time.Second}, // the debt of the last is nobody's wait
		"estimates are too high":          {200, 100, 20, 10 * time.Second},
		"a call larger than the bucket":   {3000, 3000, 2, 30 * time.Second},
		"a nonsensical report":            {1, math.MaxInt / 8, 2, 50 * time.Second}, // a minute less what the bucket held
		"a negative estimate is a zero":   {-5, 0, 100, 0},
		"nothing was used after all":      {100, 0, 30, 0},
		"a report of nothing for nothing": {0, 0, 100, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := NewLimiter(LimitOptions{TokensPerMinute: 6000}) // 100 a second, 1,000 at once
				start := time.Now()
				for range tc.calls {
					hold(t, l, PriorityExtract, tc.estimate).Release(tc.used)
				}
				if d := time.Since(start); (d - tc.want).Abs() > 2*time.Second {
					t.Errorf("took %v, want %v", d, tc.want)
				}
			})
		})
	}
}

func TestLimiterRateKeepsPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(LimitOptions{RequestsPerMinute: 12}) // one per 5 s, one at once
		hold(t, l, PriorityQuery, 0).Release(-1)
		var order []Priority
		for _, p := range []Priority{PriorityExtract, PriorityExtract, PriorityQuery} {
			go func() {
				permit := hold(t, l, p, 0)
				order = append(order, p)
				permit.Release(-1)
			}()
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if !slices.Equal(order, []Priority{PriorityQuery, PriorityExtract, PriorityExtract}) {
			t.Errorf("order %v: a question waits behind extractions for its rate", order)
		}
	})
}

func TestLimiterPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(LimitOptions{})
		l.Pause(7 * time.Second)
		l.Pause(time.Second) // a shorter one shortens nothing
		start := time.Now()
		hold(t, l, PriorityQuery, 0).Release(-1)
		if d := time.Since(start); d != 7*time.Second {
			t.Errorf("paused for %v", d)
		}
	})
}

func TestLimiterAcquireEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(LimitOptions{Concurrency: 1, TokensPerMinute: 60})
		first := hold(t, l, PriorityQuery, 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.Acquire(ctx, PriorityQuery, 10); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if _, err := l.Acquire(ctx, PriorityQuery, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("already over: %v", err)
		}
		first.Release(0)
		start := time.Now()
		hold(t, l, PriorityExtract, 10).Release(10) // what the other did not get is still there
		if d := time.Since(start); d != 0 {
			t.Errorf("waited %v", d)
		}
		// One that leaves the head of the line lets the next one through.
		cause := errors.New("gone")
		ctx2, leave := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() { _, err := l.Acquire(ctx2, PriorityQuery, 10); done <- err }()
		synctest.Wait()
		go func() { hold(t, l, PriorityExtract, 0).Release(0); done <- nil }()
		synctest.Wait()
		leave(cause)
		if err := <-done; !errors.Is(err, cause) && err != nil {
			t.Errorf("error %v", err)
		}
		<-done
	})
}

func TestLimiterIsShared(t *testing.T) {
	l := NewLimiter(LimitOptions{Concurrency: 1})
	c, _ := newChat(t, nil, func(o *OpenAIOptions) { o.Limiter = l })
	e, _ := newEmbed(t, nil, func(o *OpenAIEmbedOptions) { o.Limiter = l })
	p := hold(t, l, PriorityQuery, 0)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := c.Complete(ctx, ask("x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("chat: %v", err)
	}
	if _, err := e.Embed(ctx, []string{"x"}, PurposeQuery); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("embed: %v", err)
	}
	p.Release(0)
}
