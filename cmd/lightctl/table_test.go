package main

import (
	"bytes"
	"testing"
)

func TestTableAlignsWhatATerminalShows(t *testing.T) {
	var out bytes.Buffer
	tb := (&app{out: &out}).table()
	tb.row("NAME", "TYPE", "DEGREE")
	tb.row("故宫博物院", "concept", 0)
	tb.row("경복궁", "concept", 2)
	tb.row("Cafe\u0301", "place", "")
	tb.row("a line of its own that widens nothing")
	tb.row("a", "b")
	tb.row("long", "b", "c\nd")
	if err := tb.flush(); err != nil {
		t.Fatal(err)
	}
	want := "NAME        TYPE     DEGREE\n" +
		"故宫博物院  concept  0\n" +
		"경복궁      concept  2\n" +
		"Cafe\u0301        place\n" +
		"a line of its own that widens nothing\n" +
		"a     b\n" +
		"long  b  c d\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
