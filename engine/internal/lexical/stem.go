package lexical

// stem takes the ending of an English plural off a word of small ASCII letters,
// in place (D. Harman, How effective is suffixing?, JASIS 42, 1991, section 2:
// the S stemmer). Words of other languages that end so lose the same letters in
// documents and questions.
func stem(w []byte) []byte {
	n := len(w)
	if n < 4 || w[n-1] != 's' || n > 24 {
		return w
	}
	for _, c := range w {
		if c < 'a' || c > 'z' {
			return w
		}
	}
	switch w[n-2] {
	case 's', 'u':
		return w
	case 'e':
		switch {
		case w[n-3] == 'i' && n > 4 && w[n-4] != 'e' && w[n-4] != 'a':
			w[n-3] = 'y'
			return w[:n-2]
		case w[n-3] == 'a' || w[n-3] == 'e' || w[n-3] == 'o':
			return w
		}
	}
	return w[:n-1]
}
