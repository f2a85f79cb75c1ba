package fuzz

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lightctl/lightrag/engine"
)

var killFor = flag.Duration("killloop", 0, "how long TestKillLoop goes on; 0 = five kills")

// childEnv makes the test binary run as the process to be killed.
const childEnv = "LIGHTRAG_FUZZ_CHILD"

type seeded struct{ *rand.Rand }

func (s seeded) pick(n int) int { return s.IntN(n) }

// operation is the n-th thing that the child does: an insert, a replacement or
// a deletion, as a function of n alone.
func operation(n int) (put *document, remove string) {
	src := seeded{rand.New(rand.NewPCG(uint64(n), 7))}
	switch {
	case n%5 == 3:
		return nil, fmt.Sprint("doc ", n-2)
	case n%7 == 5:
		d := draw(src, fmt.Sprint("doc ", n-1), n)
		return &d, ""
	}
	d := draw(src, fmt.Sprint("doc ", n), n)
	return &d, ""
}

// after returns the model after operation n.
func (s state) after(n int) state {
	put, remove := operation(n)
	if put != nil {
		return s.with(*put)
	}
	return s.without(remove)
}

// child goes through the operations from a given one and says on its standard
// output which are acknowledged, until it is killed.
func child(args []string) error {
	first, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	db, err := engine.Open(args[0], options())
	if err != nil {
		return err
	}
	m := &machine{db: db}
	for n := first; ; n++ {
		put, remove := operation(n)
		if put != nil {
			in := engine.Document{ID: put.id, Text: put.text(), Replace: true}
			rep, err := m.db.Insert(context.Background(), in)
			if err != nil || rep.Documents[0].Status != engine.StatusProcessed {
				return fmt.Errorf("operation %d: %w %+v", n, err, rep)
			}
		} else if _, err := m.db.DeleteDocuments(context.Background(), remove); err != nil {
			return fmt.Errorf("operation %d: %w", n, err)
		}
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
}

// TestKillLoop kills a process that writes, again and again, on a real disk.
// What was acknowledged must be there; the operation under way may be, whole.
func TestKillLoop(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "store")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	model, next := state(nil), 0
	end := time.Now().Add(*killFor)
	for round := 0; round < 5 || time.Now().Before(end); round++ {
		last, err := killed(exe, dir, next, time.Duration(20+rng.IntN(250))*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		for ; next <= last; next++ {
			model = model.after(next)
		}
		got, err := recovered(dir)
		if err != nil {
			t.Fatalf("round %d, after operation %d: %v", round, last, err)
		}
		switch without, with := model.lines(), model.after(next).lines(); {
		case slices.Equal(got, without):
		case slices.Equal(got, with):
			model, next = model.after(next), next+1
		default:
			t.Fatalf("round %d: acknowledged up to %d, the store holds\n%s\nwant\n%s\nor\n%s", round, last,
				strings.Join(got, "\n"), strings.Join(without, "\n"), strings.Join(with, "\n"))
		}
	}
	if next < 5 {
		t.Errorf("only %d operations were acknowledged", next)
	}
	t.Logf("%d operations", next)
}

// killed runs the child from an operation on, kills it a while after its first
// acknowledgement, and returns the last operation that it acknowledged.
func killed(exe, dir string, first int, after time.Duration) (last int, err error) {
	cmd := exec.Command(exe, dir, strconv.Itoa(first))
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	last = first - 1
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			break // the line was cut by the kill
		}
		if n == first {
			time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // it may be gone already
		}
		last = n
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
		return last, fmt.Errorf("the child ended by itself: %w", err)
	}
	return last, nil
}

// recovered opens the store, finishes what was under way and lists the graph.
func recovered(dir string) (lines []string, err error) {
	db, err := engine.Open(dir, options())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.Resume(context.Background()); err != nil {
		return nil, err
	}
	if err := sound(db); err != nil {
		return nil, err
	}
	return stored(db)
}
