package llm

import (
	"strings"
	"testing"
)

func TestStripThink(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "",
		"plain":                             "plain",
		"  plain ":                          "  plain ",
		"<think>a</think>b":                 "b",
		" \n<think>a</think>\n\n b ":        "b ",
		"<think></think>":                   "",
		"<think>a</think><think>b</think>c": "c",
		"<think>cut":                        "",
		"<think>a</think><think>cut":        "",
		"a</think>b":                        "b",
		"</think>b":                         "b",
		"a</think>\n<think>b</think>c":      "c",
		"a</think>b</think>c":               "b</think>c",
		"<think>a</think>b</think>c":        "b</think>c",
		"a<think>b</think>c":                "ac",
		"a<think>b":                         "a<think>b",
		"a<think>b</think>c<think>d":        "ac<think>d",
		"<think>a<think>b</think>c":         "c",
		"<thin":                             "<thin",
		"<thinker>x":                        "<thinker>x",
		"a <":                               "a <",
		"1 < 2 <th> <<think>x</think>y":     "1 < 2 <th> <y",
		"<THINK>a</THINK>b":                 "<THINK>a</THINK>b",
		"생각</think>답 🌍":                     "답 🌍",
	} {
		if got := stripThink(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// filterPieces runs the filter over s cut into pieces whose lengths cuts gives
// in turn.
func filterPieces(s string, hold int, cuts []byte) string {
	var b strings.Builder
	f := thinkFilter{hold: hold, emit: func(t string) error { b.WriteString(t); return nil }}
	for i := 0; len(s) > 0; i++ {
		n := len(s)
		if len(cuts) > 0 {
			n = min(n, int(cuts[i%len(cuts)])%16)
			if n == 0 {
				n = 1
			}
		}
		_ = f.write(s[:n])
		s = s[n:]
	}
	_ = f.end()
	return b.String()
}

func FuzzThinkFilter(f *testing.F) {
	for _, s := range []string{
		"<think>a</think>b", "a</think>b", "a<think>b</think>c<think>", "  <think>  </think>  x", "<thi", "</think></think>",
		strings.Repeat("x", 20) + "</think>y", "a<think>b</think>c</think>d", "<think>\n</think>\n<think>x</think>\ny",
	} {
		f.Add(s, []byte{1}, 8)
		f.Add(s, []byte{3, 7, 2}, 0)
		f.Add(s, []byte{5}, 1<<20)
	}
	f.Fuzz(func(t *testing.T, s string, cuts []byte, hold int) {
		hold = max(hold, 0)
		if got, want := filterPieces(s, holdAll, cuts), stripThink(s); got != want {
			t.Fatalf("%q in pieces: %q, whole: %q", s, got, want)
		}
		got, want := filterPieces(s, hold, cuts), filterPieces(s, hold, nil)
		if got != want {
			t.Fatalf("hold %d: %q in pieces: %q, whole: %q", hold, s, got, want)
		}
		if !strings.Contains(s, "think>") && got != s {
			t.Fatalf("%q became %q", s, got)
		}
		if i := strings.Index(s, thinkClose); (i < 0 || i+len(thinkClose) <= hold) && got != stripThink(s) {
			t.Fatalf("hold %d: %q became %q, want %q", hold, s, got, stripThink(s))
		}
	})
}

func BenchmarkThinkFilter(b *testing.B) {
	s := strings.Repeat("some words of an answer < with signs ", 1000)
	for name, hold := range map[string]int{"live": 0, "held": holdAll} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				filterPieces(s, hold, []byte{4})
			}
		})
	}
}
