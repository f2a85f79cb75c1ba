package llm

// splitO200k yields the pieces that the expression of o200k cuts a text of
// printable ASCII into, each of which is merged into tokens on its own. The
// expression is
//
//	[^\r\n\p{L}\p{N}]?\p{Lu}*\p{Ll}+(?i:'s|'t|'re|'ve|'m|'ll|'d)? |
//	[^\r\n\p{L}\p{N}]?\p{Lu}+\p{Ll}*(?i:'s|'t|'re|'ve|'m|'ll|'d)? |
//	\p{N}{1,3} | ' '?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
//
// with the classes of ASCII. The expression engine takes many times as long.
func splitO200k(s string, yield func(piece string)) {
	for i := 0; i < len(s); {
		end := o200kWord(s, i)
		if end < 0 {
			switch c := asciiClass[s[i]]; {
			case c == classDigit:
				for end = i + 1; end < len(s) && end < i+3 && asciiClass[s[end]] == classDigit; {
					end++
				}
			case c == classMark, s[i] == ' ' && i+1 < len(s) && asciiClass[s[i+1]] == classMark:
				for end = i + 1; end < len(s) && asciiClass[s[end]] == classMark; {
					end++
				}
				for end < len(s) && (s[end] == '\n' || s[end] == '\r' || s[end] == '/') {
					end++
				}
			default:
				end = o200kSpace(s, i)
			}
		}
		yield(s[i:end])
		i = end
	}
}

// printable reports whether s is ASCII without control characters but for
// tabs and line breaks.
func printable(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// o200kWord returns the end of the word that begins at i, with the one character
// before its letters that belongs to it, or -1.
func o200kWord(s string, i int) int {
	j := i
	switch asciiClass[s[i]] {
	case classDigit:
		return -1
	case classMark, classSpace:
		if s[i] == '\n' || s[i] == '\r' {
			return -1
		}
		j++
	}
	from := j
	for j < len(s) && asciiClass[s[j]] == classUpper {
		j++
	}
	for j < len(s) && asciiClass[s[j]] == classLower {
		j++
	}
	if j == from {
		return -1
	}
	return contractionEnd(s, j)
}

// contractionEnd returns the end of a contraction's tail ('s, 't, 're, 've, 'm, 'll,
// 'd) at j, else j.
func contractionEnd(s string, j int) int {
	if j+1 >= len(s) || s[j] != '\'' {
		return j
	}
	next := byte(0)
	if j+2 < len(s) {
		next = s[j+2] | 0x20
	}
	switch s[j+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return j + 2
	case 'r', 'v':
		if next == 'e' {
			return j + 3
		}
	case 'l':
		if next == 'l' {
			return j + 3
		}
	}
	return j
}

// o200kSpace returns the end of the piece of white space that begins at i: up
// to the last line break of the run, else all of it but the last character if
// something follows.
func o200kSpace(s string, i int) int {
	end, line := i, -1
	for end < len(s) && asciiClass[s[end]] == classSpace {
		if s[end] == '\n' || s[end] == '\r' {
			line = end + 1
		}
		end++
	}
	switch {
	case line > 0:
		return line
	case end < len(s) && end-i > 1:
		return end - 1
	}
	return end
}

const (
	classMark uint8 = iota
	classUpper
	classLower
	classDigit
	classSpace
)

var asciiClass = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 'A' && c <= 'Z':
			t[c] = classUpper
		case c >= 'a' && c <= 'z':
			t[c] = classLower
		case c >= '0' && c <= '9':
			t[c] = classDigit
		case c == ' ' || c >= '\t' && c <= '\r':
			t[c] = classSpace
		}
	}
	return t
}()
