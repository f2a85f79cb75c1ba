package offline

import (
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/offline/internal/poslex"
)

// What must be a name and what must not. The texts are by the authors of this
// package.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		about, text  string
		found, never string // names separated by ;
	}{
		{"capitals for emphasis are no acronyms", "You MUST NOT edit the file while the SYSTEM is running. The NASA probe is fine. Every SYSTEM CALL is logged by the XFS driver.",
			"NASA;XFS", "MUST;NOT;SYSTEM;CALL;SYSTEM CALL;MUST NOT"},
		{"a common word is an acronym where it is introduced", "The Agency for Rapid Maintenance (ARM) met in Oslo. The Office of Public Earthworks (OPE) paid ARM.",
			"ARM;OPE;Oslo;Agency for Rapid Maintenance", ""},
		{"headings in capitals", "GOING FURTHER\n\nThe parser of Zorblatt reads files.\n\nBACK TO BASICS Every parser needs a lexer. TIP Zorblatt can be told to wait.",
			"Zorblatt", "GOING FURTHER;BASICS;TIP Zorblatt;TO BASICS;GOING"},
		{"headings with capitals on every word", "Going Further With Files\n\nWhen files are read, Zorblatt goes further. Files with Zorblatt are small.", "Zorblatt", "Going Further;Going;Files;Further"},
		{"references", "See Section 3 of Chapter 12 and Table 4.2 in Appendix B. The Section on Debian 11 says that Apollo 11 landed. Another Section follows.",
			"Debian 11;Apollo 11", "Section 3;Section;Chapter 12;Table;Appendix"},
		{"dates", "On Mar 31 the crew of the Zorblatt left Bergen. They came back on Monday, 5 Sep 2011, in October.", "Bergen;Zorblatt", "Mar 31;Mar;Monday;Sep;October"},
		{"interjections and contractions", "Oh, I'll tell Marley. Oh! He'd said so. Ah, Marley knows. I’d go with Marley.", "Marley", "Oh;I'll;He'd;Ah;I’d"},
		{"words at the head of a sentence", "Turbines are noisy. Installing Debian takes time. Quickly run it on Debian. Walk to Oslo. Carefully chosen words help. Debian helps.",
			"Debian;Oslo", "Turbines;Installing;Installing Debian;Quickly;Walk;Carefully"},
		{"small words that begin a name", "In New York and in Los Angeles people like New Zealand. The Second World War ended. New features come to Oslo.",
			"New York;Los Angeles;New Zealand;Second World War;Oslo", "York;Angeles;New features;World War"},
		{"numerals", "King Henry VIII married. World War II ended in Europe. Part III says so.", "World War II", "III;Part III;VIII"},
		{"identifiers", "Edit /etc/fstab or ~/.profile, then call parse_record of os.path on bugs.debian.org. The HttpServer and/or the client reads https://example.org/a/b.",
			"/etc/fstab;~/.profile;parse_record;os.path;bugs.debian.org;HttpServer;example.org", "etc;fstab;/a/b;/or"},
		{"peoples describe", "German engineers and the French minister met in Lyon. Lyon is large.", "Lyon", "German;French"},
		{"possessives", "Scrooge's nephew met Scrooge. Marley's ghost met Scrooge.", "Scrooge", "Scrooge's;Scrooge's nephew"},
	} {
		t.Run(c.about, func(t *testing.T) {
			entities, _, _ := records(t, complete(t, llm.TaskExtract, llm.Input{Text: c.text}))
			for name := range strings.SplitSeq(c.found, ";") {
				if _, ok := entities[name]; !ok && name != "" {
					t.Errorf("%q is missing of %q", name, keysOf(entities))
				}
			}
			for name := range strings.SplitSeq(c.never, ";") {
				if _, ok := entities[name]; ok {
					t.Errorf("%q is no name", name)
				}
			}
		})
	}
}

func keysOf(m map[string]entityRow) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

func TestTypes(t *testing.T) {
	entities, _, _ := records(t, complete(t, llm.TaskExtract, llm.Input{Text: `Ingrid Halvorsen wrote about turbines. Warsaw grew. Orla Quist is a cartographer of rivers.
The Fennimore Society paid. Lake Brisby froze. Dr. Okonjo Vale left. The Battle of Norwick ended. The daemon reads /etc/passwd.`}))
	for name, want := range map[string]string{
		"Ingrid Halvorsen": "person", "Warsaw": "location", "Orla Quist": "person", "Fennimore Society": "organization",
		"Lake Brisby": "location", "Okonjo Vale": "person", "Battle of Norwick": "event", "/etc/passwd": "concept",
	} {
		if got := entities[name].typ; got != want {
			t.Errorf("%s is a %q, want %s", name, got, want)
		}
	}
}

func TestPhrases(t *testing.T) {
	entities, relations, _ := records(t, complete(t, llm.TaskExtract, llm.Input{Text: `The control rod moves slowly. Every control rod is made of boron carbide.
The control rods of Norwick are tested. The test of the quick release valve failed. So the quick release valves were changed quickly.
A small thing helps. The same thing hurts. One stray adjective phrase stands alone.`}))
	for _, name := range []string{"control rod", "quick release valve"} {
		if _, ok := entities[name]; !ok {
			t.Errorf("%q is missing of %q", name, keysOf(entities))
		}
	}
	for _, name := range []string{"control rods", "thing", "small thing", "same thing", "stray adjective phrase", "rod", "release valve"} {
		if _, ok := entities[name]; ok {
			t.Errorf("%q should not be there", name)
		}
	}
	if r, ok := relations[[2]string{"control rod", "Norwick"}]; !ok {
		t.Errorf("the control rod is not related with Norwick: %v", relations)
	} else if !strings.HasPrefix(r.description, "The control rods of Norwick") {
		t.Errorf("described by %q", r.description)
	}
}

// A text without names or repetition still has terms.
func TestPhrasesOfALonelySentence(t *testing.T) {
	entities, relations, _ := records(t, complete(t, llm.TaskExtract, llm.Input{Text: "Bread is baked from flour, water and salt."}))
	if e, ok := entities["bread"]; !ok || e.typ != "concept" || len(relations) > 0 {
		t.Errorf("%v, %v", entities, relations)
	}
}

// A pair that always meets outweighs one that meets by chance, and concepts
// that meet once are not related.
func TestWeights(t *testing.T) {
	_, relations, _ := records(t, complete(t, llm.TaskExtract, llm.Input{Text: `Alda Brandt met Bruno Sander in Oslo. Alda Brandt and Bruno Sander sailed. Bruno Sander thanked Alda Brandt.
Oslo is large. Oslo is old. Oslo has a harbour master. The harbour master is tall. Nobody knows the tide table. The tide table of the harbour master is wrong. The tide table is lost.
Kaia Moen left Oslo. Rain fell. Snow fell. The sun shone.`}))
	strong, weak := relations[[2]string{"Alda Brandt", "Bruno Sander"}], relations[[2]string{"Oslo", "Kaia Moen"}]
	if strong.weight != "6.66" || weak.weight != "1.48" {
		t.Errorf("weights %q and %q", strong.weight, weak.weight)
	}
	if r, ok := relations[[2]string{"harbour master", "tide table"}]; ok {
		t.Errorf("concepts that met once are related: %+v", r)
	}
}

func TestLog2(t *testing.T) {
	for n, want := range map[uint64]int{0: 0, 1: 0, 2: 256, 3: 405, 1000: 2551, 1 << 31: 31 * 256, 1<<32 - 1: 32*256 - 1, 1 << 40: 32*256 - 1} {
		if got := log2(n); got != want {
			t.Errorf("log2(%d) = %d/256, want %d", n, got, want)
		}
	}
	for w, want := range map[int]string{25: "0.25", 100: "1", 105: "1.05", 250: "2.5", 1000: "10"} {
		if got := hundredths(w); got != want {
			t.Errorf("%d: %s, want %s", w, got, want)
		}
	}
}

func TestTagOf(t *testing.T) {
	for word, want := range map[string]string{
		"turbine": "noun", "turbines": "noun", "discovered": "verb", "planned": "verb", "carried": "verb", "quickly": "adverb", "open-ended": "adjective",
		"sub-process": "noun", "readable": "adjective", "went": "verb", "children": "noun", "zorblatt": "", "kubernetes": "",
	} {
		got := map[poslex.Tag]string{poslex.Noun: "noun", poslex.Verb: "verb", poslex.Adjective: "adjective", poslex.Adverb: "adverb"}[tagOf(word).Most()]
		if got != want {
			t.Errorf("%s is mostly a %q, want %q", word, got, want)
		}
	}
}

// Repeated n-grams are terms where both of their sides vary: "引力波" is one,
// "力波探" and "引力波探" are pieces.
func TestRepeatedTermsOfChinese(t *testing.T) {
	entities, _, _ := records(t, complete(t, llm.TaskExtract, llm.Input{Text: `引力波由双星产生。科学界多年寻找引力波。新的引力波探测器很灵敏。旧引力波探测器已经停用。冷原子引力波探测器由两地建造。`}))
	for _, name := range []string{"引力波", "引力波探测器"} {
		if _, ok := entities[name]; !ok {
			t.Errorf("%q is missing of %q", name, keysOf(entities))
		}
	}
	for _, name := range []string{"力波", "引力", "引力波探", "力波探测", "探测器已经"} {
		if _, ok := entities[name]; ok {
			t.Errorf("%q is a piece of a word", name)
		}
	}
}

func TestRepeatedTermsOfKoreanAndJapanese(t *testing.T) {
	entities, relations, _ := records(t, complete(t, llm.TaskExtract, llm.Input{Text: `중력파는 쌍성에서 나온다. 과학자들은 오랫동안 중력파를 찾았다. 검출기가 중력파를 기록했다. 검출기는 하노버에 있다. 김서연 교수는 하노버대학교에서 검출기를 개발했다.`}))
	for name, typ := range map[string]string{"중력파": "concept", "검출기": "concept", "김서연": "person", "하노버대학교": "organization"} {
		if e, ok := entities[name]; !ok || e.typ != typ {
			t.Errorf("%q is %q of %q", name, e.typ, keysOf(entities))
		}
	}
	if r, ok := relations[[2]string{"검출기", "김서연"}]; !ok || !contains(r.keywords, "개발") {
		t.Errorf("relations %v", relations)
	}
	entities, _, _ = records(t, complete(t, llm.TaskExtract, llm.Input{Text: `重力波は連星から生まれる。研究者は重力波を観測した。京都大学は重力波検出器を開発した。佐藤教授は京都大学で重力波を研究している。場合によって可能である。`}))
	for name, typ := range map[string]string{"重力波": "concept", "京都大学": "organization", "佐藤": "person"} {
		if e, ok := entities[name]; !ok || e.typ != typ {
			t.Errorf("%q is %q of %q", name, e.typ, keysOf(entities))
		}
	}
	for _, name := range []string{"場合", "可能", "佐藤教授"} {
		if _, ok := entities[name]; ok {
			t.Errorf("%q should not be there", name)
		}
	}
}
