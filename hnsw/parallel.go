package hnsw

import (
	"sync"
	"sync/atomic"
)

// inParallel calls f for the numbers below n, by as many goroutines as there are workers, and returns the error of the
// lowest that has one: those below it are done.
func inParallel(n, workers int, f func(i int) error) error {
	if workers = min(n, workers, maxWorkers); workers <= 1 {
		for i := range n {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	var group sync.WaitGroup
	var next atomic.Int64
	errs := make([]error, n)
	for range workers {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[i] = f(i); errs[i] != nil {
					next.Store(int64(n))
					return
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// inParts is inParallel for ranges of some numbers each.
func inParts(n, some, workers int, f func(from, to int) error) error {
	return inParallel((n+some-1)/some, workers, func(i int) error { return f(i*some, min(n, (i+1)*some)) })
}
