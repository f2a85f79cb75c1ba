package fuzz

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		if err := child(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// A history costs some hundred commits; the flag asks for more.
	_ = flag.Set("rapid.checks", "8") // it exists: rapid is linked
	os.Exit(m.Run())
}

type drawn struct{ t *rapid.T }

func (d drawn) pick(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "pick") }

// TestModel runs random histories of inserts, replacements, deletions, closed
// and crashed stores, and compares the store with the model after every step.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(rt, drawn{rt})
		defer func() { m.close() }()
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			m.step()
		}
	})
}

// script is a source of choices that are written down as bytes; after its end
// every choice is the first.
type script struct{ bytes []byte }

func (s *script) pick(n int) int {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return int(b) % n
}

// FuzzOps runs the history that a byte string describes.
func FuzzOps(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("insert, replace, delete, and so on until the end"))
	f.Add([]byte{7, 0, 2, 0, 1, 0, 2, 1, 1, 0, 4, 4, 1, 2, 0, 3, 1, 0, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0, 7, 6, 3, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 512 {
			t.Skip("longer than the budget of one history")
		}
		s := &script{b}
		m := newMachine(t, s)
		defer func() { m.close() }()
		for steps := 0; len(s.bytes) > 0 && steps < 20; steps++ {
			m.step()
		}
	})
}
