package durable

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestACleanCloseLeavesNoLogs: whatever was in the logs is in the tables.
func TestACleanCloseLeavesNoLogs(t *testing.T) {
	mem := vfs.NewMem()
	for round := range 3 {
		d := mustOpen(t, mem, "store", Options{MemTableBytes: 64 << 10})
		for i := range 100 * round { // several memtables, and so logs to write over
			mustPut(t, d, i, strings.Repeat(fmt.Sprint(i%10), 2000))
		}
		mustClose(t, d)
		manifests := 0
		names, err := mem.List("store/kv")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasPrefix(name, "MANIFEST-") {
				manifests++
			}
		}
		if manifests != 1 || slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, ".log") }) {
			t.Errorf("round %d: %q", round, names)
		}
		for _, readOnly := range []bool{true, false} {
			d = mustOpen(t, mem, "store", Options{ReadOnly: readOnly, MustExist: true})
			if !d.Clean() {
				t.Errorf("round %d: not clean", round)
			}
			for i := range 100 * round {
				if got := read(t, d, i); len(got) != 2000 {
					t.Fatalf("key %d has %d bytes", i, len(got))
				}
			}
			mustClose(t, d)
		}
	}
}
