package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// writeJSON writes v as one indented document.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// rows is the JSON form of a table.
type rows[T any] struct {
	Rows []T `json:"rows"`
}

// list keeps an empty slice from becoming null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// printable replaces what a terminal would obey rather than show: texts and
// names come from documents that anybody may have written.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// say writes text for people to standard output.
func (a *app) say(format string, args ...any) error {
	_, err := io.WriteString(a.out, printable(fmt.Sprintf(format, args...)))
	return err
}

// dim writes a line that is less important than the others.
func (a *app) dim(line string) error {
	line = printable(line)
	if isTerminal(a.out) && a.env("NO_COLOR") == "" {
		line = "\x1b[2m" + line + "\x1b[0m"
	}
	_, err := fmt.Fprintln(a.out, line)
	return err
}

// oneLine makes s fit for a cell.
func oneLine(s string) string {
	return strings.Join(strings.Fields(printable(s)), " ")
}

// clip shortens s to n characters.
func clip(s string, n int) string {
	r := []rune(oneLine(s))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}

// plural returns "1 chunk", "2 chunks".
func plural[N int | uint64](n N, noun string) string {
	switch {
	case n == 1:
		return fmt.Sprintf("1 %s", noun)
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// bytesText returns a size in the unit that suits it.
func bytesText(n uint64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
