// Package prose makes sentences for people of the messages of the API and of Kubernetes, and searches texts as people do.
package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence is s with a capital letter in front, unless the first word is a name, and a full stop behind; "" stays "".
func Sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(s)
	if word, _, _ := strings.Cut(s, " "); PlainWord(word) {
		s = string(unicode.ToUpper(first)) + s[size:]
	}
	if !strings.ContainsRune(".!?", rune(s[len(s)-1])) {
		s += "."
	}
	return s
}

// PlainWord reports whether a word may be capitalised: a field's name such as kmsKeyID may not.
func PlainWord(word string) bool {
	return word == strings.ToLower(word) && !strings.ContainsAny(word, "./_[]=:")
}

// HasWords reports whether text has every word of the search, in capital letters or small ones.
func HasWords(search, text string) bool {
	text = strings.ToLower(text)
	for word := range strings.FieldsSeq(strings.ToLower(search)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// Person is a username without the prefix that tells identity providers apart: people know themselves without it.
func Person(username string) string {
	if _, rest, ok := strings.Cut(username, ":"); ok && rest != "" && !strings.Contains(username, "system:") {
		return rest
	}
	return username
}
