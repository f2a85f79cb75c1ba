package offline

import "strings"

// asked is what kind of answer a question wants.
type asked struct {
	who, when, where, count, why, define bool
	broad                                bool // how, why, themes: several sentences
	several                              bool // two questions in one
}

func (q *asked) specific() bool { return q.who || q.when || q.where || q.count }

// askedBy reads the question words.
func askedBy(q string, lang language) asked {
	has := func(words ...string) bool {
		for _, w := range words {
			if i := strings.Index(q, w); i >= 0 && (lang >= chinese || wholeWord(q, i, len(w))) {
				return true
			}
		}
		return false
	}
	var k asked
	switch lang {
	case korean:
		k.who, k.when, k.where = has("누가", "누구"), has("언제", "몇 년", "연도"), has("어디")
		k.count, k.why = has("얼마", "몇 "), has("왜", "이유", "원인")
		k.define = has("무엇인가", "무엇입니까", "란 무엇", "이란")
		k.broad = k.why || has("어떻게", "설명", "영향", "역할", "관계", "주제", "요약", "비교", "차이", "공통")
	case chinese, japanese:
		k.who, k.when, k.where = has("谁", "誰"), has("什么时候", "何时", "哪年", "哪一年", "いつ"), has("哪里", "何处", "哪个城市", "在哪", "どこ")
		k.count, k.why = has("多少", "几个", "几年", "いくつ"), has("为什么", "原因", "なぜ")
		k.define = has("是什么", "什么是", "とは")
		k.broad = k.why || has("如何", "怎样", "怎么", "影响", "作用", "关系", "主题", "总结", "比较", "区别", "どのように")
	default:
		k.who, k.when, k.where = has("who", "whom", "whose", "wer", "wem", "wen"), has("when", "what year", "which year", "wann", "welchem jahr"), has("where", "which city", "which country", "wo", "woher", "wohin")
		k.count, k.why = has("how many", "how much", "how long", "how far", "how large", "how big", "wie viele", "wie viel", "wie lange"), has("why", "warum", "wieso", "weshalb")
		k.define = has("what is", "what are", "what was", "who is", "who was", "was ist", "wer ist", "wer war", "define")
		k.broad = k.why || !k.count && has("how", "wie") || has("theme", "themes", "topics", "overview", "summary", "summarize", "summarise", "describe", "explain", "compare", "relationship", "impact", "effects", "role", "common", "beschreibe", "erkläre", "überblick", "auswirkungen", "rolle", "main", "challenges", "lessons", "connect", "connection", "between")
	}
	kinds := 0
	for _, b := range [...]bool{k.who, k.when, k.where, k.count, k.why} {
		if b {
			kinds++
		}
	}
	k.several = kinds > 1
	return k
}

func wholeWord(s string, i, n int) bool {
	letter := func(b byte) bool { return b >= 'a' && b <= 'z' || b >= 0x80 }
	return (i == 0 || !letter(s[i-1])) && (i+n >= len(s) || !letter(s[i+n]))
}

// limits returns how many sentences to choose, and the share of the first one's
// gain below which choosing stops.
func (q *asked) limits() (most int, share float64) {
	switch {
	case q.broad:
		return maxAnswer, 0.22
	case q.several:
		return 4, 0.35
	case q.specific():
		return 3, 0.5
	}
	return 4, 0.35
}
