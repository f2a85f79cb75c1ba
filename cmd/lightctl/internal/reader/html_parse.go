package reader

import (
	"errors"
	"strings"

	"golang.org/x/net/html"
)

// errMultiplied refuses a page that a browser would make far larger than it is.
var errMultiplied = errors.New("its unclosed elements would be repeated without end")

// formatting are the elements that HTML opens again in every block after the
// one in which they were not closed.
var formatting = map[string]bool{
	"a": true, "b": true, "big": true, "code": true, "em": true, "font": true, "i": true, "nobr": true, "s": true,
	"small": true, "strike": true, "strong": true, "tt": true, "u": true,
}

// parseHTML parses a page, unless its tree may have more nodes than the page has
// bytes: a few bytes can open hundreds of elements again.
func parseHTML(page string) (*html.Node, error) {
	if nodes := mostNodes(page); nodes > max(len(page), 1<<16) {
		return nil, errMultiplied
	}
	return html.Parse(strings.NewReader(page))
}

// mostNodes bounds the nodes of a page's tree: each tag and text may open again
// all formatting elements that were not closed, of equal ones three.
func mostNodes(page string) int {
	z := html.NewTokenizer(strings.NewReader(page))
	open := make(map[string][]string) // by name, the tags that are not closed
	equal := make(map[string]int)     // by tag
	again, nodes := 0, 0
	for {
		switch z.Next() {
		case html.ErrorToken:
			return nodes
		case html.StartTagToken, html.SelfClosingTagToken:
			tag := string(z.Raw())
			name, _ := z.TagName()
			if n := string(name); formatting[n] {
				open[n] = append(open[n], tag)
				if equal[tag]++; equal[tag] <= 3 {
					again++
				}
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if list := open[string(name)]; len(list) > 0 {
				tag := list[len(list)-1]
				open[string(name)] = list[:len(list)-1]
				if equal[tag]--; equal[tag] < 3 {
					again--
				}
			}
		case html.TextToken:
		default:
			continue
		}
		nodes += 1 + again
	}
}
