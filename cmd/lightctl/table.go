package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
)

// table aligns columns by what a terminal shows: a Chinese or Korean character
// takes two places, a combining one none. A column is as wide as its widest
// cell among neighbouring rows that go on after it.
type table struct {
	out  io.Writer
	rows [][]string
}

// gap is how many blanks stand between columns.
const gap = 2

// places is not the default of its package, which depends on the environment.
var places = runewidth.Condition{StrictEmojiNeutral: true}

func (a *app) table() *table { return &table{out: a.out} }

func (t *table) row(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = oneLine(fmt.Sprint(c))
	}
	t.rows = append(t.rows, row)
}

// flush writes the rows. No line ends in blanks.
func (t *table) flush() error {
	widths := t.widths()
	var all, line strings.Builder
	for i, row := range t.rows {
		line.Reset()
		for c, cell := range row {
			line.WriteString(cell)
			if c < len(widths[i]) {
				line.WriteString(strings.Repeat(" ", widths[i][c]+gap-places.StringWidth(cell)))
			}
		}
		all.WriteString(strings.TrimRight(line.String(), " "))
		all.WriteByte('\n')
	}
	t.rows = nil
	_, err := io.WriteString(t.out, all.String())
	return err
}

// widths returns the width of every cell but the last of each row.
func (t *table) widths() [][]int {
	widths := make([][]int, len(t.rows))
	for c, more := 0, true; more; c++ {
		more = false
		for from := 0; from < len(t.rows); from++ {
			to, widest := from, 0
			for ; to < len(t.rows) && c+1 < len(t.rows[to]); to++ {
				widest = max(widest, places.StringWidth(t.rows[to][c]))
			}
			for i := from; i < to; i++ {
				widths[i] = append(widths[i], widest)
			}
			more = more || to > from
			from = max(from, to)
		}
	}
	return widths
}
