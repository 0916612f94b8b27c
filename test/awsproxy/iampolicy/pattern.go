package iampolicy

import "strings"

// pattern is a text with wildcards and variables.
type pattern []token

// token is one character, or a variable.
type token struct {
	char     rune
	wild     bool // char is a wildcard, * or ?
	variable *variable
}

type variable struct {
	key        string // in lower case
	otherwise  string
	hasDefault bool
}

// plain parses a text without variables.
func plain(text string) pattern {
	var p pattern
	for _, c := range text {
		p = append(p, token{char: c, wild: c == '*' || c == '?'})
	}
	return p
}

// literal parses a text without wildcards.
func literal(text string) pattern {
	var p pattern
	for _, c := range text {
		p = append(p, token{char: c})
	}
	return p
}

// expand returns the pattern with the values of its variables; false if one has no value, or more than one.
func (p pattern) expand(c Context) (pattern, bool) {
	var out pattern
	for _, t := range p {
		if t.variable == nil {
			out = append(out, t)
			continue
		}
		values := c.values(t.variable.key)
		switch {
		case len(values) == 1:
			out = append(out, literal(values[0])...)
		case len(values) == 0 && t.variable.hasDefault:
			out = append(out, literal(t.variable.otherwise)...)
		default:
			return nil, false
		}
	}
	return out, true
}

// fixed reports whether the pattern has no variables.
func (p pattern) fixed() bool {
	for _, t := range p {
		if t.variable != nil {
			return false
		}
	}
	return true
}

// text returns the characters of an expanded pattern, unchanged.
func (p pattern) text() string {
	var b strings.Builder
	for _, t := range p {
		b.WriteRune(t.char)
	}
	return b.String()
}

// matches reports whether an expanded pattern matches the whole text. An asterisk matches any characters, /, - and :
// included.
func (p pattern) matches(text string) bool {
	s := []rune(text)
	at, star, from := 0, -1, 0 // star: the last asterisk; from: where the pattern after it was last tried
	for i := 0; i < len(s); {
		switch {
		case at < len(p) && p[at].wild && p[at].char == '*':
			star, from = at, i
			at++
		case at < len(p) && (p[at].wild || p[at].char == s[i]):
			at++
			i++
		case star >= 0:
			from++
			at, i = star+1, from
		default:
			return false
		}
	}
	for at < len(p) && p[at].wild && p[at].char == '*' {
		at++
	}
	return at == len(p)
}

// split splits an expanded pattern at its first five colons, as an ARN is split.
func (p pattern) split() []pattern {
	var parts []pattern
	start := 0
	for i, t := range p {
		if t.char == ':' && len(parts) < arnParts-1 {
			parts = append(parts, p[start:i])
			start = i + 1
		}
	}
	return append(parts, p[start:])
}
