package llm

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// brief renders an extraction in one comparable line per record.
func brief(e Extraction) []string {
	type row struct {
		index int
		text  string
	}
	var rows []row
	for _, r := range e.Entities {
		rows = append(rows, row{r.Index, fmt.Sprintf("E %s|%s|%s", r.Name, r.Type, r.Description)})
	}
	for _, r := range e.Relations {
		rows = append(rows, row{r.Index, fmt.Sprintf("R %s|%s|%s|%s|%d", r.Source, r.Target, strings.Join(r.Keywords, ","), r.Description, r.Weight)})
	}
	slices.SortFunc(rows, func(a, b row) int { return a.index - b.index })
	var out []string
	for _, r := range rows {
		out = append(out, r.text)
	}
	return out
}

// D and C stand for the delimiter and the completion mark in the tables.
var marks = strings.NewReplacer("·", delimiter, "¶", completeUpper)

func TestParseCurrentFormat(t *testing.T) {
	for _, c := range []struct {
		name, in  string
		want      []string
		malformed int
	}{
		{"plain", "entity·Ada·person·wrote notes\nrelation·Ada·Engine·use, theory·explains\n¶",
			[]string{"E Ada|person|wrote notes", "R Ada|Engine|theory,use|explains|1000000"}, 0},
		{"relationship and capitals", "Entity·A·Geo·d\nRELATIONSHIP·A·B·k·d", []string{"E A|geo|d", "R A|B|k|d|1000000"}, 0},
		{"quoted and parenthesised", `("entity"·"A"·"geo"·"says ""no""")`, []string{`E A|geo|"says ""no"""`}, 0},
		{"spaced core-less delimiter is text", "entity·Shell·concept·uses a <|> b in pipes", []string{"E Shell|concept|uses a <|> b in pipes"}, 0},
		{"spaced double pipe is text", "entity·Guard·concept·if (x <|| y) then skip", []string{"E Guard|concept|if (x <|| y) then skip"}, 0},
		{"glued core-less delimiter in a whole row is text", "entity·Shell·concept·a<|>b", []string{"E Shell|concept|a<|>b"}, 0},
		{"glued core-less delimiters", "relation<|>ToolA<|>ToolB<|>pipeline<|>desc", []string{"R ToolA|ToolB|pipeline|desc|1000000"}, 0},
		{"glued double pipe", "entity·A<||>geo·d", []string{"E A|geo|d"}, 0},
		{"spaced pipe is left alone", "entity·A< | >B·geo·d", []string{"E A< | >B|geo|d"}, 0},
		{"six fields are dropped", "relation·A·B·k·d·e\nentity·A·geo·d", []string{"E A|geo|d"}, 1},
		{"a number in a sixth field is the weight", "relation·A·B·k·d·2.5\nrelation·A·C·k·d·-1\nrelation·A·D·k·d·0", []string{"R A|B|k|d|2500000", "R A|C|k|d|1000000", "R A|D|k|d|0"}, 0},
		{"numeric description is no weight", "relation·A·B·count·42", []string{"R A|B|count|42|1000000"}, 0},
		{"#>", "entity·X·geo<#|>d\nrelation<#|>A·B·k·d", []string{"E X|geo|d", "R A|B|k|d|1000000"}, 0},
		{"doubled pipe behind", "entity<|#||>Name·geo·d", []string{"E Name|geo|d"}, 0},
		{"unclosed", "entity·Name<|#||geo·d\nentity·Name<|#|geo·d", []string{"E Name|geo|d", "E Name|geo|d"}, 0},
		{"doubled pipe before", "entity·A·geo<||#|>d", []string{"E A|geo|d"}, 0},
		{"core missing before the description", "entity·A·geo<||>d", []string{"E A|geo|d"}, 0},
		{"doubled core", "entity·A<|#|#|>geo·d\nentity·A<|##|>geo<|#||#|>d", []string{"E A|geo|d", "E A|geo|d"}, 0},
		{"space inside a prefix delimiter", "entity<# |>A·geo·d", []string{"E A|geo|d"}, 0},
		{"unknown delimiter completes a row", "relation·A·B·k1, k2<|diff_marker|>d", []string{"R A|B|k1,k2|d|1000000"}, 0},
		{"unknown delimiter in a whole row is text", "entity·A·geo·uses <|im_end|> to stop", []string{"E A|geo|uses <|im_end|> to stop"}, 0},
		{"stray characters", "entity<L#|>A<[#|>geo<|#=>d\nentity<x|#|y>A·geo|#|>d\nentity<|#:A<|\\#|>geo||#||d",
			[]string{"E A|geo|d", "E A|geo|d", "E A|geo|d"}, 0},
		{"trailing pipes", "entity·|A·geo·|d", []string{"E A|geo|d"}, 0},
		{"language names are text", "entity·C#·language·C# and <C#> and #1 | a |# b", []string{"E C#|language|C# and <C#> and #1 | a |# b"}, 0},
		{"relation written as entity", "entity·A/B·C·k·d", []string{"R A/B|C|k|d|1000000"}, 0},
		{"relation without keywords", "relation·A·B·d", []string{"R A|B||d|1000000"}, 0},
		{"relation with blank keywords", "relation·A·B· ·d", []string{"R A|B||d|1000000"}, 0},
		{"full-width commas", "relation·A·B·k，l·d", []string{"R A|B|k,l|d|1000000"}, 0},
		{"self loop", "relation·A·A·k·d", nil, 0},
		{"self loop after normalising", `relation·"A"·A ·k·d`, nil, 0},
		{"type list", "entity·A·organization, company·d", []string{"E A|organization|d"}, 0},
		{"forbidden type", "entity·A·a/b·d", nil, 1},
		{"empty type", "entity·A· ·d", nil, 1},
		{"unusable name", "entity·12·data·d", nil, 1},
		{"glued rows", "entity·A·geo·d·entity·B·geo·e·relation·A·B·k·f", []string{"E A|geo|d", "E B|geo|e", "R A|B|k|f|1000000"}, 0},
		{"a type called entity", "entity·A·entity·d", []string{"E A|entity|d"}, 0},
		{"mark in the line", "entity·A·geo·d¶entity·B·geo·e<|complete|>", []string{"E A|geo|d", "E B|geo|e"}, 0},
		{"prose and fences around", "I need to re-check the list.\n```\nentity·A·geo·d\n```\nDone | ok", []string{"E A|geo|d"}, 0},
		{"list marks", "- entity·A·geo·d\n2. relation·A·B·k·d", []string{"E A|geo|d", "R A|B|k|d|1000000"}, 0},
		{"thoughts", "<think>entity·No·geo·no</think>\nentity·A·geo·d", []string{"E A|geo|d"}, 0},
		{"thoughts without a beginning", "entity·No·geo·no</think>\nentity·A·geo·d", []string{"E A|geo|d"}, 0},
		{"closing tag in a description", "entity·A·geo·ends with </think> tag", []string{"E A|geo|ends with </think> tag"}, 0},
		{"long name on both sides", "relation·" + strings.Repeat("学", 300) + "·B·k·d", []string{"R " + strings.Repeat("学", 170) + "|B|k|d|1000000"}, 0},
		{"windows line ends", "entity·A·geo·d\r\nentity·B·geo·e\r\n", []string{"E A|geo|d", "E B|geo|e"}, 0},
		{"unknown row", "event·A·geo·d", nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := ParseExtraction(marks.Replace(c.in))
			if got := brief(e); !reflect.DeepEqual(got, c.want) || e.Malformed != c.malformed {
				t.Errorf("have %q, %d malformed\nwant %q, %d", got, e.Malformed, c.want, c.malformed)
			}
			if len(c.want) > 0 && e.Format != FormatCurrent {
				t.Errorf("format %s", e.Format)
			}
		})
	}
}

func TestParseOldFormat(t *testing.T) {
	for _, c := range []struct {
		name, in  string
		want      []string
		malformed int
	}{
		{"plain", `("entity"<|>"A Name"<|>"Natural Object"<|>"Says ""so"".")##
("relationship"<|>"A Name"<|>"B"<|>"knows"<|>"k, l"<|>9)##
("content_keywords"<|>"x")¶`, []string{`E A Name|naturalobject|Says ""so"".`, "R A Name|B|k,l|knows|9000000"}, 0},
		{"no keywords", `("relationship"<|>"A"<|>"B"<|>"d"<|>9)`, []string{"R A|B||d|9000000"}, 0},
		{"no weight", `("relationship"<|>"A"<|>"B"<|>"d"<|>"k")`, []string{"R A|B|k|d|1000000"}, 0},
		{"neither", `("relationship"<|>"A"<|>"B"<|>"d")`, []string{"R A|B||d|1000000"}, 0},
		{"fraction", `("relationship"<|>"A"<|>"B"<|>"d"<|>"k"<|>0.5)`, []string{"R A|B|k|d|500000"}, 0},
		{"weights that are none", `("relationship"<|>"A"<|>"B"<|>"d"<|>"k"<|>-3)##("relationship"<|>"A"<|>"C"<|>"d"<|>"k"<|>NaN)##("relationship"<|>"A"<|>"E"<|>"d"<|>"k"<|>high)`,
			[]string{"R A|B|k|d|1000000", "R A|C|k|d|1000000", "R A|E|k|d|1000000"}, 0},
		{"delimiter in the description", `("relationship"<|>"A"<|>"B"<|>"d"<|>'x'<|>"k"<|>9)`, []string{"R A|B|k|d|9000000"}, 0},
		{"broken delimiter: no less-than", `("relationship"<|>"A"<|>"B"<|>"desc."|>"kw"<|>9)`, []string{"R A|B|kw|desc.|9000000"}, 0},
		{"broken delimiter: line break", "(\"relationship\"<|>\"A\"<|>\"B\"<|>\"desc\"<\n|>\"kw\"<|>9)", []string{"R A|B|kw|desc|9000000"}, 0},
		{"broken delimiter: slash", `("relationship"<|>"A"<|>"B"<|>"desc"</|>"kw")`, []string{"R A|B|kw|desc|1000000"}, 0},
		{"broken delimiter: plus", `("relationship"<|>"A"<|>"B"<|>"desc"+"kw"<|>9)`, []string{"R A|B|kw|desc|9000000"}, 0},
		{"broken delimiter before the weight", `("relationship"<|>"A"<|>"B"<|>"desc"|>7)`, []string{"R A|B||desc|7000000"}, 0},
		{"missing parenthesis", "(\"entity\"<|>\"A\"<|>\"geo\"<|>\"d\"\n(\"entity\"<|>\"B\"<|>\"geo\"<|>\"e\",\">\n\nLet me know (if any).",
			[]string{"E A|geo|d", "E B|geo|e"}, 0},
		{"missing opening parenthesis", "(\"entity\"<|>\"A\"<|>\"geo\"<|>\"d\")##\n\"relationship\"<|>\"A (x)\"<|>\"B\"<|>\"d\"<|>\"k\"<|>8)##", []string{"E A|geo|d", "R A (x)|B|k|d|8000000"}, 0},
		{"rows without ##", `("entity"<|>"A"<|>"geo"<|>"d")("entity"<|>"B"<|>"geo"<|>"e")`, []string{"E A|geo|d", "E B|geo|e"}, 0},
		{"heading in parentheses before", "## Books (new)\n\n(\"entity\"<|>\"A\"<|>\"geo\"<|>\"d\")##", []string{"E A|geo|d"}, 0},
		{"closing chatter", "(\"entity\"<|>\"A\"<|>\"geo\"<|>\"d\")##\n\nLet me know if you need more (or less)!", []string{"E A|geo|d"}, 0},
		{"parentheses inside", `("entity"<|>"A (b)"<|>"geo"<|>"d (e)." )##`, []string{"E A (b)|geo|d (e)."}, 0},
		{"keyword called relationship", `("relationship"<|>"A"<|>"B"<|>"d"<|>"relationship"<|>5)`, []string{"R A|B|relationship|d|5000000"}, 0},
		{"self loop", `("relationship"<|>"A"<|>"A"<|>"d"<|>"k"<|>9)`, nil, 0},
		{"debris in the type", `("entity"<|>"A"<|>("geo"<|>"d")`, nil, 1},
		{"three fields", `("entity"<|>"A"<|>"d")`, nil, 1},
		{"no quotes", `(entity<|>A<|>geo<|>d)##(relationship<|>A<|>B<|>d<|>k<|>2)`, []string{"E A|geo|d", "R A|B|k|d|2000000"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := ParseExtraction(marks.Replace(c.in))
			if got := brief(e); !reflect.DeepEqual(got, c.want) || e.Malformed != c.malformed {
				t.Errorf("have %q, %d malformed\nwant %q, %d", got, e.Malformed, c.want, c.malformed)
			}
			if e.Format != FormatOld {
				t.Errorf("format %s", e.Format)
			}
		})
	}
}

func TestParseJSONFormat(t *testing.T) {
	for _, c := range []struct {
		name, in  string
		want      []string
		malformed int
	}{
		{"plain", `{"entities":[{"name":"A","type":"Geo","description":"d"}],"relationships":[{"source":"A","target":"B","keywords":"k, l","description":"e"}]}`,
			[]string{"E A|geo|d", "R A|B|k,l|e|1000000"}, 0},
		{"fence and prose", "Here it is:\n```json\n{\"entities\":[{\"name\":\"A\",\"type\":\"Geo\",\"description\":\"d\"}],}\n```\nDone.", []string{"E A|geo|d"}, 0},
		{"keyword list", `{"entities":[],"relationships":[{"source":"A","target":"B","keywords":["l","k"],"description":"e"}]}`, []string{"R A|B|k,l|e|1000000"}, 0},
		{"formula", `{"entities":[{"name":"A","type":"Geo","description":"$\frac{a}{b}$ \beta \alpha \\x"}]}`, []string{`E A|geo|$\frac{a}{b}$ \beta \alpha \x`}, 0},
		{"cut off", `{"entities":[{"name":"A","type":"Geo","description":"d"},{"name":"B","type":"Geo"`, []string{"E A|geo|d"}, 1},
		{"not objects", `{"entities":["A",{"name":"B","type":"Geo","description":"d"}],"relationships":[3]}`, []string{"E B|geo|d"}, 2},
		{"raw line break", "{\"entities\":[{\"name\":\"A\",\"type\":\"Geo\",\"description\":\"d\ne\"}]}", []string{"E A|geo|d\ne"}, 0},
		{"pairs of surrogates", `{"entities":[{"name":"\ud83d\ude00\udc9a","type":"Geo","description":"\u00e9"}]}`, []string{"E 😀|geo|é"}, 0},
		{"list at the top", `[{"entities":[{"name":"A","type":"Geo","description":"d"}]}]`, nil, 0},
		{"two objects in a list", `[{"a":1},{"b":2}]`, nil, 0},
		{"note and a list", `{note} [{"a":1}]`, nil, 0},
		{"bracket in an open quote", `"oops [}{"a":1}]`, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := ParseExtraction(c.in)
			if got := brief(e); !reflect.DeepEqual(got, c.want) || e.Malformed != c.malformed {
				t.Errorf("have %q, %d malformed\nwant %q, %d", got, e.Malformed, c.want, c.malformed)
			}
			if len(c.want) > 0 && e.Format != FormatJSON {
				t.Errorf("format %s", e.Format)
			}
		})
	}
}

func TestParseWithoutRecords(t *testing.T) {
	for in, complete := range map[string]bool{
		"":               false,
		"¶":              true,
		"<|complete|>\n": true,
		"I'm sorry, but I can't assist with that.":            false,
		"- **Ada**: a person\n- **Engine**: a machine | x <y": false,
	} {
		e := ParseExtraction(marks.Replace(in))
		if e.Format != FormatNone || e.Complete != complete || len(brief(e)) != 0 || e.Malformed != 0 {
			t.Errorf("%q: %+v", in, e)
		}
	}
}

func TestParseContentKeywords(t *testing.T) {
	for _, in := range []string{
		"entity·A·geo·d\ncontent_keywords·y, x\n¶",
		`("entity"<|>"A"<|>"geo"<|>"d")##("content_keywords"<|>"y, x")¶`,
		`{"entities":[{"name":"A","type":"geo","description":"d"}],"content_keywords":["y","x"]}`,
	} {
		e := ParseExtraction(marks.Replace(in))
		if !slices.Equal(e.Keywords, []string{"x", "y"}) || len(e.Entities) != 1 || !e.Complete {
			t.Errorf("%q: %+v", in, e)
		}
	}
}

func TestParseBoundsRecords(t *testing.T) {
	e := ParseExtraction(strings.Repeat(marks.Replace("entity·A·geo·d\n"), maxRecords+10))
	if len(e.Entities) != maxRecords || e.Malformed != 10 || e.Entities[maxRecords-1].Index != 65535 {
		t.Errorf("%d entities, %d malformed", len(e.Entities), e.Malformed)
	}
	e = ParseExtraction(strings.Repeat(marks.Replace("entity·A·"+strings.Repeat("é", 500)+"\n"), 500))
	if len(e.Dropped) != maxDropped || e.Malformed != 500 || len([]rune(e.Dropped[0].Fields[2])) != 120 {
		t.Errorf("%d dropped, %d malformed", len(e.Dropped), e.Malformed)
	}
}

func TestParseKeywords(t *testing.T) {
	for _, c := range []struct {
		in        string
		high, low []string
		ok        bool
	}{
		{"```json {\"high_level_keywords\":[\"A\"],\"low_level_keywords\":[\"B\"]} ```", []string{"A"}, []string{"B"}, true},
		{"```json\n{\"high_level_keywords\":[\"A\"],\n\"low_level_keywords\":[\"B\"]}\n```", []string{"A"}, []string{"B"}, true},
		{`<think>{"high_level_keywords":["X"]}</think>{"high_level_keywords":["A"],"low_level_keywords":[]}`, []string{"A"}, nil, true},
		{`so {"high_level_keywords":["X"]}</think>{"high_level_keywords":["A"],"low_level_keywords":[]}`, []string{"A"}, nil, true},
		{`Sure: {"high_level_keywords":"AI, Agents","low_level_keywords":["RAG"]} Hope it helps.`, []string{"AI", "Agents"}, []string{"RAG"}, true},
		{`{"high_level_keywords":"a;b` + "\n" + `c，d","low_level_keywords":["x, y","x, y",3,null]}`, []string{"a", "b", "c", "d"}, []string{"x, y"}, true},
		{`{"high_level_keywords":[],"low_level_keywords":[]}`, nil, nil, true},
		{`{"low_level_keywords":["cut", "off`, nil, []string{"cut", "off"}, true},
		{"def f(x):\n    return {'a': [1]}\n", nil, nil, false},
		{`[{"high_level_keywords":["A"]}]`, nil, nil, false},
		{`{note} {"high_level_keywords":["A"]}`, nil, nil, false},
		{`{"a":1}`, nil, nil, false},
		{"", nil, nil, false},
	} {
		high, low, ok := ParseKeywords(c.in)
		if !slices.Equal(high, c.high) || !slices.Equal(low, c.low) || ok != c.ok {
			t.Errorf("%q: %q %q %v, want %q %q %v", c.in, high, low, ok, c.high, c.low, c.ok)
		}
	}
}

func TestMergeGleaning(t *testing.T) {
	first := ParseExtraction(marks.Replace("entity·A·geo·four\nentity·A·geo·second of A\nentity·B·geo·longer text\nrelation·A·B·k·short\n¶"))
	glean := ParseExtraction(marks.Replace("entity·A·person·éééé\nentity·B·person·longer text!\nentity·C·geo·new\nrelation·B·A·k·reversed\nrelation·A·B·l·not so short\nbad·row·x"))
	m := MergeGleaning(first, glean)
	var got []string
	for _, e := range m.Entities {
		got = append(got, fmt.Sprint(e.Name, " ", e.Description, " ", e.Pass, e.Index))
	}
	for _, r := range m.Relations {
		got = append(got, fmt.Sprint(r.Source, r.Target, " ", r.Description, " ", r.Pass, r.Index))
	}
	want := []string{"A four 0 0", "A second of A 0 1", "B longer text! 1 1", "C new 1 2", "BA reversed 1 3", "AB not so short 1 4"}
	for i := range want {
		if i >= len(got) || strings.ReplaceAll(got[i], " ", "") != strings.ReplaceAll(want[i], " ", "") {
			t.Fatalf("have %q\nwant %q", got, want)
		}
	}
	if len(got) != len(want) || m.Malformed != 1 {
		t.Errorf("have %q, %d malformed", got, m.Malformed)
	}
}
