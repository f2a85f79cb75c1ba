package engine

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/bench/workload"
)

// TestRecordedStoresGoRoundEqually exports the graphs of recorded extractions
// in full and makes stores of that again.
func TestRecordedStoresGoRoundEqually(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sharedData(t, "golden"), "*", "replay.jsonl"))
	if err != nil || len(files) == 0 {
		t.Skipf("no recorded extractions: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			t.Parallel()
			lines := readReplay(t, file)
			o := goldenOptions(newReplayer(lines))
			o.Embedder = workload.NewEmbedder(64)
			o.Storage = testOptions(nil).Storage
			db := opened(t, "store", o)
			inserted(t, db, documentsOf(lines)...)
			want := fullExportOf(t, db)
			rep, err := ImportJSONL(t.Context(), "copy", strings.NewReader(want), o)
			if err != nil {
				t.Fatal(err)
			}
			if rep.Entities == 0 || len(rep.Differences) > 0 {
				t.Errorf("%+v", rep)
			}
			again := opened(t, "copy", o)
			sameText(t, fullExportOf(t, again), want)
			sound(t, again)
			v := again.View()
			defer v.Close()
			asked := 0
			v.EntityNames(func(name string, _ int) bool {
				q := Query{Text: name, LowLevel: []string{name}, HighLevel: []string{name}}
				if a, b := retrieved(t, db, q), retrieved(t, again, q); a.Context != b.Context || !a.Found {
					t.Errorf("%q finds\n%.500s\nin the copy\n%.500s", name, a.Context, b.Context)
				}
				asked++
				return asked < 20
			})
		})
	}
}
