package main

import (
	"slices"
	"testing"
)

func TestPageParagraphs(t *testing.T) {
	page := `<html><head><title>no</title></head><body><nav>no</nav><div id="DisplayArea"><h1>Cells</h1><p>A <b>row</b> of <i>c</i>ells.</p>
<pre>x = 1</pre><ul><li>one</li><li>two<script>no()</script></li></ul>tail</div>no</body></html>`
	c := newCorpus()
	pageParagraphs(page, "id", "DisplayArea", func(p string) { c.add(p, true) })
	var got []string
	for _, id := range c.text {
		if id < 0 {
			got = append(got, "|")
		} else {
			got = append(got, c.forms[id])
		}
	}
	if want := []string{"cells", "|", "a", "row", "of", "cells", "|", "one", "|", "two", "|", "tail", "|"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestCorpusKeepsThePlaceOfWhatIsNoWord(t *testing.T) {
	c := newCorpus()
	c.add("Version 3.11 isn't x86-64.", true)
	c.add("...", true)
	if want := []int32{0, -2, -2, 1, 2, -2, -2, -1}; !slices.Equal(c.text, want) {
		t.Errorf("%v, want %v", c.text, want)
	}
}
