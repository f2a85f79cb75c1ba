package main

import (
	"context"

	"github.com/lightctl/lightrag/engine"
)

// waitLinked finishes the vector index before the process ends, for nobody else
// does: the next command would search by scanning what is not linked.
func (a *app) waitLinked(ctx context.Context, db *engine.DB) error {
	var b *bar
	defer func() { b.stop() }()
	return db.WaitLinked(ctx, func(linked, vectors int) {
		if vectors == 0 {
			return
		}
		if b == nil {
			b = a.newBar("vectors linked")
		}
		b.update(linked, vectors)
	})
}
