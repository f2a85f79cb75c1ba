package llm_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/llmtest"
)

func ExampleNewOpenAI() {
	srv := httptest.NewServer(llmtest.New(llmtest.Sequence(llmtest.ChatReply{Text: "<think>easy</think>four"}), nil).Handler())
	defer srv.Close()
	client, err := llm.NewOpenAI(llm.OpenAIOptions{BaseURL: srv.URL, Model: "some-model"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	var spent llm.Ledger
	answer, err := llm.Metered(client, &spent).Complete(context.Background(), llm.Request{
		Task:     llm.TaskChat,
		Messages: []llm.Message{{Role: llm.RoleUser, Content: "What is two and two?"}},
	})
	fmt.Println(answer.Text, spent.Total().Calls, err)
	// Output: four 1 <nil>
}

func ExampleNewOpenAIEmbedder() {
	srv := httptest.NewServer(llmtest.New(nil, nil).Handler())
	defer srv.Close()
	e, err := llm.NewOpenAIEmbedder(llm.OpenAIEmbedOptions{BaseURL: srv.URL, Model: "some-model", Dimensions: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	vectors, err := e.Embed(context.Background(), []string{"a", "b"}, llm.PurposeDocument)
	fmt.Println(len(vectors), e.Info().Dim, err)
	// Output: 2 8 <nil>
}

func ExampleNewTokenizer() {
	tok, err := llm.NewTokenizer(llm.TokenizerO200k)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range tok.Windows("one two three four five", 3, 1) {
		fmt.Printf("%q %d\n", w.Text, w.Tokens)
	}
	// Output:
	// "one two three" 3
	// " three four five" 3
	// " five" 1
}
