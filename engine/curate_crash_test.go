package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// A change whose n-th write fails is there or not, when the store is opened
// again, never in part.
func TestAChangeIsWhollyThereOrNotAfterAFailedWrite(t *testing.T) {
	ctx := context.Background()
	state := func(db *DB) string { // without times
		changes, err := db.Changes()
		if err != nil {
			t.Fatal(err)
		}
		text := exported(t, db)
		for i := range changes {
			text += fmt.Sprint(changes[i].ID, changes[i].Kind, changes[i].Names, changes[i].Undone != nil, "\n")
		}
		return text
	}
	for name, change := range map[string]func(db *DB) (*CurationReport, error){
		"merge": func(db *DB) (*CurationReport, error) {
			return db.MergeEntities(ctx, []string{"Jon"}, "Jon Marquez", MergeOptions{DescriptionBy: MergeKeepFirst})
		},
		"undo":            func(db *DB) (*CurationReport, error) { return db.Undo(ctx, 1) },
		"delete entity":   func(db *DB) (*CurationReport, error) { return db.DeleteEntities(ctx, "City") },
		"delete relation": func(db *DB) (*CurationReport, error) { return db.DeleteRelations(ctx, [2]string{"City", "Jon"}) },
		"edit":            func(db *DB) (*CurationReport, error) { return db.EditEntity(ctx, "Jon", EntityEdit{Type: ptr("x")}) },
		"create": func(db *DB) (*CurationReport, error) {
			return db.CreateRelation(ctx, NewRelation{Src: "Town", Tgt: "Jon"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			states := make(map[string]bool)
			for n := int64(0); ; n++ {
				mem := vfs.NewMem()
				var left atomic.Int64
				left.Store(1 << 40)
				o := testOptions(&fakeModel{})
				o.Storage.FS = errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
					if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && left.Add(-1) < 0 && strings.HasPrefix(op.Path, "store/") {
						return errors.New("input/output error")
					}
					return nil
				}))
				db, err := Open("store", o)
				if err != nil {
					t.Fatal(err)
				}
				inserted(t, db,
					doc("one", "@e|Jon|person|Jon of one.", "@e|City|place|A city.", "@r|Jon|City|home|Jon lives there."),
					doc("two", "@e|Jon Marquez|writer|Jon Marquez of two.", "@r|Jon Marquez|City|work|He works there.", "@r|Jon|Jon Marquez|same|They are one."))
				must(t)(db.MergeEntities(ctx, []string{"Jon Marquez"}, "Town", MergeOptions{}))
				if name == "merge" || name == "create" {
					must(t)(db.Undo(ctx, 1))
					if name == "create" {
						must(t)(db.RenameEntity(ctx, "Jon Marquez", "Town", false))
						must(t)(db.DeleteRelations(ctx, [2]string{"Jon", "Town"}))
					}
				}
				before := state(db)
				left.Store(n)
				_, err = change(db)
				failed := left.Load() < 0
				after := ""
				if err == nil {
					after = state(db)
				}
				_ = db.Close()
				left.Store(1 << 40)
				again, e := Open("store", o)
				if e != nil {
					t.Fatalf("write %d: %v (after %v)", n, e, err)
				}
				sound(t, again)
				got := state(again)
				if err == nil && got != after {
					t.Errorf("write %d: an acknowledged change is not there as it was", n)
				}
				if got != before {
					if states[got] = true; len(states) > 1 {
						t.Errorf("write %d: a third state:\n%s", n, got)
					}
				}
				if err := again.Close(); err != nil {
					t.Error(err)
				}
				if !failed || n > 60 || t.Failed() {
					if err != nil || n < 1 || len(states) != 1 {
						t.Errorf("after %d writes: %v; %d states", n, err, len(states))
					}
					return
				}
			}
		})
	}
}
