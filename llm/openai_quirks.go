package llm

import (
	"errors"
	"strings"
	"sync/atomic"
)

// quirk is a request field that some servers do not take. A refusal is learned
// once per client, and the request is sent again without the field.
type quirk uint32

const (
	noResponseFormat quirk = 1 << iota
	noTemperature
	noStreamOptions
	newMaxTokens // max_completion_tokens in place of max_tokens
	noDimensions
	noBase64
)

// quirkWords are the names by which a refusal gives a field away. Where a value
// out of range is refused by name too, the refusal must also hold the word
// beside it.
var quirkWords = []struct {
	quirk quirk
	words []string
	also  string
}{
	{noResponseFormat, []string{"response_format", "json_object"}, ""},
	{noTemperature, []string{"temperature"}, "support"},
	{noStreamOptions, []string{"stream_options", "include_usage"}, ""},
	{newMaxTokens, []string{"max_tokens"}, "max_completion_tokens"},
	{noDimensions, []string{"dimensions", "matryoshka"}, ""},
	{noBase64, []string{"encoding_format", "base64"}, ""},
}

// quirks is the set that one client has learned.
type quirks struct{ set atomic.Uint32 }

func (q *quirks) has(x quirk) bool { return q.set.Load()&uint32(x) != 0 }

// refused returns the field of used that err, a refusal, names; 0 if none.
// Fields that were not sent cannot be what was refused.
func refused(err error, used quirk) quirk {
	var status *StatusError
	if !errors.As(err, &status) || status.kind() != ErrInvalid || status.Status != 400 && status.Status != 422 {
		return 0
	}
	low := strings.ToLower(status.Message)
	for _, c := range quirkWords {
		if used&c.quirk == 0 || !strings.Contains(low, c.also) {
			continue
		}
		for _, word := range c.words {
			if strings.Contains(low, word) {
				return c.quirk
			}
		}
	}
	return 0
}

// learn remembers what err refused and reports whether to send again without it.
// A server that takes JSON mode but wants the word in the prompt is not one that
// lacks it, so that is not remembered; the field is left out this once.
func (q *quirks) learn(err error, used quirk) (quirk, bool) {
	x := refused(err, used)
	if x == 0 {
		return 0, false
	}
	var status *StatusError
	if !(errors.As(err, &status) && strings.Contains(status.Message, "must contain the word")) {
		q.set.Or(uint32(x))
	}
	return x, true
}

// reasoningModel reports whether the model's name is one for which the API takes
// no temperature and counts reasoning in max_completion_tokens. The SDK refuses
// to send such requests otherwise.
func reasoningModel(model string) bool {
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	return false
}
