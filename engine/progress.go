package engine

import "time"

// pace is what the estimate of the time left is made from. It is guarded by
// run.mu.
type pace struct {
	cut   int // chunks made from the texts of the call so far
	asked int // chunks about which the model was asked
}

// left estimates how long the rest takes. bytesCut of the call's texts have
// been cut, bytesLeft have not.
func (p *pace) left(now *Progress, bytesCut, bytesLeft int) time.Duration {
	rest := now.Chunks - now.ChunksDone
	if bytesCut > 0 {
		rest += int(float64(p.cut) * float64(bytesLeft) / float64(bytesCut))
	}
	if p.asked == 0 || rest <= 0 {
		return 0
	}
	return time.Duration(float64(now.Elapsed) / float64(p.asked) * float64(rest))
}

// step changes the progress and reports it.
func (r *run) step(change func(*Progress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.progress)
	f := r.db.opts.Progress
	if f == nil {
		return
	}
	r.progress.Elapsed = time.Since(r.started)
	r.progress.TimeLeft = r.pace.left(&r.progress, r.bytesCut, r.bytesLeft)
	r.db.progress.Lock() // runs of other calls report too
	f(r.progress)
	r.db.progress.Unlock()
}
