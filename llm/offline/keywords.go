package offline

import (
	"encoding/json"
	"strings"
)

// keywordLimit bounds the keywords of each level.
const keywordLimit = 8

// keywords answers TaskKeywords: a JSON object with the two lists that
// retrieval matches, names and nouns low, themes and actions high. Both lists
// are empty only for a blank question.
func keywords(question string) string {
	q := strings.TrimSpace(cut(clean(question), maxQuestion))
	var k keywordSet
	if q != "" {
		k.read(q)
		k.complete(q)
	}
	out, err := json.Marshal(struct {
		High []string `json:"high_level_keywords"`
		Low  []string `json:"low_level_keywords"`
	}{nonNil(k.high), nonNil(k.low)})
	if err != nil { // two string slices always marshal
		return `{"high_level_keywords":[],"low_level_keywords":[]}`
	}
	return string(out)
}

// maxQuestion bounds, in bytes, what is read of a question.
const maxQuestion = 8 << 10

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

type keywordSet struct{ high, low []string }

func (k *keywordSet) addLow(w string)  { k.low = appendNew(k.low, w) }
func (k *keywordSet) addHigh(w string) { k.high = appendNew(k.high, w) }

func appendNew(list []string, w string) []string {
	w = oneLine(w)
	if w == "" || len(list) >= keywordLimit {
		return list
	}
	for _, o := range list {
		if strings.EqualFold(o, w) {
			return list
		}
	}
	return append(list, w)
}

func (k *keywordSet) read(q string) {
	x := newExtraction(q)
	x.question = true
	for si := range x.sents {
		// In a question the first word is a question word, so that every
		// other capital tells; German capitals tell nouns.
		x.sents[si].heading = false
		x.names(int32(si))
		x.quoted(int32(si))
	}
	if x.lang != korean && x.lang != chinese && x.lang != japanese {
		x.resolveShortNames()
	}
	for si := range x.sents {
		s := &x.sents[si]
		for _, m := range s.mentions {
			e := &x.entities[m.entity]
			if low := strings.ToLower(e.name); e.kind == kindConcept && (abstract(low) || classOf(low, x.lang)&theme != 0) {
				k.addHigh(e.name)
			} else {
				k.addLow(e.name)
			}
		}
		k.latin(x, s)
		switch x.lang {
		case korean:
			k.hangul(s)
		case chinese, japanese:
			for _, p := range x.pieces(nil, s) {
				w := s.text[p.start:p.end]
				if p.verb || hanThemes[w] {
					k.addHigh(w)
				} else if runes(w) >= 2 {
					k.addLow(w)
				}
			}
		}
	}
}

// latin sorts words that are no names: abstract nouns and verbs up, phrases of
// other words down.
func (k *keywordSet) latin(x *extraction, s *sentence) {
	inside := func(t *token) bool {
		for _, m := range s.mentions {
			if t.start >= m.start && t.end <= m.end {
				return true
			}
		}
		return false
	}
	var run []string
	flush := func() {
		if len(run) > 0 {
			k.addLow(strings.Join(run, " "))
		}
		run = run[:0]
	}
	for i := range s.toks {
		t := &s.toks[i]
		if !t.content() || inside(t) || t.class&calendar != 0 {
			flush()
			continue
		}
		switch {
		case t.class&theme != 0:
			flush()
			k.addHigh(t.low)
		case isVerb(t) || strings.HasSuffix(t.low, "ing") && len(run) == 0 && len(t.low) > 5:
			flush()
			k.addHigh(t.low)
		case abstract(t.low) && len(run) == 0:
			k.addHigh(t.low)
			run = append(run, t.low)
		case x.lang == german && !t.upper && t.class&role == 0:
			flush()
			k.addHigh(t.low)
		case len(run) < 3:
			run = append(run, t.low)
		default:
			flush()
			run = append(run, t.low)
		}
	}
	flush()
}

func (k *keywordSet) hangul(s *sentence) {
	var run []string
	flush := func() {
		if len(run) > 0 {
			k.addLow(strings.Join(run, " "))
		}
		run = run[:0]
	}
	for i := range s.toks {
		t := &s.toks[i]
		if t.script != scriptHangul {
			flush()
			continue
		}
		w := analyseKorean(t.text)
		switch {
		case w.verbal && runes(w.stem) >= 2:
			flush()
			k.addHigh(w.stem)
		case w.verbal:
			flush()
		case koreanThemes[w.stem]:
			flush()
			k.addHigh(w.stem)
		default:
			run = append(run, w.stem)
			if w.particle != "" || len(run) == 3 {
				flush()
			}
		}
	}
	flush()
}

// complete sees to it that neither level is empty: the missing one is the
// question's theme, or what it names.
func (k *keywordSet) complete(q string) {
	if t := strings.TrimRight(oneLine(q), "?？.。! "); t != "" {
		q = t
	}
	switch {
	case len(k.high) == 0 && len(k.low) == 0:
		k.addHigh(q)
		k.addLow(q)
	case len(k.high) == 0:
		k.addHigh(strings.Join(k.low[:min(len(k.low), 3)], " "))
	case len(k.low) == 0:
		for _, h := range k.high {
			k.addLow(h)
		}
	}
}

var (
	koreanThemes = set(`영향 역할 관계 원인 이유 차이 차이점 주제 요약 개요 역사 과제 목적 효과 의미 중요성 특징 변화 방법 문제 위험 장점 단점 전략 공통점 배경 문서 문서들 자료`)
	hanThemes    = set(`影响 作用 关系 原因 区别 主题 总结 概述 历史 挑战 目的 效果 意义 重要性 特点 变化 方法 问题 风险 优点 缺点 战略 背景 联系 角色 影響 関係 歴史 役割 目的 理由 課題 文档 文件 文章 文書`)
)
