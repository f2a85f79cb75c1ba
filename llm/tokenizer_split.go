package llm

// A splitter returns where the piece of s ends that begins at i < len(s). Every
// piece is merged into tokens on its own. Splitters do what the codec's
// expressions do, which take many times as long, to the letter: also where these
// differ from the expression of the vocabulary's makers. Both cut white space off
// behind the first line break of a run instead of the last, and the character
// DEL, which they leave out, is a piece here.
type splitter func(c classes, s string, i int) int

// splitO200k is the splitter of o200k, whose expression is
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)? |
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)? |
//	\p{N}{1,3} | ' '?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
func splitO200k(c classes, s string, i int) int {
	k, n := c.at(s, i)
	from := i
	if k&isPrefix != 0 {
		from += n
	}
	end, whole := o200kLetters(c, s, from)
	if k&inLower != 0 && k&isPrefix != 0 && !whole {
		end = from // a mark before capitals, or alone, is a word itself
	} else if end == from {
		return splitRest(c, s, i, k, n, true)
	}
	return end + contraction(s, end)
}

// o200kLetters returns where the letters and marks end that begin at i and make
// one word; whole tells that one of them is no capital. Behind what has no case
// capitals begin a word.
func o200kLetters(c classes, s string, i int) (end int, whole bool) {
	both := -1 // end of the last character that may begin a word and end one
	for {
		k, n := c.at(s, i)
		if k&inUpper == 0 {
			if k&inLower != 0 {
				return c.run(s, i, inLower), true
			}
			break
		}
		i += n
		if k&inLower != 0 {
			both = i
		}
	}
	if both >= 0 {
		return both, true
	}
	return i, false
}

// splitCl100k is the splitter of cl100k, whose expression is
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d) | [^\r\n\p{L}\p{N}]?\p{L}+ | \p{N}{1,3} |
//	' '?[^\s\p{L}\p{N}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
func splitCl100k(c classes, s string, i int) int {
	if n := contraction(s, i); n > 0 {
		return i + n
	}
	k, n := c.at(s, i)
	from := i
	if k&isPrefix != 0 {
		from += n
	}
	if end := c.run(s, from, isLetter); end > from {
		return end
	}
	return splitRest(c, s, i, k, n, false)
}

// splitRest returns where the piece at i ends that is no word: k is the class of
// its first character and n its bytes. Slashes may end a piece of symbols, like
// line breaks, where slashes is set.
func splitRest(c classes, s string, i int, k runeClass, n int, slashes bool) int {
	switch {
	case k&isDigit != 0:
		end := i + n
		for range 2 {
			k, n := c.at(s, end)
			if k&isDigit == 0 {
				break
			}
			end += n
		}
		return end
	case k&isSymbol != 0:
		return symbolsEnd(s, c.run(s, i+n, isSymbol), slashes)
	case s[i] == ' ':
		if end := c.run(s, i+1, isSymbol); end > i+1 {
			return symbolsEnd(s, end, slashes)
		}
	case k == 0:
		return i + n
	}
	return spaceEnd(c, s, i)
}

// symbolsEnd returns where the line breaks end that belong to the symbols before i.
func symbolsEnd(s string, i int, slashes bool) int {
	for i < len(s) && (s[i] == '\n' || s[i] == '\r' || slashes && s[i] == '/') {
		i++
	}
	return i
}

// spaceEnd returns the end of the piece of white space that begins at i: behind
// the first line breaks of the run, else all of it but the last character if
// something follows.
func spaceEnd(c classes, s string, i int) int {
	end, last := i, i
	for {
		k, n := c.at(s, end)
		switch {
		case k&isBreak != 0:
			return c.run(s, end, isBreak)
		case k&isSpace == 0:
			if end < len(s) && last > i {
				return last
			}
			return end
		}
		last = end
		end += n
	}
}

// contraction returns the bytes of a contraction's tail ('s, 't, 're, 've, 'm,
// 'll, 'd) at i, or 0. A long s is an s.
func contraction(s string, i int) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return 0
	}
	next := byte(0)
	if i+2 < len(s) {
		next = s[i+2]
	}
	switch s[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if next|0x20 == 'e' {
			return 3
		}
	case 'l':
		if next|0x20 == 'l' {
			return 3
		}
	case 0xc5 | 0x20: // U+017F is 0xc5 0xbf
		if s[i+1] == 0xc5 && next == 0xbf {
			return 3
		}
	}
	return 0
}
