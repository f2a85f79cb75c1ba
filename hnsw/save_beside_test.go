package hnsw

import (
	"io"
	"sync/atomic"
	"testing"
)

// Slots are appended at any moment of a Save, also where they begin a chunk that the table it works on does not have.
func TestSaveBesideAppend(t *testing.T) {
	g := newTestGraph(t, 2, Options{})
	chunks := 200
	if testing.Short() {
		chunks = 50
	}
	var finished atomic.Bool
	appender := func() error {
		defer finished.Store(true)
		for i := range chunks * chunkSlots {
			if _, err := g.Append([]float32{1, float32(i)}); err != nil {
				return err
			}
		}
		return nil
	}
	saver := func() error {
		for !finished.Load() {
			if err := g.Save(io.Discard, nil); err != nil {
				return err
			}
		}
		return nil
	}
	race(t, appender, saver, saver)
}
