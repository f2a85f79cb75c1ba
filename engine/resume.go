package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// retry makes failed documents pending again, and processed ones some of whose
// chunks had failed; ids limits them.
func (r *run) retry(ids []string) error {
	want := make(map[string]bool, len(ids))
	for _, id := range ids {
		want[id] = true
	}
	view, err := r.db.store.View()
	if err != nil {
		return err
	}
	defer view.Close()
	var failed []format.DocID
	found := make(map[string]bool)
	err = view.Documents(func(id format.DocID, d format.Document) error {
		if len(want) > 0 && !want[d.ID] {
			return nil
		}
		found[d.ID] = true
		if d.Status == format.StatusFailed || d.Status == format.StatusProcessed && d.Failed > 0 {
			failed = append(failed, id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !found[id] {
			return fmt.Errorf("document %q: %w", id, ErrNotFound)
		}
	}
	for _, id := range failed {
		err := r.db.store.SetStatus(r.ctx, id, graphstore.Attempt{Status: format.StatusPending})
		if err != nil && !errors.Is(err, ErrNotFound) { // deleted meanwhile
			return err
		}
		r.db.addBacklog()
	}
	return nil
}

// resume takes up, a page at a time, the documents that earlier runs left
// unfinished and nobody has claimed. The documents are looked through only
// when there may be some. It ends the run: unless another call does that, what
// is stale by now, of an earlier process too, is refreshed.
func (r *run) resume() {
	if r.ctx.Err() != nil {
		return
	}
	r.single = false
	jobs, err := r.unfinished()
	defer func() {
		for _, j := range jobs {
			r.giveBack(j, false)
		}
	}()
	for page := range slices.Chunk(jobs, registerDocs) {
		if err == nil {
			err = r.process(page)
		}
	}
	if err == nil && !r.part {
		err = r.refresh()
	}
	if err != nil {
		r.cancel(err)
	}
}

// unfinished claims what is pending and unclaimed, and reports on it.
func (r *run) unfinished() (jobs []*job, err error) {
	if !r.db.takeBacklog() {
		return nil, nil
	}
	defer func() {
		if err != nil {
			r.db.addBacklog()
		}
	}()
	view, err := r.db.store.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	err = view.Documents(func(id format.DocID, d format.Document) error {
		if d.Status != format.StatusPending && d.Status != format.StatusProcessing {
			return nil
		}
		j := r.job(id, len(r.report.Documents))
		if j.claim == nil {
			return nil
		}
		r.report.Documents = append(r.report.Documents, DocumentReport{
			ID: d.ID, Path: d.Path, Status: StatusPending, Chunks: int(d.Chunks), Removed: int(d.Removed),
		})
		jobs = append(jobs, j)
		r.progress.Documents++
		return nil
	})
	return jobs, err
}
