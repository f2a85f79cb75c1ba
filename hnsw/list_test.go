package hnsw

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

func TestListsKeepTheirFlags(t *testing.T) {
	list := make([]uint32, 8)
	expect := func(what string, twins bool, want ...uint32) {
		t.Helper()
		if got, chain := neighbours(list, MaxSlots, nil); !slices.Equal(got, want) || chain != twins || !slices.Equal(listed(list), got) {
			t.Fatalf("%s: %v (twins %v), want %v (twins %v)", what, got, chain, want, twins)
		}
	}
	expect("new", false)
	rewrite(list, []uint32{5, 6, 7})
	expect("rewritten", false, 5, 6, 7)
	setTwins(list, true)
	expect("with twins", true, 5, 6, 7)
	lock(list)
	expect("locked", true, 5, 6, 7)
	extend(list, 3, 9)
	expect("extended", true, 5, 6, 7, 9)
	drop(list, 1)
	expect("without the second", true, 5, 9, 7)
	drop(list, 2)
	expect("without the last", true, 5, 9)
	replace(list, []uint32{1, 2, 3, 4, 5, 6, 7})
	if list[0]&locked == 0 {
		t.Fatal("replacing unlocked the list")
	}
	unlock(list)
	expect("full", true, 1, 2, 3, 4, 5, 6, 7)
	rewrite(list, nil)
	expect("emptied", true)
	setTwins(list, false)
	if list[0] != 0 {
		t.Fatalf("head %#x, want 0", list[0])
	}
	if got, _ := neighbours([]uint32{3, 10, 20, 30}, 21, []uint32{1}); !slices.Equal(got, []uint32{1, 10, 20}) {
		t.Errorf("below 21: %v", got)
	}
}

// Who changes a list excludes all others, for as long as that takes, and keeps no reader from reading.
func TestListsAreChangedByOneAtATime(t *testing.T) {
	const workers = 4
	rounds := 200_000 // so that they meet
	if raceEnabled {
		rounds = 3000
	}
	list, inside := make([]uint32, 4), 0 // inside is not atomic: a race is one
	var done atomic.Bool
	var readers, writers sync.WaitGroup
	readers.Go(func() {
		for !done.Load() {
			if ids, _ := neighbours(list, MaxSlots, nil); len(ids) > 1 || len(ids) == 1 && (ids[0] == 0 || ids[0] > workers) {
				t.Errorf("read %v", ids)
				return
			}
		}
	})
	for w := range uint32(workers) {
		writers.Go(func() {
			for range rounds {
				lock(list)
				if inside++; inside != 1 || len(listed(list)) != 0 {
					t.Errorf("%d inside, list %v", inside, listed(list))
				}
				extend(list, 0, w+1)
				drop(list, 0)
				inside--
				unlock(list)
			}
		})
	}
	writers.Wait()
	done.Store(true)
	readers.Wait()
	if list[0] != 0 {
		t.Errorf("head %#x afterwards", list[0])
	}
}
