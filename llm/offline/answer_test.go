package offline

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

const (
	sampleHarbour = `# The Harbour Wall of Port Ellery

Port Ellery is a fishing town on the north coast. In 2014 the town council approved a new harbour wall, designed by the engineer Tomas Reuter. The wall reflects waves back into the bay, so the beach in front of it loses sand every winter. The council now works with the Ellery Marine Institute on softer ways to protect the coast. Reuter admitted that concrete alone cannot hold back the sea.
`
	sampleKelp = `# Restoring the kelp forest

The Ellery Marine Institute restored 40 hectares of kelp forest between 2017 and 2022. Divers planted 12,000 young kelp plants on gravel and rope. Kelp slows waves before they reach the shore and shelters young cod. The programme is led by Dr. Ingrid Halvorsen, a marine biologist. She studied in Bergen and joined the institute in 2011. Because sea urchins eat kelp, the divers also removed urchins by hand.
`
	sampleStorm = `# Storm Aurelia

Storm Aurelia struck the north coast in November 2021. Port Ellery lost eleven boats, but the streets behind the restored kelp forest stayed dry. Measurements by the University of Bergen showed that the kelp forest lowered wave height by a fifth. The storm convinced the council to extend the kelp programme rather than raise the wall.
`
)

func passages(texts ...string) []llm.Passage {
	var ps []llm.Passage
	for i, t := range texts {
		n := strconv.Itoa(i + 1)
		ps = append(ps, llm.Passage{Reference: n, Path: "doc" + n + ".md", Text: t})
	}
	return ps
}

func TestAnswerChoosesAndCites(t *testing.T) {
	all := passages(sampleHarbour, sampleKelp, sampleStorm, sampleEnglish, sampleKorean, sampleChinese, sampleGerman)
	for _, c := range []struct{ question, text string }{
		{"Who designed the harbour wall?", "In 2014 the town council approved a new harbour wall, designed by the engineer Tomas Reuter. [1]"},
		{"How many kelp plants were planted?", "Divers planted 12,000 young kelp plants on gravel and rope. [2]"},
		{"When did Storm Aurelia strike the coast?", "Storm Aurelia struck the north coast in November 2021. [3]"},
		{"When did Marie Curie win the Nobel Prize?", "In 1903 Curie shared the Nobel Prize with Pierre Curie and Henri Becquerel. [4]"},
		{"Where was Marie Curie born?", "Marie Curie was a Polish-born physicist and chemist who pioneered research on radioactivity. [4] She was born in Warsaw in 1867 and moved to Paris in 1891. [4]"},
		{"Why were urchins removed?", "Because sea urchins eat kelp, the divers also removed urchins by hand. [2]"},
		{"Who leads the institute that restored the kelp forest, and where did she study?",
			"The Ellery Marine Institute restored 40 hectares of kelp forest between 2017 and 2022. [2] The programme is led by Dr. Ingrid Halvorsen, a marine biologist. [2] She studied in Bergen and joined the institute in 2011. [2]"},
		{"자격루는 누가 만들었나요?", "장영실은 조선의 과학자로, 세종대왕의 지원을 받아 자격루를 만들었다. [5]"},
		{"세종대왕은 어디에서 태어났나요?", "세종대왕은 조선의 제4대 왕이다. [5] 그는 1397년 한양에서 태어났다. [5]"},
		{"长江流经哪些城市？", "长江发源于青藏高原，流经重庆、武汉和上海等城市。 [6]"},
		{"谁成立了长江水质研究所？", "李明教授出生于武汉，毕业于武汉大学，长期研究长江的水质变化。 [6] 他在2005年成立了长江水质研究所。 [6]"},
		{"Wo wurde Lise Meitner geboren?", "Lise Meitner war eine österreichische Physikerin, die in Wien geboren wurde. [7]"},
		{"What is the capital of Mongolia?", NothingFound},
		{"量子力学是什么？", NothingFound},
		{"양자역학이란 무엇인가?", NothingFound},
	} {
		got := complete(t, llm.TaskAnswer, llm.Input{Question: c.question, Passages: all})
		text, refs, _ := strings.Cut(got, "\n\n### References\n\n")
		if text != c.text {
			t.Errorf("%s\n got %s\nwant %s", c.question, text, c.text)
			continue
		}
		checkReferences(t, text, refs, all)
	}
}

// checkReferences asserts that exactly the cited passages are listed, each once.
func checkReferences(t testing.TB, text, refs string, ps []llm.Passage) {
	t.Helper()
	var want []string
	for _, part := range strings.Split(text, " [")[1:] {
		n, _, _ := strings.Cut(part, "]")
		for _, p := range ps {
			if line := "- [" + n + "] " + p.Path; p.Reference == n && !contains(want, line) {
				want = append(want, line)
			}
		}
	}
	if got := strings.Join(want, "\n"); got != refs {
		t.Errorf("references %q, want %q", refs, got)
	}
}

func TestAnswerCombinesDocuments(t *testing.T) {
	for _, c := range []struct {
		question string
		passages []llm.Passage
		facts    []llm.Fact
		cited    []string
		holds    []string
	}{
		{
			question: "How do the kelp forest and the harbour wall each protect the coast from waves and storms?",
			passages: passages(sampleHarbour, sampleKelp, sampleStorm), cited: []string{"1", "2", "3"},
			holds: []string{"harbour wall", "kelp forest"},
		},
		{
			question: "Which river flows through the city where Marie Curie was born?",
			passages: passages(sampleKelp, "Marie Curie was born in Warsaw in 1867. She liked cycling.", "The Vistula is the longest river of Poland. It flows through Warsaw and Krakow."),
			cited:    []string{"2", "3"}, holds: []string{"born in Warsaw", "flows through Warsaw"},
		},
		{
			question: "Who runs the laboratory of the comet mission?",
			passages: passages("The comet mission was built at the Halden laboratory.", "Mirel Tassan runs Halden with a staff of forty.", "Osk Brandt runs a bakery in the old town."),
			facts:    []llm.Fact{{Name: "comet mission", Target: "Halden", Description: "The comet mission was built at the Halden laboratory."}},
			cited:    []string{"1", "2"}, holds: []string{"Mirel Tassan"},
		},
		{
			question: "What are the main themes of these documents?",
			passages: passages(sampleHarbour, sampleKelp, sampleStorm), cited: []string{"1", "2", "3"},
		},
	} {
		got := complete(t, llm.TaskAnswer, llm.Input{Question: c.question, Passages: c.passages, Facts: c.facts})
		text, refs, _ := strings.Cut(got, "\n\n### References\n\n")
		for _, n := range c.cited {
			if !strings.Contains(text, " ["+n+"]") {
				t.Errorf("%s\n%s\ndoes not cite %s", c.question, text, n)
			}
		}
		for _, w := range c.holds {
			if !strings.Contains(text, w) {
				t.Errorf("%s\n%s\ndoes not say %q", c.question, text, w)
			}
		}
		if n := strings.Count(text, " ["); n > maxAnswer {
			t.Errorf("%s: %d sentences", c.question, n)
		}
		if strings.Contains(text, "bakery") {
			t.Errorf("%s: an unrelated sentence was chosen", c.question)
		}
		checkReferences(t, text, refs, c.passages)
	}
}

func TestAnswerWithoutMaterial(t *testing.T) {
	for _, in := range []llm.Input{{}, {Question: "Who?"}, {Question: "Who designed it?", Passages: passages("")}, {Passages: passages(sampleKelp)}} {
		if got := complete(t, llm.TaskAnswer, in); got != NothingFound {
			t.Errorf("%+v gives %q", in, got)
		}
	}
}

func TestAnswerStreamsSentences(t *testing.T) {
	var pieces []string
	req := llm.Request{Task: llm.TaskAnswer, Input: llm.Input{Question: "Who leads the kelp programme and where did she study?", Passages: passages(sampleKelp)},
		Stream: func(s string) error { pieces = append(pieces, s); return nil }}
	r, err := NewCompleter().Complete(context.Background(), req)
	if err != nil || strings.Join(pieces, "") != r.Text || len(pieces) < 3 {
		t.Fatalf("%q, %v, want the pieces of %q", pieces, err, r.Text)
	}
	broken := errors.New("pipe closed")
	req.Stream = func(string) error { return broken }
	if _, err := NewCompleter().Complete(context.Background(), req); !errors.Is(err, broken) {
		t.Errorf("error of the stream became %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	req.Stream = func(string) error { cancel(); return nil }
	if _, err := NewCompleter().Complete(ctx, req); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled between pieces: %v", err)
	}
}

func TestKeywordsOfQuestions(t *testing.T) {
	for _, c := range []struct {
		question  string
		high, low []string // among the keywords
	}{
		{"Who founded the Curie Institute and what does it do for the WHO?", []string{"founded"}, []string{"Curie Institute", "WHO"}},
		{"What themes connect the documents?", []string{"themes", "connect"}, nil},
		{"How does retrieval-augmented generation reduce hallucination?", []string{"reduce", "hallucination"}, []string{"retrieval-augmented generation"}},
		{"Who is Ada Lovelace?", nil, []string{"Ada Lovelace"}},
		{"김치의 발효 과정은 환경에 어떻게 영향을 받나요?", []string{"영향"}, []string{"김치", "발효 과정", "환경"}},
		{"长江流经哪些城市？", []string{"流经"}, []string{"长江", "城市"}},
		{"气候变化对三峡大坝有什么影响？", []string{"影响"}, []string{"气候变化", "三峡大坝"}},
		{"Welche Rolle spielt die Elbe für Hamburg?", []string{"Rolle"}, []string{"Elbe", "Hamburg"}},
		{"what is it?", nil, nil},
		{"?", nil, nil},
		{"東京大学の役割は何ですか", []string{"役割"}, []string{"東京大学"}},
	} {
		var got struct {
			High []string `json:"high_level_keywords"`
			Low  []string `json:"low_level_keywords"`
		}
		text := complete(t, llm.TaskKeywords, llm.Input{Question: c.question})
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if len(got.High) == 0 && len(got.Low) == 0 {
			t.Errorf("%s: no keywords", c.question)
		}
		for _, w := range c.high {
			if !contains(got.High, w) {
				t.Errorf("%s: high level %q lacks %q", c.question, got.High, w)
			}
		}
		for _, w := range c.low {
			if !contains(got.Low, w) {
				t.Errorf("%s: low level %q lacks %q", c.question, got.Low, w)
			}
		}
	}
	if got := complete(t, llm.TaskKeywords, llm.Input{Question: " \n"}); got != `{"high_level_keywords":[],"low_level_keywords":[]}` {
		t.Errorf("blank question: %s", got)
	}
}

func TestSummaryFitsAndKeepsWhatMatters(t *testing.T) {
	in := llm.Input{Name: "Kelp", Kind: "entity", Descriptions: []string{
		"Kelp is a brown alga that forms forests. Kelp slows waves.",
		"Kelp slows waves.",
		"Kelp forests shelter young cod and slow waves before they reach the shore. A diver once lost a glove.",
	}}
	full := complete(t, llm.TaskSummary, in)
	if strings.Count(full, "Kelp slows waves.") > 1 || !strings.HasPrefix(full, "Kelp is a brown alga that forms forests.") || !strings.Contains(full, "young cod") {
		t.Errorf("summary %q", full)
	}
	for _, limit := range []int{1, 5, 12, 20, 40} {
		in.MaxTokens = limit
		if got := complete(t, llm.TaskSummary, in); tokensOf(got) > limit || got == "" {
			t.Errorf("%d tokens allowed, got %d: %q", limit, tokensOf(got), got)
		}
	}
	in.MaxTokens = 12
	if got := complete(t, llm.TaskSummary, in); got != "Kelp is a brown alga that forms forests." {
		t.Errorf("twelve tokens: %q", got)
	}
	korean := llm.Input{Descriptions: []string{"한강은 서울을 흐르는 강이다.", "한강은 서해로 흘러든다."}, MaxTokens: 40}
	if got := complete(t, llm.TaskSummary, korean); !strings.Contains(got, "강이다.") || tokensOf(got) > 40 {
		t.Errorf("Korean: %q", got)
	}
	if got := complete(t, llm.TaskSummary, llm.Input{}); got != "" {
		t.Errorf("nothing summarised to %q", got)
	}
}

func TestFixedAnswers(t *testing.T) {
	if got := complete(t, llm.TaskGlean, llm.Input{Text: sampleEnglish}); got != completed {
		t.Errorf("glean: %q", got)
	}
	if got := complete(t, llm.TaskChat, llm.Input{Question: "hello"}); got != CannotChat {
		t.Errorf("chat: %q", got)
	}
	if _, err := NewCompleter().Complete(context.Background(), llm.Request{}); !errors.Is(err, ErrTask) || !errors.Is(err, llm.ErrInvalid) {
		t.Errorf("no task: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NewCompleter().Complete(ctx, llm.Request{Task: llm.TaskChat}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if m := NewCompleter().Model(); m != "offline-2" {
		t.Errorf("model %q", m)
	}
}

func TestAnswersAreDeterministic(t *testing.T) {
	in := llm.Input{Question: "How do kelp and the wall change the coast?", Passages: passages(sampleHarbour, sampleKelp, sampleStorm), Descriptions: []string{sampleKelp, sampleStorm}}
	for _, task := range []llm.Task{llm.TaskAnswer, llm.TaskKeywords, llm.TaskSummary} {
		first := complete(t, task, in)
		for range 5 {
			if complete(t, task, in) != first {
				t.Fatalf("%s: two answers differ", task)
			}
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("Who designed the wall?", sampleHarbour, "Tomas Reuter")
	f.Add("자격루는 누가 만들었나요?", sampleKorean, "장영실")
	f.Add("长江流经哪些城市？", sampleChinese, "长江")
	f.Add("themes", "She. It. 他在。", "")
	f.Fuzz(func(t *testing.T, question, text, fact string) {
		in := llm.Input{Question: question, Passages: passages(text, fact+" "+text), Facts: []llm.Fact{{Name: fact, Description: text}}, Descriptions: []string{text, fact}, MaxTokens: 30}
		got := complete(t, llm.TaskAnswer, in)
		if got != complete(t, llm.TaskAnswer, in) {
			t.Fatal("two answers differ")
		}
		if got != NothingFound && !strings.Contains(got, "\n\n### References\n\n- [") {
			t.Fatalf("an answer without references: %q", got)
		}
		if s := complete(t, llm.TaskSummary, in); tokensOf(s) > 30 {
			t.Fatalf("summary of %d tokens", tokensOf(s))
		}
		var k map[string][]string
		if err := json.Unmarshal([]byte(complete(t, llm.TaskKeywords, in)), &k); err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(clean(question)) != "" && len(k["high_level_keywords"])+len(k["low_level_keywords"]) == 0 {
			t.Fatalf("no keywords for %q", question)
		}
	})
}
