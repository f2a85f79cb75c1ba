package llm

import (
	"errors"
	"regexp"
	"strconv"
)

// Servers of different make say in their own words how many tokens a model
// takes and how many they were given.
var (
	windowShapes = compiled(
		`maximum context length (?:is|of) (\d+)`,              // OpenAI, DeepSeek, vLLM
		`maximum model length of (\d+)`,                       // vLLM
		`available context size \((\d+)`,                      // llama.cpp
		`with (\d+) maximum context length`,                   // Mistral
		`context length \(?(?:is|of|only)?\s*(?:only )?(\d+)`, // SGLang, LM Studio
		`context (?:window|size|limit)[^0-9]{0,20}(\d+)`,      // gateways
		`> ?(\d+) maximum`,                                    // Anthropic
		`must have less than (\d+) tokens`,                    // TGI
		"must be <= (\\d+)",                                   // TGI
		`maximum number of tokens allowed \((\d+)`,            // Gemini
		`n_ctx["' ]*[:=] ?(\d+)`,
	)
	promptShapes = compiled(
		`\((\d+) in (?:the|your) (?:messages|prompt)`, // OpenAI, of a request that asks for an answer of its own length
		`(?:resulted in|requested|length|request \(|input \(|count \(|contains|has|first|too long:|given:) ?(\d+)`,
		`n_prompt_tokens["' ]*[:=] ?(\d+)`,
	)
)

func compiled(shapes ...string) []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(shapes))
	for i, s := range shapes {
		out[i] = regexp.MustCompile(`(?i)` + s)
	}
	return out
}

// Windows outside these bounds are numbers of something else.
const (
	leastWindow = 64
	mostWindow  = 1 << 30
)

// ContextWindow returns what an ErrContextLength of a server says: the tokens
// that the model takes, and those of the prompt that was refused. What it does
// not say is 0; ok is false if it does not say the window.
func ContextWindow(err error) (window, prompt int, ok bool) {
	var status *StatusError
	if !errors.As(err, &status) || !errors.Is(status, ErrContextLength) {
		return 0, 0, false
	}
	window = number(windowShapes, status.Message, 0)
	prompt = number(promptShapes, status.Message, window)
	if prompt <= window/2 { // of something else
		prompt = 0
	}
	return window, prompt, window > 0
}

// number returns the first number that one of the shapes finds, other than not.
func number(shapes []*regexp.Regexp, text string, not int) int {
	for _, shape := range shapes {
		for _, m := range shape.FindAllStringSubmatch(text, -1) {
			if n, err := strconv.Atoi(m[1]); err == nil && n >= leastWindow && n <= mostWindow && n != not {
				return n
			}
		}
	}
	return 0
}
