package llmtest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
)

func answerChat(w http.ResponseWriter, r *http.Request, req ChatRequest, reply ChatReply) {
	if !wait(r, reply.Delay) {
		return
	}
	for k, v := range reply.Header {
		w.Header()[k] = v
	}
	if special(w, reply.Status, reply.Body, reply.ContentType, reply.RetryAfter) {
		return
	}
	if reply.Echo {
		reply.Text = req.User()
	}
	if reply.Text == "" {
		reply.Text = strings.Join(reply.Chunks, "")
	}
	if reply.Usage == nil {
		reply.Usage = &Usage{Completion: len(strings.Fields(reply.Text))}
		for _, m := range req.Messages {
			reply.Usage.Prompt += len(strings.Fields(m.Content))
		}
	}
	if req.Stream {
		stream(w, r, req, reply)
		return
	}
	answer := envelope(req, "chat.completion", []any{map[string]any{
		"index":         0,
		"message":       map[string]any{"role": "assistant", "content": reply.Text, "refusal": reply.Refuse},
		"finish_reason": finish(reply),
	}})
	if !reply.NoUsage {
		answer["usage"] = usage(reply.Usage)
	}
	if reply.Cut {
		body, _ := json.Marshal(answer) // of strings and numbers only
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body[:len(body)/2])
		leave(w)
	}
	writeJSON(w, http.StatusOK, answer)
}

// special answers what is no regular answer and reports whether it did.
func special(w http.ResponseWriter, status int, body, kind, retryAfter string) bool {
	if retryAfter != "" {
		w.Header().Set("Retry-After", retryAfter)
	}
	if status == 0 {
		status = http.StatusOK
	}
	if status == http.StatusOK && body == "" {
		return false
	}
	if body == "" {
		writeError(w, status, http.StatusText(status))
		return true
	}
	if kind == "" {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
	return true
}

func stream(w http.ResponseWriter, r *http.Request, req ChatRequest, reply ChatReply) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	if reply.Raw != "" {
		_, _ = w.Write([]byte(reply.Raw))
		_ = flush.Flush()
		if reply.Cut {
			leave(w)
		}
		return
	}
	send := func(choices []any, u any) {
		event := envelope(req, "chat.completion.chunk", choices)
		if u != nil {
			event["usage"] = u
		}
		b, _ := json.Marshal(event) // of strings and numbers only
		_, _ = w.Write([]byte("data: " + string(b) + "\n\n"))
		_ = flush.Flush()
	}
	delta := func(d map[string]any, reason any) []any {
		return []any{map[string]any{"index": 0, "delta": d, "finish_reason": reason}}
	}
	chunks := reply.Chunks
	if chunks == nil {
		chunks = pieces(reply.Text, 8)
	}
	send(delta(map[string]any{"role": "assistant", "content": ""}, nil), nil)
	for i, c := range chunks {
		if i > 0 && !wait(r, reply.ChunkDelay) {
			return
		}
		send(delta(map[string]any{"content": c}, nil), nil)
	}
	if reply.Stall {
		<-r.Context().Done()
		return
	}
	if reply.Cut {
		leave(w)
	}
	if reply.Refuse != "" {
		send(delta(map[string]any{"refusal": reply.Refuse}, nil), nil)
	}
	send(delta(map[string]any{}, finish(reply)), nil)
	if !reply.NoUsage && req.StreamOptions != nil && req.StreamOptions.IncludeUsage {
		send([]any{}, usage(reply.Usage))
	}
	_, _ = w.Write([]byte("data: [DONE]\n\n"))
}

// leave ends the connection without ending the answer. It does not return.
func leave(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func pieces(s string, runes int) []string {
	var out []string
	for r := []rune(s); len(r) > 0; {
		n := min(runes, len(r))
		out = append(out, string(r[:n]))
		r = r[n:]
	}
	return out
}

func envelope(req ChatRequest, object string, choices []any) map[string]any {
	return map[string]any{"id": "fake", "object": object, "created": 0, "model": req.Model, "choices": choices}
}

func finish(reply ChatReply) any {
	switch reply.FinishReason {
	case "":
		return "stop"
	case "none":
		return nil
	}
	return reply.FinishReason
}

func usage(u *Usage) map[string]any {
	return map[string]any{
		"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Prompt + u.Completion,
		"prompt_tokens_details": map[string]any{"cached_tokens": u.Cached},
	}
}

// DefaultDim is the length of the vectors of requests that ask for none.
const DefaultDim = 16

func answerEmbed(w http.ResponseWriter, r *http.Request, req EmbedRequest, reply EmbedReply) {
	if !wait(r, reply.Delay) || special(w, reply.Status, reply.Body, "", reply.RetryAfter) {
		return
	}
	vectors := reply.Vectors
	if vectors == nil {
		dim := req.Dimensions
		if dim <= 0 {
			dim = DefaultDim
		}
		for _, t := range req.Input {
			vectors = append(vectors, Vector(t, min(dim, 1<<16)))
		}
	}
	data := make([]any, len(vectors))
	for i, v := range vectors {
		row := map[string]any{"object": "embedding", "index": i, "embedding": v}
		if req.EncodingFormat == "base64" && !reply.Floats {
			row["embedding"] = encode(v)
		}
		if i < len(reply.Indexes) {
			row["index"] = reply.Indexes[i]
			if reply.Indexes[i] < 0 {
				delete(row, "index")
			}
		}
		data[i] = row
	}
	tokens := reply.Tokens
	if tokens == 0 {
		for _, t := range req.Input {
			tokens += len(strings.Fields(t))
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list", "model": req.Model, "data": data,
		"usage": map[string]any{"prompt_tokens": tokens, "total_tokens": tokens},
	})
}

// Vector returns the default vector of a text: a unit vector that is a function
// of its bytes.
func Vector(text string, dim int) []float32 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	rng := rand.New(rand.NewPCG(h.Sum64(), 1))
	v := make([]float32, dim)
	var sum float64
	for i := range v {
		x := rng.NormFloat64()
		v[i] = float32(x)
		sum += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func encode(v []float32) string {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}
