package measure

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestPercentilesAreOfTheNearestRank(t *testing.T) {
	var s Sample
	for i := 100; i > 0; i-- {
		s = append(s, time.Duration(i))
	}
	for p, want := range map[float64]time.Duration{0: 1, 1: 1, 50: 50, 90: 90, 99: 99, 99.5: 100, 100: 100} {
		if got := s.Percentile(p); got != want {
			t.Errorf("p%v is %d, want %d", p, got, want)
		}
	}
	if s[0] != 100 {
		t.Error("the sample was sorted in place")
	}
	if got := (Sample{1, 5, 3}).Median(); got != 3 {
		t.Errorf("median of three is %d", got)
	}
	if got := (Sample{8, 2, 4, 6}).Median(); got != 5 {
		t.Errorf("median of four is %d", got)
	}
	if Sample(nil).Percentile(50)+Sample(nil).Median()+Sample(nil).Mean() != 0 {
		t.Error("an empty sample has values")
	}
}

func TestAReportJudgesItsGoals(t *testing.T) {
	r := NewReport()
	r.Add("below", 1.4, "ratio", "<= 1.5", "")
	r.Add("above", 5, "ms", "< 5", "")
	r.Add("equal", 20004, "entities", "= 20004", "")
	r.Add("least", 0.94, "recall", ">= 0.95", "")
	r.Add("garbled", 1, "", "about 1", "")
	r.Add("free", 7, "s", "", "a note")
	r.Missing("blind", "s", "<= 1", "no clock")
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Machine, Commit string
		Rows            []map[string]any
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := []any{true, false, true, false, false, nil, false}
	for i, row := range got.Rows {
		if row["met"] != want[i] {
			t.Errorf("%s: met is %v, want %v", row["figure"], row["met"], want[i])
		}
	}
	if last := got.Rows[len(got.Rows)-1]; last["value"] != nil || !strings.Contains(last["note"].(string), "no clock") {
		t.Errorf("a figure that was not measured: %v", last)
	}
	if !strings.Contains(b.String(), `"<= 1.5"`) {
		t.Error("goals are escaped")
	}
	b.Reset()
	if err := r.WriteTable(&b); err != nil || !strings.Contains(b.String(), "a note") {
		t.Errorf("table: %v\n%s", err, b.String())
	}
}

func TestClocksCountWork(t *testing.T) {
	if _, ok := ProcessCPU(); !ok {
		t.Skip("no CPU clock on " + runtime.GOOS)
	}
	process, thread := Start(), StartThread()
	x := 1.0
	for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); {
		x *= 1.0000001
	}
	s := thread()
	if s.CPU <= 0 || s.CPU > s.Wall+10*time.Millisecond {
		t.Errorf("a busy thread used %v CPU in %v", s.CPU, s.Wall)
	}
	if p := process(); p.CPU < s.CPU {
		t.Errorf("the process used %v, one of its threads %v", p.CPU, s.CPU)
	}
}

func TestDirBytes(t *testing.T) {
	dir := t.TempDir()
	for name, n := range map[string]int{"a": 3, "d/b": 4} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, make([]byte, n), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := DirBytes(dir); n != 7 || err != nil {
		t.Errorf("%d bytes, %v; want 7", n, err)
	}
	if _, err := DirBytes(filepath.Join(dir, "none")); err == nil {
		t.Error("a missing directory has a size")
	}
}
