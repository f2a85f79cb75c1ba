package engine

import (
	"fmt"
	"sync"

	"github.com/lightctl/lightrag/llm"
)

// window is what is known of the model's context window: its size in tokens,
// and how many of the model's tokens make one of the store's tokenizer. The
// configured size stands until a server refuses a prompt and says another one;
// that is remembered as long as the DB is open.
type window struct {
	mu    sync.Mutex
	size  int // 0 = unknown
	ratio float64
}

// answerReserve is the part of a window that is left free for the answer: a
// quarter, at most 2048 tokens.
func answerReserve(window int) int { return min(window/4, 2048) }

// Where a server does not say what it counted, its tokens are taken to be
// smaller than those of the store's tokenizer by this much.
const unknownRatio = 1.15

func (w *window) get() (size int, ratio float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.size, max(w.ratio, 1)
}

// learn takes up what a refusal says about a prompt of so many tokens of the
// store's tokenizer. It reports whether that leads to a smaller prompt than what was known before.
func (w *window) learn(err error, sent int) bool {
	size, prompt, ok := llm.ContextWindow(err)
	if !ok {
		return false
	}
	ratio := unknownRatio
	if prompt > 0 && sent > 0 {
		ratio = min(max(float64(prompt)/float64(sent)*1.02, 1), 8)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	room := func(size int, ratio float64) float64 { return float64(size-answerReserve(size)) / max(ratio, 1) }
	if w.size > 0 && room(size, ratio) >= room(w.size, w.ratio) {
		return false
	}
	w.size, w.ratio = size, ratio
	return true
}

// fit makes the budgets of q, which has its defaults, so small that prompt and
// answer fit into the model's context window, where that is known. What the
// caller wished is not exceeded; below that, entities, relations and passages
// keep their proportions.
func (db *DB) fit(q *Query) error {
	size, ratio := db.window.get()
	if size == 0 || q.Mode == Bypass {
		return nil
	}
	q.window = size
	total := int(float64(size-answerReserve(size)) / ratio)
	for i := range q.History {
		total -= db.tok.Count(q.History[i].Content) + messageTokens
	}
	fixed := promptReserve + db.promptFrame(q.answerOptions()).tokens() + db.tok.Count(q.Text)
	if total <= fixed {
		return fmt.Errorf("%w: prompt, question and history leave no room for a context in the %d tokens of the model (of which %d are for the answer)",
			llm.ErrContextLength, size, answerReserve(size))
	}
	if total < q.MaxTotalTokens {
		shrink := func(n int) int { return int(int64(n) * int64(total-fixed) / int64(q.MaxTotalTokens-fixed)) }
		q.MaxEntityTokens, q.MaxRelationTokens = shrink(q.MaxEntityTokens), shrink(q.MaxRelationTokens)
		q.MaxTotalTokens = total
	}
	if sum := q.MaxEntityTokens + q.MaxRelationTokens; sum > total-fixed {
		q.MaxEntityTokens = int(int64(q.MaxEntityTokens) * int64(total-fixed) / int64(sum))
		q.MaxRelationTokens = total - fixed - q.MaxEntityTokens
	}
	return nil
}

// messageTokens is what a message costs beside its content.
const messageTokens = 4

// sent counts the tokens of a question as it was sent to the model.
func (db *DB) sent(q *Query, r *Result) int {
	n := db.tok.Count(db.opts.Prompts.Answer(r.Context, q.answerOptions())) + db.tok.Count(q.Text) + 2*messageTokens
	for i := range q.History {
		n += db.tok.Count(q.History[i].Content) + messageTokens
	}
	return n
}
