package engine

import "github.com/lightctl/lightrag/format"

// claim is held by the run that is to process a document, from when it was
// accepted, so that no other run does the same work or waits for it unasked.
type claim struct {
	done    chan struct{} // closed when the claim is given back
	started bool          // under DB.mu
}

// claim makes the caller the one that processes doc, or returns the claim of
// the one that does.
func (db *DB) claim(doc format.DocID) (c *claim, mine bool) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if c := db.claims[doc]; c != nil {
		return c, false
	}
	c = &claim{done: make(chan struct{})}
	db.claims[doc] = c
	return c, true
}

// begun notes that the holder of c has started its work.
func (db *DB) begun(c *claim) {
	db.mu.Lock()
	defer db.mu.Unlock()
	c.started = true
}

// processing reports whether a run is at work on doc.
func (db *DB) processing(doc format.DocID) bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	c := db.claims[doc]
	return c != nil && c.started
}

// release gives a claim back. settled says that the document is finished,
// failed or gone; one that is not is left to the next run.
func (db *DB) release(doc format.DocID, c *claim, settled bool) {
	db.mu.Lock()
	delete(db.claims, doc)
	db.backlog = db.backlog || !settled
	db.mu.Unlock()
	close(c.done)
}

// takeBacklog reports whether unfinished documents may be lying about. The
// caller looks for them, or puts the backlog back.
func (db *DB) takeBacklog() bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	was := db.backlog
	db.backlog = false
	return was
}

func (db *DB) addBacklog() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.backlog = true
}
