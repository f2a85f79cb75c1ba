package offline

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/offline/internal/wordvec"
)

// embedPairs are questions with the sentence that answers each, in words that
// overlap in part, and for some not at all. All sentences of all languages form one pool.
var embedPairs = map[string][][2]string{
	"en": {
		{"who discovered radium", "Marie Curie isolated radium and polonium in a shed in Paris, a discovery that took four years."},
		{"storing energy from wind turbines", "Batteries can store the surplus energy that a wind turbine produces at night."},
		{"how do bees find flowers", "A honeybee finds a flower by its scent and tells the hive with a dance."},
		{"crash recovery of a database", "After a crash the database replays its write-ahead log and recovers every committed transaction."},
		{"symptoms of influenza", "Patients with influenza often have fever, a cough and aching muscles."},
		{"history of the printing press", "Gutenberg printed his first Bible on a press with movable type around 1455."},
		{"best way to brew green tea", "Green tea is brewed with water of about 75 degrees, for no longer than two minutes."},
		{"training a neural network", "Neural networks are trained by gradient descent on batches of examples."},
		{"cities flooded by rising seas", "Rising sea levels will flood parts of many coastal cities."},
		{"restoring old paintings", "Conservators restored the painting by removing layers of yellowed varnish."},
		{"how is a database backed up", "A backup copies all committed pages to another disk while writers go on."},
		{"energy use of data centers", "Computing halls consume as much electricity as a small city, half of it for cooling."},
		{"who painted the harbour at dawn", "The view over the harbor in the morning was a work of the painter Lena Marsh."},
		{"why do bees die", "Pesticides and mites are the main causes of death in honeybee colonies."},
		{"tea trade routes", "Caravans carried bricks of tea over the mountains to be traded for horses."},
		{"learning rate of a network", "Too large a step makes training of the network diverge."},
		{"cities built on water", "Amsterdam and Venice stand on wooden piles driven into mud."},
		{"discoveries of Marie Curie's daughter", "Irene Joliot-Curie discovered artificial radioactivity together with her husband."},
	},
	"ko": {
		{"김치는 어떻게 발효되는가", "김치의 발효는 젖산균이 당을 젖산으로 바꾸면서 진행된다."},
		{"세종대왕이 만든 문자", "세종대왕은 1443년에 한글이라는 새로운 문자를 창제하였다."},
		{"한강의 길이", "한강은 길이가 약 494킬로미터로 서울을 지나 서해로 흐른다."},
		{"데이터베이스 장애 복구 방법", "장애가 나면 데이터베이스는 로그를 읽어 마지막 상태로 복구된다."},
		{"제주도의 화산", "한라산은 제주도 가운데에 솟은 화산이다."},
		{"태양광 발전의 장점", "태양광 패널로 발전하면 연료가 들지 않는다."},
		{"독감 예방 접종 시기", "독감 백신은 해마다 10월쯤 접종하는 것이 좋다."},
		{"배추가 김치가 되는 데 걸리는 시간", "소금에 절인 배추는 며칠에서 몇 주 지나면 김치가 된다."},
		{"서울의 강과 다리", "한강에는 서른 개가 넘는 다리가 놓여 있다."},
		{"왕이 학자들을 모은 기관", "집현전은 왕의 명으로 학자가 모여 연구한 곳이다."},
		{"데이터 백업", "백업은 데이터를 다른 디스크에 복사해 두는 일이다."},
	},
	"zh": {
		{"长江流经哪些城市", "长江流经重庆、武汉、南京，最后在上海入海。"},
		{"茶叶如何发酵", "红茶是全发酵茶，茶叶在湿热中氧化后变成红褐色。"},
		{"谁发明了造纸术", "东汉的蔡伦改进了造纸术，用树皮和破布造纸。"},
		{"数据库崩溃后怎样恢复", "数据库在崩溃后通过重放日志恢复已提交的事务。"},
		{"大熊猫吃什么", "野生大熊猫几乎只吃竹子，每天要吃十几公斤。"},
		{"太阳能电池的效率", "新型太阳能电池的转换效率超过了百分之三十。"},
		{"长城是什么时候修建的", "现存的长城大部分修建于明代。"},
		{"喝茶对健康的好处", "研究表明，常饮绿茶的人更健康。"},
		{"长江上的水电站", "三峡大坝是长江上最大的水力发电站。"},
		{"怎样备份数据库", "备份就是把数据复制到另一块磁盘。"},
		{"中国古代的四大发明", "指南针、火药、造纸术和印刷术都起源于古代中国。"},
	},
}

// embedDistractors share words with the questions and answer none.
var embedDistractors = []string{
	"The database of the museum lists every painting in the harbour town.", "A city is built by those who live in it.", "The history of energy is a history of trade.",
	"Who discovered the recipe is not known.", "The network of tea houses grew by one third.", "How the press reported the flood is another story.",
	"Green is the colour of learning.", "A network of bees does not exist.", "The best way is not always the shortest.", "Cities trade with cities.",
	"서울의 김치 박물관에는 오래된 항아리가 있다.", "강의 길이를 재는 방법은 여러 가지이다.", "데이터는 도시의 문자와 같다.", "예방은 복구보다 낫다.", "장점과 단점을 함께 적었다.", "왕은 섬을 좋아하였다.",
	"城市里的茶馆很多。", "谁也不知道数据库在哪里。", "大坝的长度是多少？", "效率不等于速度。", "古代的城市有城墙。", "发明家喜欢喝茶。",
}

func embedAll(t testing.TB, texts []string) [][]float32 {
	t.Helper()
	vs, err := NewEmbedder().Embed(context.Background(), texts, llm.PurposeDocument)
	if err != nil {
		t.Fatal(err)
	}
	return vs
}

func dot(a, b []float32) (s float64) {
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

// meanReciprocalRank ranks every sentence of pool for each query of a language;
// a tie counts against the right one.
func meanReciprocalRank(pairs [][2]string, queries, answers, pool [][]float32) float64 {
	sum := 0.0
	for i := range pairs {
		own, rank := dot(queries[i], answers[i]), 0
		for _, p := range pool {
			if dot(queries[i], p) >= own-1e-9 {
				rank++
			}
		}
		sum += 1 / float64(rank)
	}
	return sum / float64(len(pairs))
}

func TestEmbedderRanksAnswersFirst(t *testing.T) {
	var pool []string
	for _, lang := range []string{"en", "ko", "zh"} {
		for _, p := range embedPairs[lang] {
			pool = append(pool, p[1])
		}
	}
	pool = append(pool, embedDistractors...)
	vectors := embedAll(t, pool)
	for lang, floor := range map[string]float64{"en": 0.64, "ko": 0.87, "zh": 0.82} {
		pairs := embedPairs[lang]
		var qs, as []string
		for _, p := range pairs {
			qs, as = append(qs, p[0]), append(as, p[1])
		}
		got := meanReciprocalRank(pairs, embedAll(t, qs), embedAll(t, as), vectors)
		t.Logf("%s: mean reciprocal rank %.3f over %d queries, %d sentences", lang, got, len(pairs), len(pool))
		if got < floor {
			t.Errorf("%s: mean reciprocal rank %.3f, want at least %.2f", lang, got, floor)
		}
	}
}

func TestEmbedderForms(t *testing.T) {
	v := embedAll(t, []string{"The turbines were restored", "the TURBINE was restored", "bread and butter"})
	if same, other := dot(v[0], v[1]), dot(v[0], v[2]); same < 0.8 || other > 0.3 {
		t.Errorf("forms of a word: similarity %.2f, unrelated %.2f", same, other)
	}
	w := embedAll(t, []string{"data", "data data data data data data data data", "data engine", strings.Repeat("data ", 50) + "engine"})
	if once := dot(w[0], w[1]); once < 0.95 {
		t.Errorf("repetition changes the direction: %.2f", once)
	}
	if damped := dot(w[2], w[3]); damped < 0.8 {
		t.Errorf("fifty repetitions drown the other word: %.2f", damped)
	}
}

// The digest changes with the vectors, and then the checksum of Info must too. It
// is the same on every platform: also with GOAMD64=v3 or on arm64, where the
// compiler fuses what it may.
func TestEmbedderSameBytesEverywhere(t *testing.T) {
	var texts []string
	for _, lang := range []string{"en", "ko", "zh"} {
		for _, p := range embedPairs[lang] {
			texts = append(texts, p[0]+" "+p[1])
		}
	}
	h := sha256.New()
	for _, v := range embedAll(t, texts) {
		for _, x := range v {
			h.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)))
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)[:8]); got != "c89790de263bb432" {
		t.Errorf("digest %s of %d vectors by %s", got, len(texts), NewEmbedder().Info().Checksum)
	}
}

func TestEmbedderUnknownWords(t *testing.T) {
	v := embedAll(t, []string{"Zorblax quuxinator",
		"The committee approved the budget of the Zorblax quuxinator after long talks about its price.",
		"The committee approved the budget of the new bridge after long talks about its price."})
	if same, other := dot(v[0], v[1]), dot(v[0], v[2]); same < 0.3 || other > 0.1 {
		t.Errorf("a query of unknown words: similarity %.2f to the text that has them, %.2f to another", same, other)
	}
}

func TestRowOfFindsForms(t *testing.T) {
	table := wordvec.Default()
	for form, want := range map[string]string{"went": "go", "mice": "mouse", "babysits": "babysit", "windowless": "window", "zorblaxes": ""} {
		row, ok := rowOf(table, form)
		base, known := table.Row(want)
		if ok != known || row != base {
			t.Errorf("%s has row %d %v, %q has %d %v", form, row, ok, want, base, known)
		}
	}
}

func TestEmbedderHostileText(t *testing.T) {
	texts := []string{"", " \n\t　", "a", "é", "!!!", "\xff\xfe", "\x00", "😀", "👩‍👩‍👧", "한", "漢", strings.Repeat("x", 5000),
		strings.Repeat("가", 3000), strings.Repeat("漢字", 3000), strings.Repeat("the ", 1000), "\u200b", "ÀÉÎ", "İ"}
	vs := embedAll(t, texts)
	again := embedAll(t, texts)
	for i, v := range vs {
		if n := math.Sqrt(dot(v, v)); len(v) != Dim || !(math.Abs(n-1) < 1e-5) {
			t.Errorf("%.20q: %d components, norm %g", texts[i], len(v), n)
		}
		for k := range v {
			if v[k] != again[i][k] {
				t.Fatalf("%.20q: component %d differs between two runs", texts[i], k)
			}
		}
	}
	if dot(vs[0], vs[1]) < 0.999 {
		t.Error("blank texts differ")
	}
}

func TestEmbedderContextAndInfo(t *testing.T) {
	e := NewEmbedder()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if vs, err := e.Embed(ctx, []string{"x"}, llm.PurposeQuery); !errors.Is(err, context.Canceled) || vs != nil {
		t.Errorf("cancelled context: %v, %v", vs, err)
	}
	if vs, err := e.Embed(context.Background(), nil, llm.PurposeQuery); err != nil || len(vs) != 0 {
		t.Errorf("no texts: %v, %v", vs, err)
	}
	if i := e.Info(); i.Dim != Dim || i.Name != "offline-static-1" || !strings.HasSuffix(i.Checksum, "-"+wordvec.Default().Digest()[:12]) || i.MaxTokens != 0 {
		t.Errorf("info %+v", i)
	}
}

func TestEmbedderConcurrently(t *testing.T) {
	e := NewEmbedder()
	var texts []string
	for _, ps := range embedPairs {
		for _, p := range ps {
			texts = append(texts, p[1])
		}
	}
	want, _ := e.Embed(context.Background(), texts, llm.PurposeDocument)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range texts {
				got, err := e.Embed(context.Background(), texts[i:i+1], llm.PurposeQuery)
				if err != nil || dot(got[0], want[i]) < 0.9999 {
					t.Errorf("text %d differs when embedded concurrently: %v", i, err)
				}
			}
		}()
	}
	wg.Wait()
}

func TestEmbedderAllocatesOnlyVectors(t *testing.T) {
	e := NewEmbedder()
	texts := []string{embedPairs["en"][0][1], embedPairs["ko"][0][1], embedPairs["zh"][0][1]}
	ctx := context.Background()
	if n := testing.AllocsPerRun(100, func() { _, _ = e.Embed(ctx, texts, llm.PurposeDocument) }); n > float64(len(texts)+1) {
		t.Errorf("%v allocations for %d texts", n, len(texts))
	}
}

func BenchmarkEmbed(b *testing.B) {
	for _, bench := range []struct{ name, text string }{
		{"english", embedPairs["en"][0][1] + " " + embedPairs["en"][3][1]},
		{"korean", embedPairs["ko"][1][1]},
		{"chinese", embedPairs["zh"][0][1] + embedPairs["zh"][3][1]},
	} {
		b.Run(bench.name, func(b *testing.B) {
			e := NewEmbedder()
			texts := []string{bench.text}
			b.ReportAllocs()
			b.SetBytes(int64(len(bench.text)))
			for b.Loop() {
				_, _ = e.Embed(context.Background(), texts, llm.PurposeDocument)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "texts/s")
		})
	}
}

func FuzzEmbed(f *testing.F) {
	for _, s := range []string{"", "hello world", "세종대왕은 조선의 왕이다", "长江流经武汉", "\xff\x00", "İstanbul ẞ", "a-b_c.d", strings.Repeat("漢", 600)} {
		f.Add(s)
	}
	e := NewEmbedder()
	f.Fuzz(func(t *testing.T, s string) {
		vs, err := e.Embed(context.Background(), []string{s, s}, llm.PurposeDocument)
		if err != nil || len(vs) != 2 || len(vs[0]) != Dim {
			t.Fatalf("%d vectors, error %v", len(vs), err)
		}
		sum := 0.0
		for i, x := range vs[0] {
			if x != vs[1][i] {
				t.Fatal("two embeddings of one text differ")
			}
			sum += float64(x) * float64(x)
		}
		if !(math.Abs(sum-1) < 1e-4) {
			t.Fatalf("squared norm %g", sum)
		}
	})
}
