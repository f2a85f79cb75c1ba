package llm

import (
	"strings"
	"testing"
)

type malformedLine struct {
	Store, Kind, Record string
}

// TestMalformedAnswers runs every recorded defect through the parser and checks
// what its kind promises.
func TestMalformedAnswers(t *testing.T) {
	lines := readLines[malformedLine](t, sharedData(t, "cases", "malformed.jsonl"))
	if len(lines) == 0 {
		t.Fatal("no lines")
	}
	kinds := map[string]int{}
	for _, l := range lines {
		kinds[l.Kind]++
		e := ParseExtraction(l.Record)
		bad := ""
		switch l.Kind {
		case "old_rel_fields_5":
			if len(e.Relations) != 1 || e.Malformed != 0 {
				bad = "not one relation"
			} else if e.Relations[0].Weight == WeightOne && len(e.Relations[0].Keywords) == 0 && len(e.Keywords) == 0 {
				bad = "neither weight nor keywords"
			}
		case "old_rel_fields_4":
			if len(e.Relations) != 1 || len(e.Relations[0].Keywords) != 0 || e.Relations[0].Weight != WeightOne {
				bad = "not one relation without keywords"
			}
		case "old_rel_fields_7":
			if len(e.Relations) == 0 || e.Malformed != 0 {
				bad = "no relation"
			}
		case "old_entity_fields_3":
			if len(e.Entities) != 0 || e.Malformed != 1 {
				bad = "not one malformed row"
			}
		case "self_loop":
			if len(e.Relations) != 0 || e.Malformed != 0 || len(e.Dropped) != 1 {
				bad = "not one dropped self loop"
			}
		case "relation_fields_4", "corrupt_delimiter <|diff_marker|>":
			if len(e.Relations) != 1 || len(e.Relations[0].Keywords) != 2 {
				bad = "not one relation with two keywords"
			}
		case "no_completion":
			if e.Complete {
				bad = "complete"
			}
		case "old_bad_prefix":
			if strings.Contains(l.Record, "content_keywords") && (len(e.Keywords) == 0 || len(e.Entities)+len(e.Relations) != 0) {
				bad = "not only content keywords"
			}
		case "old_noparen":
			if !strings.Contains(l.Record, oldDelimiter) && (e.Format != FormatNone || e.Malformed != 0) {
				bad = "prose is not a record"
			}
		default:
			t.Errorf("unknown kind %q", l.Kind)
		}
		if bad != "" {
			t.Errorf("%s %s: %s: %q\n%q malformed=%d keywords=%q", l.Store, l.Kind, bad, l.Record, brief(e), e.Malformed, e.Keywords)
		}
	}
	t.Logf("%d lines: %v", len(lines), kinds)
}
