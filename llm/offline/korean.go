package offline

import (
	"strings"
	"unicode/utf8"
)

// Particles by what the syllable before them must be: with a final consonant,
// without one, or either. Longer ones come first.
var (
	particlesAny    = strings.Fields(`에서는 에게서 으로써 에서도 에게는 까지는 부터는 에서 에게 까지 부터 에는 에도 보다 처럼 마다 만의 들은 들이 들을 들의 들과 의 에 도 만`)
	particlesClosed = strings.Fields(`으로서 으로써 으로는 으로 이라는 이라고 이며 이나 은 이 을 과`)
	particlesOpen   = strings.Fields(`로서 로써 로는 라는 라고 며 나 는 가 를 와 로`)

	// Endings that make a predicate of the word: no noun, but with 하다 or 되다
	// its stem names what happens.
	koreanVerbEnds  = strings.Fields(`하였습니다 되었습니다 했습니다 됐습니다 하였다 되었다 했으며 됐으며 하였으며 되었으며 합니다 됩니다 했다 됐다 한다 된다 하고 되고 하며 되며 하는 되는 하여 되어 해서 돼서 하기 되기 하게 하던 했던 됐던 하면 되면 하지 되지 한 된 할 될 함 됨 해 시킨다 시켰다 시키는`)
	koreanPredicate = strings.Fields(`이었습니다 였습니다 입니다 이었다 였다 이다 이며 이고 인`)
	koreanOther     = strings.Fields(`나요 까요 가요 세요 는가 인가 은가 을까 니까 지요 습니다 니다 었다 았다 였다 겠다 졌다 렸다 났다 왔다 갔다 있다 없다 않다 는다 인다 른다 었고 았고 있고 없고 있는 없는 않는 많은 적인 적으로 면서 지만 아서 어서 려고 도록 는데 었던 았던 어야 아야 리는 어난 어진 러한 다는 다고 려는 워진 위한`)

	koreanStop = set(`그 이 저 것 수 등 및 또는 그리고 그러나 하지만 또한 그는 그녀 그녀는 그의 그들 이는 이것 이것은 그것 우리 나 너 당신 여기 거기 저기 매우 아주 가장 더 덜 모든 각 여러 많은 다른 같은 이런 그런 어떤 무슨 무엇 무엇을 무엇이 무엇인가 누구 누가 언제 어디 어디서 어디에 왜 어떻게 얼마나 몇 어느 대한 대해 대하여 위해 위한 위하여 통해 통한 통하여 따라 따른 의해 의한 관한 관해 때 때문 때문에 중 중에 중에서 후 전 뒤 동안 이후 이전 당시 현재 오늘 오늘날 지금 다시 이미 아직 항상 자주 특히 즉 예를 들어 들면 바로 함께 거의 약 총 년 월 일 년에 년부터 년까지 명 명의 개 개의 첫 두 세 네 다섯 한 하나 번째 처음 처음으로 있다 있는 없다 되었다 됐다 했다 이후로 그곳 이곳 사이 사이에 위 아래 안 밖 정도 역시 물론 매년 해 그래서 따라서 그러므로 무엇입니까 설명해 알려 주세요 하루 날 데 곳 점 큰 작은 새로운 새 좋은 오래된 주요 중요한 년대 경우 후에 만에 이를 가지 말 뜻 이름 무엇인가요 누구인가요 어디인가요`)
	// Nouns that end like a noun with a particle.
	koreanWhole = set(`고양이 어린이 놀이 차이 나이 높이 길이 깊이 종이 아이 제주도 경기도 강원도 전라도 경상도 충청도 온도 속도 습도 제도 지도 정도 고도 밀도 각도 태도 한반도 반도 독도 염도 도로 회로 경로 통로 항로 진로 국가 작가 평가 전문가 화가 음악가 사업가 과학가 건축가 물가 회의 정의 주의 강의 논의 민주주의 자본주의 결과 효과 성과 과과 사과 학과 통과 교과 불만 대만 가을 마을 노을 은행 조사 원자로 미래 하나 바나나 판다 바다 우유 아프리카 재료 의료 자료 치료 음료 진료 세포 어부 정부 별로 서로 스스로 대로 수도 인도 철도 위도 경도 궤도 파도 포도 용도 의도 시도 강도 농도 한국 북한 이순신 세종 백두산 교가 휴가 증가 추가 참가 허가 시가 투자가`)

	koreanOrg     = strings.Fields(`대학교 대학 연구소 연구원 연구센터 센터 회사 주식회사 그룹 은행 위원회 협회 재단 기구 정부 학교 병원 박물관 도서관 미술관 연합 공사 학회 조합 협동조합 전자 기업 사무소 관측소 기술원 과학원`)
	koreanPlace   = strings.Fields(`특별시 광역시 반도 바다 해협 해안 항구 군도 산맥 평야 마을`)
	koreanPlace1  = "시도군구동강산섬호만국역항"
	koreanPlaces  = set(`서울 부산 대구 인천 광주 대전 울산 제주 제주도 강릉 여수 목포 포항 경주 전주 수원 한국 대한민국 조선 북한 미국 일본 중국 독일 프랑스 영국 러시아 인도 호주 캐나다 이탈리아 스페인 폴란드 유럽 아시아 아프리카 한강 낙동강 베를린 파리 런던 도쿄 베이징 뉴욕`)
	koreanTitles  = set(`교수 박사 씨 대통령 장군 선생 선생님 여사 대왕 왕 사장 회장 작가 의원 총리 장관 소장 감독 시인 화가 과학자 물리학자 화학자 연구원 원장 기자`)
	koreanRoles   = strings.Fields(`과학자 물리학자 화학자 생물학자 수학자 공학자 학자 작가 시인 화가 소설가 정치인 군인 장군 교수 의사 배우 가수 기업가 발명가 연구자 철학자 음악가 언론인 왕`)
	koreanPersonV = strings.Fields(`태어났 태어난 태어나 출생 사망 별세 졸업 결혼`)
)

// SplitParticle cuts a grammatical particle off a word of Hangul, where it
// follows a syllable that it can follow. The stem keeps at least two syllables;
// particle is empty when there is none, or the word is known to be whole.
func SplitParticle(w string) (stem, particle string) {
	if koreanWhole[w] || len(w) < 9 {
		return w, ""
	}
	for _, list := range [...][]string{particlesAny, particlesClosed, particlesOpen} {
		for _, p := range list {
			if len(w) < len(p)+6 || !strings.HasSuffix(w, p) {
				continue
			}
			stem = w[:len(w)-len(p)]
			r, _ := utf8.DecodeLastRuneInString(stem)
			if scriptOf(r) != scriptHangul {
				continue
			}
			final := (r - 0xac00) % 28
			switch {
			case &list[0] == &particlesClosed[0] && final == 0,
				&list[0] == &particlesOpen[0] && final != 0 && !(p[0:3] == "로" && final == 8):
				continue
			}
			return stem, p
		}
	}
	return w, ""
}

// koreanWord is a word of Hangul taken apart.
type koreanWord struct {
	stem     string
	particle string
	verbal   bool // a predicate; stem is what happens ("설립"), or ""
}

func analyseKorean(w string) koreanWord {
	if koreanStop[w] {
		return koreanWord{verbal: true}
	}
	if koreanWhole[w] {
		return koreanWord{stem: w}
	}
	for _, p := range koreanPredicate {
		if len(w) >= len(p)+6 && strings.HasSuffix(w, p) && !(p == "인" && len(w) < 12) {
			return koreanWord{stem: w[:len(w)-len(p)], particle: "이다"}
		}
	}
	for _, p := range koreanVerbEnds {
		if len(w) >= len(p)+6 && strings.HasSuffix(w, p) {
			return koreanWord{stem: w[:len(w)-len(p)], verbal: true}
		}
	}
	for _, p := range koreanOther {
		if len(w) >= len(p)+3 && strings.HasSuffix(w, p) {
			return koreanWord{verbal: true}
		}
	}
	if strings.HasSuffix(w, "다") || len(w) < 6 {
		return koreanWord{verbal: true}
	}
	stem, p := SplitParticle(w)
	if koreanStop[stem] {
		return koreanWord{verbal: true}
	}
	return koreanWord{stem: stem, particle: p}
}

// koreanNouns finds nouns by taking particles off, and joins a noun that has
// none with the noun behind it.
func (x *extraction) koreanNouns() {
	for si := range x.sents {
		s := &x.sents[si]
		for k := 0; k < len(s.toks); {
			if s.toks[k].script != scriptHangul {
				k++
				continue
			}
			k = x.koreanPhrase(int32(si), k)
		}
	}
}

// koreanPhrase reads the noun phrase at token k and returns where to go on.
func (x *extraction) koreanPhrase(si int32, k int) int {
	s := &x.sents[si]
	toks := s.toks
	first := analyseKorean(toks[k].text)
	if first.verbal || first.stem == "" || k > 0 && !toks[k].space && toks[k-1].script == scriptDigit {
		return k + 1
	}
	// The words of the phrase: all but the last are bare nouns.
	end, words := k+1, []koreanWord{first}
	for words[len(words)-1].particle == "" && end < len(toks) && len(words) < 4 && toks[end].script == scriptHangul && toks[end].space && end > 0 {
		next := analyseKorean(toks[end].text)
		if next.verbal || next.stem == "" {
			if koreanTitles[toks[end].text] {
				next = koreanWord{stem: toks[end].text}
			} else {
				break
			}
		}
		words = append(words, next)
		end++
	}
	// A title ends a person's name and is no part of it.
	titled := false
	if n := len(words); n > 1 && koreanTitles[words[n-1].stem] {
		titled = true
		words = words[:n-1]
	} else if n > 1 && koreanTitles[words[0].stem] && runes(words[1].stem) >= 2 {
		titled = true
		k++
		words = words[1:]
	}
	lastTok := &toks[k+len(words)-1]
	last := words[len(words)-1]
	start, stop := toks[k].start, lastTok.start+int32(len(last.stem))
	name := strings.Join(strings.Fields(s.text[start:stop]), " ")
	subject := k <= 1 && hasTopic(words, toks, end)
	x.koreanTerm(si, name, last, len(words), titled, subject, mention{start: start, end: stop, subject: subject, defined: subject && definesKorean(s.text)})
	if len(words) > 1 {
		for n, w := range words { // each part may be a repeated term of its own
			if t := &toks[k+n]; runes(w.stem) >= 2 {
				id := x.add(w.stem, kindConcept)
				x.mention(si, mention{entity: id, start: t.start, end: t.start + int32(len(w.stem))})
			}
		}
	}
	return end
}

func hasTopic(words []koreanWord, toks []token, end int) bool {
	p := words[len(words)-1].particle
	if p == "" && end > 0 && toks[end-1].script == scriptHangul {
		_, p = SplitParticle(toks[end-1].text)
	}
	return p == "은" || p == "는" || p == "이" || p == "가"
}

func definesKorean(text string) bool {
	text = strings.TrimRight(text, ".!? ")
	if i := strings.IndexByte(text, ','); i > 0 {
		for _, p := range [...]string{"로", "으로", "이며", "이자", "로서"} {
			if endsWith(strings.TrimSuffix(text[:i], p), koreanRoles) {
				return true
			}
		}
	}
	for _, p := range [...]string{"이다", "입니다", "이었다", "였다", "말한다", "뜻한다"} {
		if strings.HasSuffix(text, p) {
			return true
		}
	}
	return false
}

// koreanTerm stores a noun phrase with what its suffix, particle and sentence
// say of its type.
func (x *extraction) koreanTerm(si int32, name string, last koreanWord, words int, titled, subject bool, m mention) {
	if n := runes(name); n < 2 || n > 24 {
		return
	}
	m.entity = x.add(name, kindConcept)
	e := &x.entities[m.entity]
	sentence := x.sents[si].text
	typ := typeConcept
	switch {
	case titled:
		typ = typePerson
	case koreanPlaces[name]:
		typ = typeLocation
	case endsWith(name, koreanOrg) && runes(name) > 2:
		typ = typeOrganization
	case endsWith(name, koreanPlace) && runes(name) > 2:
		typ = typeLocation
	case words == 1 && runes(name) >= 3 && strings.ContainsRune(koreanPlace1, lastRune(name)) && !koreanWhole[name]:
		typ = typeLocation
	}
	if typ != typeConcept {
		e.vote(typ, 2)
		e.admitted = true
	}
	if subject {
		e.admitted = true
		for _, v := range koreanPersonV {
			if strings.Contains(sentence, v) {
				e.vote(typePerson, 3)
				break
			}
		}
		if m.defined {
			e.vote(koreanDefinition(sentence), 3)
		}
	}
	if last.particle == "에서" {
		rest := sentence[m.end:]
		for _, v := range [...]string{"에서 태어", "에서 출생", "에서 열", "에서 자랐"} {
			if strings.HasPrefix(rest, v) {
				e.vote(typeLocation, 2)
				e.admitted = true
			}
		}
	}
	x.mention(si, m)
}

// koreanDefinition types the predicate noun of "X는 Y이다".
func koreanDefinition(sentence string) entityType {
	s := strings.TrimRight(sentence, ".!? ")
	if i := strings.IndexByte(s, ','); i > 0 {
		for _, p := range [...]string{"로", "으로", "이며", "이자", "로서"} {
			if endsWith(strings.TrimSuffix(s[:i], p), koreanRoles) {
				return typePerson
			}
		}
	}
	for _, p := range koreanPredicate {
		if strings.HasSuffix(s, p) {
			s = s[:len(s)-len(p)]
			break
		}
	}
	switch {
	case endsWith(s, koreanRoles):
		return typePerson
	case endsWith(s, koreanOrg):
		return typeOrganization
	case endsWith(s, koreanPlace), strings.HasSuffix(s, "도시"), strings.HasSuffix(s, "수도"), strings.HasSuffix(s, " 강"), strings.HasSuffix(s, " 섬"), strings.HasSuffix(s, " 산"), strings.HasSuffix(s, "나라"):
		return typeLocation
	}
	return typeConcept
}

func endsWith(s string, suffixes []string) bool {
	for _, x := range suffixes {
		if strings.HasSuffix(s, x) {
			return true
		}
	}
	return false
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}
