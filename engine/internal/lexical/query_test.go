package lexical

import (
	"slices"
	"strings"
	"testing"
)

func TestQueryTermsLeaveFunctionWordsOut(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Who founded the observatory on Mount Wilson?", "founded observatory mount wilson"},
		{"What does the WHO do in the US?", "who us"},
		{"Who is it?", "who is it"}, // nothing else is left
		{"What's the C++ runtime's cost?", "c++ runtime cost"},
		{"Wer hat die Relativitätstheorie entwickelt und was ist sie?", "relativitatstheorie entwickelt"},
		{"stars and stars", "star"},
		{"이순신은 어디에서 태어났나요?", "이순신 이순 순신"},
		{"爱因斯坦是什么时候出生的？", "爱因 因斯 斯坦 坦是 么时 时候 候出 出生 生的"},
		{"東京タワーはいつできましたか", "東京 京タ タワ ワー ーは"},
		{"", ""},
		{"?!", ""},
	} {
		if got := strings.Join(QueryTerms(nil, c.text), " "); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
	if got := QueryTerms([]string{"star"}, "stars"); len(got) != 2 {
		t.Errorf("appended to what was there: %q", got)
	}
	if n := len(QueryTerms(nil, strings.Repeat("x1 ", 3000))); n != 1 {
		t.Errorf("%d distinct terms of one", n)
	}
}

func TestPieces(t *testing.T) {
	known := func(list string) func([]byte) float64 {
		return func(t []byte) float64 {
			for i, w := range strings.Fields(list) {
				if w == string(t) {
					return float64(1 + i)
				}
			}
			return 0
		}
	}
	for _, c := range []struct {
		word, known string
		want        []Piece
	}{
		{"Hubble's", "hubble", []Piece{{"Hubble", 1}}},
		{"snake_case", "case snakecase", []Piece{{"snake_case", 2}}},
		{"zebra", "hubble", nil},
		{"이순신은", "순신", []Piece{{"이순신", 1}}},
		{"爱因斯坦是在哪里出生的", "爱因 因斯 斯坦 出生", []Piece{{"爱因斯坦", 3}, {"出生", 4}}},
		{"AI模型", "模型 ai", []Piece{{"AI", 2}, {"模型", 1}}},
		{"水", "水", []Piece{{"水", 1}}},
		{"です", "です", nil}, // grammar
	} {
		if got := Pieces(nil, c.word, known(c.known)); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.word, got, c.want)
		}
	}
}

func TestWordEnds(t *testing.T) {
	for _, c := range []struct {
		a, b rune
		want bool
	}{{'a', 'b', false}, {'a', '1', false}, {'a', ' ', true}, {'a', '가', true}, {'가', '나', false}, {'水', '星', true}, {'水', 'a', true}} {
		if got := WordEnds(c.a, c.b); got != c.want {
			t.Errorf("between %c and %c: %v", c.a, c.b, got)
		}
	}
}
