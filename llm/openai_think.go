package llm

import (
	"bytes"
	"strings"
)

// Models that reason in the open mark it with these; what stands between is no
// part of the answer.
const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
	blanks     = " \t\r\n"
)

// stripThink returns the answer in s:
//
//   - Blocks <think>…</think> are removed. The first </think> ends a block.
//   - Before the answer's first character a block may be left open (the answer
//     then was cut and is empty), and blanks around it are removed with it.
//   - A </think> without an opening before it ends a block that began before the
//     first character: some chat templates open it in the prompt.
//   - Any other tag is text, as is an opening within the answer that is never
//     closed.
func stripThink(s string) string {
	var b strings.Builder
	f := thinkFilter{hold: holdAll, emit: func(t string) error { b.WriteString(t); return nil }}
	_ = f.write(s) // emit cannot fail
	_ = f.end()
	return b.String()
}

// holdAll keeps a thinkFilter from passing on anything while a </think> may come.
const holdAll = int(^uint(0) >> 1)

// thinkFilter is stripThink for an answer that arrives in pieces. What it passes
// on does not depend on how the answer is cut into pieces.
//
// A lone </think> can only be honoured while nothing has been passed on. hold
// is the number of bytes to wait for one, from the start of the answer.
type thinkFilter struct {
	hold  int
	emit  func(string) error
	state thinkState
	buf   []byte // not yet decided
	seen  int    // prefix of buf known to hold no tag that matters
	after bool   // a block went before: blanks are dropped, no lone close counts

	orphan bool // a lone </think> was found
}

type thinkState uint8

const (
	atStart thinkState = iota // nothing but blanks or undecided text so far
	inLead                    // in a block before the answer
	inText                    // in the answer
	inBlock                   // in what may be a block within the answer
)

// write takes the next piece. The error is that of emit.
func (f *thinkFilter) write(piece string) error {
	f.buf = append(f.buf, piece...)
	for {
		more, err := f.step()
		if err != nil || !more {
			return err
		}
	}
}

// step decides what it can of buf and reports whether another step may follow.
func (f *thinkFilter) step() (bool, error) {
	switch f.state {
	case atStart:
		return f.start()
	case inLead:
		i := f.find(thinkClose)
		if i < 0 { // nothing of it will be needed again
			f.drop(max(0, len(f.buf)-len(thinkClose)+1))
			return false, nil
		}
		f.drop(i + len(thinkClose))
		f.state, f.after = atStart, true
		return true, nil
	case inBlock:
		i := f.find(thinkClose)
		if i < 0 {
			return false, nil
		}
		f.drop(i + len(thinkClose))
		f.state = inText
		return true, nil
	}
	i := f.find(thinkOpen)
	if i < 0 {
		return false, f.pass(len(f.buf) - partial(f.buf, thinkOpen))
	}
	f.state = inBlock
	return true, f.pass(i)
}

func (f *thinkFilter) start() (bool, error) {
	lead := f.lead()
	text := f.buf[lead:]
	if bytes.HasPrefix(text, []byte(thinkOpen)) {
		f.drop(lead + len(thinkOpen))
		f.state = inLead
		return true, nil
	}
	if f.after {
		f.drop(lead)
	}
	if bytes.HasPrefix([]byte(thinkOpen), text) { // blank, or it may become a tag
		return false, nil
	}
	if !f.after {
		head := f.buf[:min(len(f.buf), f.hold)]
		from := min(f.seen, len(head))
		end := bytes.Index(head[from:], []byte(thinkClose))
		open := bytes.Index(head[from:], []byte(thinkOpen))
		switch {
		case end >= 0 && (open < 0 || end < open):
			f.orphan, f.after = true, true
			f.drop(from + end + len(thinkClose))
			return true, nil
		case open < 0 && len(f.buf) < f.hold:
			f.seen = max(0, len(f.buf)-len(thinkClose)+1)
			return false, nil
		}
	}
	f.state, f.seen = inText, 0
	return true, nil
}

// lead is the number of blanks that buf begins with.
func (f *thinkFilter) lead() int {
	i := 0
	for i < len(f.buf) && strings.IndexByte(blanks, f.buf[i]) >= 0 {
		i++
	}
	return i
}

// end passes on what was waiting for more.
func (f *thinkFilter) end() error {
	switch f.state {
	case inLead:
		return nil
	case atStart:
		if f.after {
			f.drop(f.lead())
		}
	}
	return f.pass(len(f.buf))
}

func (f *thinkFilter) find(tag string) int {
	i := bytes.Index(f.buf[f.seen:], []byte(tag))
	if i < 0 {
		f.seen = max(f.seen, len(f.buf)-len(tag)+1)
		return -1
	}
	return f.seen + i
}

func (f *thinkFilter) drop(n int) {
	f.buf = f.buf[n:]
	f.seen = max(0, f.seen-n)
}

func (f *thinkFilter) pass(n int) error {
	if n == 0 {
		return nil
	}
	s := string(f.buf[:n])
	f.drop(n)
	return f.emit(s)
}

// partial is the length of the longest proper beginning of tag that b ends with.
func partial(b []byte, tag string) int {
	for n := min(len(tag)-1, len(b)); n > 0; n-- {
		if string(b[len(b)-n:]) == tag[:n] {
			return n
		}
	}
	return 0
}
