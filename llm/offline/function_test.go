package offline

import "testing"

func TestFunctionWords(t *testing.T) {
	for _, c := range []struct {
		text, word string
		want       bool
	}{
		{"Who founded the club?", "Who", true},
		{"Who founded the club?", "the", true},
		{"Who founded the club?", "founded", false},
		{"What's new?", "What's", true},
		{"What’s new?", "What’s", true},
		{"Where is the WHO?", "WHO", false},
		{"WHERE IS THE WHO?", "WHO", true},
		{"the war", "war", false},
		{"Wo war der Krieg und wer gewann ihn?", "war", true},
		{"이순신은 무엇을 했나요?", "무엇을", true},
		{"이순신은 무엇을 했나요?", "이순신은", false},
		{"", "", true},
		{"42", "42", false},
	} {
		if got := FunctionWords(c.text)(c.word); got != c.want {
			t.Errorf("in %q, %q: %v", c.text, c.word, got)
		}
	}
}

func TestLanguageOfWordsOfTwo(t *testing.T) {
	for text, want := range map[string]language{
		"Many die young.": english, "Stars die.": english, "They die, he said.": english, "He was ill.": english, "She was ill and he was well.": english,
		"Old soldiers never die; they fade away.": english, "Wo liegt die Stadt?": german, "Es war die Stadt, die er kannte.": german, "Er weiß, was sie ist.": german,
		"Ich sehe die großen und die kleinen Schiffe.": german, "the cells die when they are cold": english,
	} {
		if got := languageOf(text); got != want {
			t.Errorf("%q is read as %d, want %d", text, got, want)
		}
	}
}
