package llm

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const redacted = "[redacted]"

// Shapes that are secrets whoever they belong to: what a server echoes may be
// another spelling of the key, masked in the middle.
var (
	bearerShape   = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[^\s"',;]+`)
	keyShape      = regexp.MustCompile(`\bsk-[A-Za-z0-9_*.\-]{4,}`)
	userinfoShape = regexp.MustCompile(`//[^/\s]*@`)
)

// redactor removes secrets from texts that leave the package.
type redactor struct{ secrets []string }

// newRedactor knows each secret as it is and as JSON and URLs spell it.
// Strings of fewer than four bytes are no secrets: hiding them would only make
// messages unreadable.
func newRedactor(secrets ...string) redactor {
	var r redactor
	add := func(s string) {
		if len(s) >= 4 && !slices.Contains(r.secrets, s) {
			r.secrets = append(r.secrets, s)
		}
	}
	for _, s := range secrets {
		add(s)
		add(url.QueryEscape(s))
		add(url.PathEscape(s))
		if q, err := json.Marshal(s); err == nil {
			add(strings.Trim(string(q), `"`))
		}
	}
	// Longer ones first, so that a secret inside another leaves no remainder.
	slices.SortFunc(r.secrets, func(a, b string) int { return len(b) - len(a) })
	return r
}

// clean returns s without secrets.
func (r redactor) clean(s string) string {
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret, redacted)
	}
	s = bearerShape.ReplaceAllString(s, "$1 "+redacted)
	s = keyShape.ReplaceAllString(s, redacted)
	return userinfoShape.ReplaceAllString(s, "//"+redacted+"@")
}

// message cleans s and makes it one line of at most 500 characters.
func (r redactor) message(s string) string {
	s = r.clean(strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.FieldsFunc(s, func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c)
	}), " ")
	n := 0
	for i := range s {
		if n == 500 {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
