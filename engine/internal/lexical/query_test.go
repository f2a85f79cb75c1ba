package lexical

import (
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
