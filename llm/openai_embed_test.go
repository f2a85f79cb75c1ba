package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lightctl/lightrag/llm/llmtest"
)

func embedTexts(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("text number %d", i)
	}
	return out
}

func embed(t *testing.T, e Embedder, texts []string) ([][]float32, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return e.Embed(ctx, texts, PurposeDocument)
}

func TestEmbedKeepsOrderOverBatches(t *testing.T) {
	for name, reply := range map[string]llmtest.EmbedReply{"base64": {}, "numbers though base64 was asked for": {Floats: true}} {
		e, srv := newEmbed(t, llmtest.EmbedSequence(reply), func(o *OpenAIEmbedOptions) { o.BatchTexts = 7 })
		texts := embedTexts(50)
		got, err := embed(t, e, texts)
		if err != nil || len(got) != 50 {
			t.Fatalf("%s: %d vectors, %v", name, len(got), err)
		}
		for i, v := range got {
			if !slices.Equal(v, llmtest.Vector(texts[i], llmtest.DefaultDim)) {
				t.Fatalf("%s: vector %d belongs to another text", name, i)
			}
		}
		if n := len(srv.Embeds()); n != 8 {
			t.Errorf("%d requests, want 8", n)
		}
		if u := e.Usage(); u != (Usage{Calls: 8, PromptTokens: 150}) {
			t.Errorf("usage %+v", u)
		}
		if r := srv.Embeds()[0]; r.EncodingFormat != "base64" || r.Path != "/v1/embeddings" || r.Dimensions != 0 || r.Model != "test-embed" {
			t.Errorf("request %+v", r)
		}
	}
	e, srv := newEmbed(t, nil)
	if got, err := embed(t, e, nil); err != nil || len(got) != 0 || len(srv.Embeds()) != 0 {
		t.Errorf("no texts: %v, %v", got, err)
	}
}

func TestEmbedBatchesAreBoundedByTokens(t *testing.T) {
	e, srv := newEmbed(t, nil, func(o *OpenAIEmbedOptions) { o.BatchTokens = 100 })
	long := strings.Repeat("a", 800) // 200 tokens by estimate, goes alone
	if _, err := embed(t, e, []string{"x", long, strings.Repeat("b", 200), strings.Repeat("c", 200), "가나"}); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, r := range srv.Embeds() {
		sizes = append(sizes, len(r.Input))
	}
	slices.Sort(sizes)
	if !slices.Equal(sizes, []int{1, 1, 1, 2}) {
		t.Errorf("batches of %v texts", sizes)
	}
}

func TestEmbedFollowsIndexes(t *testing.T) {
	a, b, c := []float32{1, 0}, []float32{0, 1}, []float32{1, 1}
	for name, tc := range map[string]struct {
		indexes []int
		ok      bool
	}{
		"reversed": {[]int{2, 1, 0}, true}, "none": {[]int{-1, -1, -1}, true}, "all zero": {[]int{0, 0, 0}, true},
		"twice the same": {[]int{0, 1, 1}, false}, "beyond the end": {[]int{0, 1, 3}, false}, "one missing": {[]int{0, 1, -1}, false},
	} {
		e, _ := newEmbed(t, llmtest.EmbedSequence(llmtest.EmbedReply{Vectors: [][]float32{a, b, c}, Indexes: tc.indexes}))
		got, err := embed(t, e, embedTexts(3))
		if !tc.ok {
			if !errors.Is(err, ErrBadResponse) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			continue
		}
		want := [][]float32{a, b, c}
		if name == "reversed" {
			slices.Reverse(want)
		}
		if err != nil || !slices.EqualFunc(got, want, slices.Equal[[]float32]) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestEmbedRefusesUnusableVectors(t *testing.T) {
	good := []float32{1, 2, 3}
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for name, tc := range map[string]struct {
		reply    llmtest.EmbedReply
		is       error
		says     string
		requests int
	}{
		"one too few":   {llmtest.EmbedReply{Vectors: [][]float32{good}}, ErrBadResponse, "1 vectors for 2 texts", 3},
		"one too many":  {llmtest.EmbedReply{Vectors: [][]float32{good, good, good}}, ErrBadResponse, "3 vectors for 2 texts", 3},
		"dimension":     {llmtest.EmbedReply{Vectors: [][]float32{good, {1, 2, 3, 4}}}, ErrDimension, "text 1: got 4 components, want 3", 1},
		"no components": {llmtest.EmbedReply{Vectors: [][]float32{good, {}}}, ErrDimension, "text 1: got 0 components, want 3", 1},
		"zeros":         {llmtest.EmbedReply{Vectors: [][]float32{good, {0, 0, 0}}}, ErrVector, "text 1: all 3 components are zero", 1},
		"NaN":           {llmtest.EmbedReply{Vectors: [][]float32{{1, nan, 1}, good}}, ErrVector, "text 0: component 1 is NaN", 1},
		"infinity":      {llmtest.EmbedReply{Vectors: [][]float32{good, {1, 2, inf}}}, ErrVector, "text 1: component 2 is -Inf", 1},
		"null inside":   {llmtest.EmbedReply{Body: `{"data":[{"index":0,"embedding":[1,null,3]},{"index":1,"embedding":[1,2,3]}]}`}, ErrBadResponse, "null", 3},
		"too large":     {llmtest.EmbedReply{Body: `{"data":[{"embedding":[1e60,1,1]},{"embedding":[1,2,3]}]}`}, ErrBadResponse, "", 3},
		"bad base64":    {llmtest.EmbedReply{Body: `{"data":[{"embedding":"AAA="},{"embedding":"!"}]}`}, ErrBadResponse, "", 3},
		"no data":       {llmtest.EmbedReply{Body: `{"object":"list"}`}, ErrBadResponse, "0 vectors for 2 texts", 3},
		"200 error":     {llmtest.EmbedReply{Body: `{"error":"boom"}`}, ErrBadResponse, "boom", 3},
		"401":           {llmtest.EmbedReply{Status: 401}, ErrAuth, "", 1},
		"503":           {llmtest.EmbedReply{Status: 503}, ErrUnavailable, "after 3 attempts", 3},
		"too long":      {llmtest.EmbedReply{Status: 400, Body: `{"error":"the input length exceeds the context length"}`}, ErrContextLength, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			e, srv := newEmbed(t, llmtest.EmbedSequence(tc.reply), func(o *OpenAIEmbedOptions) { o.Dim = 3 })
			got, err := embed(t, e, embedTexts(2))
			if !errors.Is(err, tc.is) || got != nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v, %v, want %v saying %q", got, err, tc.is, tc.says)
			}
			if n := len(srv.Embeds()); n != tc.requests {
				t.Errorf("%d requests, want %d", n, tc.requests)
			}
		})
	}
}

func TestEmbedNamesTheTextOfTheWholeCall(t *testing.T) {
	e, _ := newEmbed(t, func(r llmtest.EmbedRequest) llmtest.EmbedReply {
		v := make([][]float32, len(r.Input))
		for i, text := range r.Input {
			v[i] = []float32{1, 1}
			if text == "text number 8" {
				v[i] = []float32{0, 0}
			}
		}
		return llmtest.EmbedReply{Vectors: v}
	}, func(o *OpenAIEmbedOptions) { o.BatchTexts = 3 })
	if _, err := embed(t, e, embedTexts(10)); !errors.Is(err, ErrVector) || !strings.Contains(err.Error(), "text 8:") {
		t.Errorf("error %v", err)
	}
}

func TestEmbedDimensionError(t *testing.T) {
	wide := make([][]float32, 10)
	for i := range wide {
		wide[i] = llmtest.Vector("x", 4096)
	}
	e, _ := newEmbed(t, llmtest.EmbedSequence(llmtest.EmbedReply{Vectors: wide}), func(o *OpenAIEmbedOptions) { o.Dim = 3072 })
	_, err := embed(t, e, embedTexts(10))
	var de *DimensionError
	if !errors.As(err, &de) || de.Have != 4096 || de.Want != 3072 || de.Text != 0 {
		t.Errorf("error %v", err)
	}
}

func TestEmbedDimensionIsThatOfTheFirstAnswer(t *testing.T) {
	e, _ := newEmbed(t, llmtest.EmbedSequence(llmtest.EmbedReply{}, llmtest.EmbedReply{Vectors: [][]float32{{1, 2}}}),
		func(o *OpenAIEmbedOptions) { o.MaxTokens = 512 })
	if d := e.Info().Dim; d != 0 {
		t.Errorf("dimension %d before any answer", d)
	}
	info, err := e.Probe(t.Context())
	if err != nil || info != (EmbedderInfo{Name: "test-embed", Dim: llmtest.DefaultDim, MaxTokens: 512}) {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := embed(t, e, embedTexts(1)); !errors.Is(err, ErrDimension) {
		t.Errorf("another dimension: %v", err)
	}
}

func TestEmbedSendsDimensions(t *testing.T) {
	e, srv := newEmbed(t, nil, func(o *OpenAIEmbedOptions) { o.Dimensions = 5 })
	got, err := embed(t, e, embedTexts(1))
	if err != nil || len(got[0]) != 5 || srv.Embeds()[0].Dimensions != 5 || e.Info().Dim != 5 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestEmbedLeavesOutRefusedFields(t *testing.T) {
	e, srv := newEmbed(t, func(r llmtest.EmbedRequest) llmtest.EmbedReply {
		switch {
		case r.EncodingFormat != "":
			return llmtest.EmbedReply{Status: 400, Body: `{"error":"unknown field encoding_format"}`}
		case r.Dimensions != 0:
			return llmtest.EmbedReply{Status: 400, Body: `{"error":"this model does not support dimensions"}`}
		}
		return llmtest.EmbedReply{Floats: true}
	}, func(o *OpenAIEmbedOptions) { o.Dimensions = llmtest.DefaultDim })
	for range 2 {
		if _, err := embed(t, e, embedTexts(1)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(srv.Embeds()); n != 4 {
		t.Errorf("%d requests, want 4", n)
	}
}

func TestEmbedPrefixes(t *testing.T) {
	e, srv := newEmbed(t, nil, func(o *OpenAIEmbedOptions) { o.QueryPrefix, o.DocumentPrefix = "query: ", "passage: " })
	for _, p := range []Purpose{PurposeDocument, PurposeQuery} {
		if _, err := e.Embed(t.Context(), []string{"x"}, p); err != nil {
			t.Fatal(err)
		}
	}
	if r := srv.Embeds(); r[0].Input[0] != "passage: x" || r[1].Input[0] != "query: x" {
		t.Errorf("sent %q and %q", r[0].Input, r[1].Input)
	}
	plain, _ := newEmbed(t, nil)
	if e.Info().Checksum == "" || plain.Info().Checksum != "" {
		t.Error("prefixes do not show in the vector space's identity")
	}
}

func TestEmbedRefusesEmptyTextBeforeAnyCall(t *testing.T) {
	e, srv := newEmbed(t, nil)
	if _, err := embed(t, e, []string{"a", ""}); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "text 1") || len(srv.Embeds()) != 0 {
		t.Errorf("error %v", err)
	}
}

func TestEmbedEndsWithTheContext(t *testing.T) {
	e, _ := newEmbed(t, llmtest.EmbedSequence(llmtest.EmbedReply{Delay: time.Minute}), func(o *OpenAIEmbedOptions) { o.BatchTexts = 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := e.Embed(ctx, embedTexts(30), PurposeDocument); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second {
		t.Errorf("error %v", err)
	}
}

func TestEmbedErrorOfOneBatchIsTheErrorOfTheCall(t *testing.T) {
	e, _ := newEmbed(t, func(r llmtest.EmbedRequest) llmtest.EmbedReply {
		if r.Input[0] == "text number 3" {
			return llmtest.EmbedReply{Status: 401}
		}
		return llmtest.EmbedReply{Delay: 10 * time.Millisecond}
	}, func(o *OpenAIEmbedOptions) { o.BatchTexts, o.Concurrency = 1, 2 })
	if _, err := embed(t, e, embedTexts(20)); !errors.Is(err, ErrAuth) {
		t.Errorf("error %v, not that of the batch that failed", err)
	}
}

func TestEmbedderOptions(t *testing.T) {
	for _, o := range []OpenAIEmbedOptions{
		{}, {Model: "m", BaseURL: "x"}, {Model: "m", Dim: -1}, {Model: "m", Dim: 3, Dimensions: 4}, {Model: "m", MaxTokens: -1},
	} {
		if _, err := NewOpenAIEmbedder(o); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func FuzzWireVector(f *testing.F) {
	for _, s := range []string{`"AACAPwAAAEA="`, `[1,2.5e0,-3]`, `[]`, `""`, `null`, `"AAA"`, `[null]`, `{"a":1}`, `[1e999]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var v wireVector
		if json.Unmarshal(b, &v) == nil && len(v) > len(b) {
			t.Fatalf("%d components of %d bytes", len(v), len(b))
		}
	})
}
