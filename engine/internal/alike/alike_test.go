package alike

import (
	"slices"
	"testing"
	"unicode/utf8"
)

func TestKey(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"Edwin Hubble", "edwin hubble"},
		{"edwin  HUBBLE.", "edwin hubble"},
		{"Ｅｄｗｉｎ Hubble", "edwin hubble"},
		{"O’Neill, Co.", "oneill co"},
		{"U.S.", "us"},
		{"St. Louis", "st louis"},
		{"T-cell", "t cell"},
		{"C++", "c++"},
		{"C#", "c#"},
		{"C", "c"},
		{"v1.5", "v1.5"},
		{"1.5", "1.5"},
		{"1,000 days", "1,000 days"},
		{"-5 °C", "-5 °c"},
		{"STRASSE", "strasse"},
		{"Straße", "strasse"},
		{"이순신", "이순신"},
		{"計算機 学院", "計算機 学院"},
		{"Zoë", "zoë"},
		{"\u13ec", "\u13ec"},
		{"\uabbc", "\u13ec"},
		{"…", ""},
		{"", ""},
	} {
		if got := Key(c.name); got != c.want {
			t.Errorf("Key(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCertain(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Electrons", "electrons", true},
		{"The White House", "the white house", true},
		{"NASA", "nasa", false}, // initials and a word: likely, not certain
		{"WHO", "Who", false},
		{"U.S.", "US", true},
		{"C++", "C", false},
		{"Zoë", "Zoe", false},
		{"Jon", "Jon Marquez", false},
		{"!", "?", false},
	} {
		if got := Certain(c.a, c.b); got != c.want {
			t.Errorf("Certain(%q, %q) = %v, want %v", c.a, c.b, got, c.want)
		}
		if got := Certain(c.b, c.a); got != c.want {
			t.Errorf("Certain(%q, %q) = %v, want %v", c.b, c.a, got, c.want)
		}
	}
}

func TestLoose(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		same    bool
		changes []Change // of b
	}{
		{"Zoe Muller", "Zoë Müller", true, []Change{Accents}},
		{"Holmes", "Mr. Holmes", true, []Change{Title}},
		{"Acme", "Acme, Inc.", true, []Change{Legal}},
		{"Beatle", "The Beatles", true, []Change{Article, Plural}},
		{"Facebook", "Face Book", true, []Change{Spaces}},
		{"neural network", "Neural Networks", true, []Change{Plural}},
		{"이순신", "이순신은", true, []Change{Particle}},
		{"서울", "서울에서", true, []Change{Particle}},
		{"김철수", "김철수 교수", true, []Change{Title}},
		{"삼성전자", "주식회사 삼성전자", true, []Change{Legal}},
		{"华为", "华为有限公司", true, []Change{Legal}},
		{"Jon", "Jon Marquez", false, []Change{Spaces}},
		{"が", "か", false, nil},
	} {
		a, b := Loose(c.a), Loose(c.b)
		if (a.Text == b.Text) != c.same {
			t.Errorf("Loose(%q) = %q, Loose(%q) = %q, same %v", c.a, a.Text, c.b, b.Text, c.same)
		}
		more := slices.DeleteFunc(slices.Clone(b.Changes), func(x Change) bool { return slices.Contains(a.Changes, x) })
		if !slices.Equal(more, c.changes) {
			t.Errorf("Loose(%q) leaves out %q more than Loose(%q), want %q", c.b, more, c.a, c.changes)
		}
	}
	if !TitlesDiffer(Loose("Mr. Smith"), Loose("Mrs. Smith")) {
		t.Error("Mr. and Mrs. Smith are one")
	}
	if TitlesDiffer(Loose("Smith"), Loose("Mrs. Smith")) {
		t.Error("Smith cannot be Mrs. Smith")
	}
}

// A particle is taken only where grammar puts it: 은 follows a final consonant,
// 는 a vowel, and two syllables stay.
func TestParticlesFollowTheirSyllable(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"바다는", "바다"}, {"한강은", "한강"}, {"바다은", "바다은"}, {"한강는", "한강는"},
		{"서울로", "서울"}, {"부산으로", "부산"}, {"물은", "물은"}, {"이는", "이는"},
	} {
		if got := Loose(c.name).Text; got != c.want {
			t.Errorf("Loose(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAcronyms(t *testing.T) {
	for _, c := range []struct{ short, long string }{
		{"WHO", "World Health Organization"},
		{"U.S.", "United States"},
		{"DoD", ""},
		{"LLMs", "large language model"},
		{"BU", "Bundesamt für Umwelt"},
		{"MIT", "Massachusetts Institute of Technology"},
		{"MIOT", ""},
	} {
		k, ok := Acronym(c.short)
		if c.long == "" {
			continue
		}
		if !ok || !slices.Contains(Acronyms(c.long), k) {
			t.Errorf("%q (%q, %v) is not in %q of %q", c.short, k, ok, Acronyms(c.long), c.long)
		}
	}
	for _, s := range []string{"Word", "nasa", "A", "Two Words", "INTERNATIONAL", "A1b2"} {
		if k, ok := Acronym(s); ok {
			t.Errorf("%q is taken for the acronym %q", s, k)
		}
	}
	if got := Acronyms("Paris"); got != nil {
		t.Errorf("Paris has acronyms %q", got)
	}
}

func TestNumbersTellApart(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"GPT-3", "GPT-4", true}, {"World War I", "World War II", true}, {"Chapter 1", "chapter 1", false},
		{"World War", "World War II", true}, {"Louis XIV", "louis xiv", false}, {"제2차 세계 대전", "제1차 세계 대전", true},
	} {
		if got := NumbersDiffer(c.a, c.b); got != c.want {
			t.Errorf("NumbersDiffer(%q, %q) = %v", c.a, c.b, got)
		}
	}
}

func TestParts(t *testing.T) {
	if f, l, ok := Ends("Dr. Jon A. Marquez"); !ok || f != "jon" || l != "marquez" {
		t.Errorf("Ends = %q, %q, %v", f, l, ok)
	}
	if f, l, ok := Ends("The Church"); ok {
		t.Errorf("an article is a part: %q, %q", f, l)
	}
	if w, ok := Word("Mr. Marquez"); !ok || w != "marquez" {
		t.Errorf("Word = %q, %v", w, ok)
	}
	if _, ok := Word("Jo"); ok {
		t.Error("two letters are enough to be a part")
	}
	if d := Dice("Sherlock Holmes", "Sherlok Holmes"); d < 0.8 {
		t.Errorf("Dice = %v", d)
	}
	if d := Dice("Paris", "London"); d > 0.1 {
		t.Errorf("Dice = %v", d)
	}
}

func FuzzForms(f *testing.F) {
	for _, s := range []string{"Mr. Smith", "이순신은", "C++", "the", "-5", "\xff.", "É", "주식회사", "有限公司", "\u13ec\uabbc", " \xf2\u0300", "a.\u0300"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		k := Key(name)
		if again := Key(k); again != k {
			t.Errorf("Key(%q) = %q, of which the key is %q", name, k, again)
		}
		if k != "" && !Certain(name, name) {
			t.Errorf("%q is not itself", name)
		}
		form := Loose(name)
		if utf8.ValidString(name) && !utf8.ValidString(form.Text) {
			t.Errorf("Loose(%q) = %q", name, form.Text)
		}
		if k != "" && form.Text == "" {
			t.Errorf("nothing is left of %q", name)
		}
		Acronyms(name)
		Acronym(name)
		Ends(name)
		Word(name)
	})
}
