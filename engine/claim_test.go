package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lightctl/lightrag/llm"
)

// TestAnInsertDoesNotWaitForTheDocumentsOfAnother lets a bulk insert advance
// call by call while a small one runs beside it.
func TestAnInsertDoesNotWaitForTheDocumentsOfAnother(t *testing.T) {
	const bulk = 40
	step := make(chan struct{})
	o := testOptions(&fakeModel{hook: func(ctx context.Context, req *llm.Request) (llm.Response, bool, error) {
		if strings.Contains(req.Input.Text, "bulk") {
			<-step
		}
		return llm.Response{}, false, nil
	}})
	o.Concurrency, o.Gleaning = 2, -1
	synctest.Test(t, func(t *testing.T) {
		step = make(chan struct{})
		db := opened(t, "store", o)
		inserted(t, db, doc("before", "@e|E|t|before")) // there is no backlog
		docs := make([]Document, bulk)
		for i := range docs {
			docs[i] = doc(fmt.Sprint("bulk ", i), "@e|E|t|it")
		}
		big := make(chan *Report, 1)
		go func() {
			rep, err := db.Insert(context.Background(), docs...)
			if err != nil {
				t.Error(err)
			}
			big <- rep
		}()
		synctest.Wait()
		small := make(chan *Report, 1)
		go func() {
			rep, err := db.Insert(context.Background(), doc("small", "@e|E|t|small"))
			if err != nil {
				t.Error(err)
			}
			small <- rep
		}()
		synctest.Wait()
		steps := 0
		for waiting := true; waiting; {
			select {
			case rep := <-small:
				waiting = false
				if len(rep.Documents) != 1 || rep.Documents[0].Status != StatusProcessed {
					t.Errorf("%+v", rep.Documents)
				}
			case step <- struct{}{}:
				steps++
			}
			synctest.Wait()
		}
		if steps >= bulk {
			t.Errorf("it waited for %d of %d documents", steps, bulk)
		}
		close(step)
		if rep := <-big; rep.Count(StatusProcessed) != bulk {
			t.Errorf("%+v", rep.Documents)
		}
	})
}

// TestADocumentOfTwoInsertsIsProcessedOnce has two calls claim documents of
// each other.
func TestADocumentOfTwoInsertsIsProcessedOnce(t *testing.T) {
	m := &fakeModel{}
	o := testOptions(m)
	o.Gleaning = -1
	db := opened(t, "store", o)
	docs := corpus(30)
	errs := make(chan error, 4)
	for n := range cap(errs) {
		mine := append(append([]Document{}, docs[n*7:]...), docs[:n*7]...)
		go func() {
			rep, err := db.Insert(context.Background(), mine...)
			if err == nil && rep.Count(StatusProcessed)+rep.Count(StatusUnchanged) != len(docs) {
				err = fmt.Errorf("%+v", rep.Documents)
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := m.count(llm.TaskExtract); n != len(docs) {
		t.Errorf("%d calls for %d documents", n, len(docs))
	}
	sound(t, db)
}

// TestWhatACancelledInsertLeavesIsTakenUp also by a DB that has already found
// nothing left to take up.
func TestWhatACancelledInsertLeavesIsTakenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := &fakeModel{hook: func(_ context.Context, req *llm.Request) (llm.Response, bool, error) {
		if strings.Contains(req.Input.Text, "text 07") {
			cancel()
		}
		return llm.Response{}, false, nil
	}}
	db := opened(t, "store", testOptions(m))
	inserted(t, db, doc("before", "@e|E|t|before"))
	docs := corpus(20)
	if _, err := db.Insert(ctx, docs...); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	rep, err := db.Resume(t.Context())
	if err != nil || len(rep.Documents) == 0 || rep.Count(StatusProcessed) != len(rep.Documents) {
		t.Fatalf("%+v %v", rep, err)
	}
	stored, err := db.Documents()
	if err != nil || len(stored) != 1+len(docs) {
		t.Fatalf("%d documents, %v", len(stored), err)
	}
	for _, d := range stored {
		if d.Status != StatusProcessed {
			t.Errorf("%s is %s", d.ID, d.Status)
		}
	}
	if again, err := db.Resume(t.Context()); err != nil || len(again.Documents) != 0 {
		t.Errorf("%+v %v", again, err)
	}
}
