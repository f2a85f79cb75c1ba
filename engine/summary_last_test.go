package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A summary ends with a description that two documents give. When the first of
// them goes the summary stays, and no longer names it.
func TestASummaryNamesNoDocumentThatIsGone(t *testing.T) {
	o := testOptions(&fakeModel{})
	o.SummaryFragments = 3
	for last := range 8 { // where runs end depends on the texts
		o.Storage.FS = vfs.NewMem()
		db := opened(t, "store", o)
		inserted(t, db,
			doc("a", "@e|Hub|t|One.", "@e|Hub|t|Two."),
			doc("b", fmt.Sprintf("@e|Hub|t|Three %d.", last)),
			doc("c", fmt.Sprintf("@e|Hub|t|Three %d.", last), "@e|Other|t|Else."))
		before := fullExportOf(t, db)
		if _, err := db.DeleteDocuments(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		sound(t, db)
		if after := fullExportOf(t, db); !strings.Contains(before, `"kind":"summary"`) || !strings.Contains(after, `"kind":"summary"`) {
			t.Fatal("there is no summary")
		}
	}
}
