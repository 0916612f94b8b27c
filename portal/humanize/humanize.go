// Package humanize turns messages of the API and of Kubernetes into sentences for people, and matches searches.
package humanize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/portico-platform/portico/api/deploy"
)

// Sentence returns s with a capital letter, unless the first word is a name, and a full stop; "" stays "".
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

// PlainWord reports whether a word can be capitalised: it is not a field name such as kmsKeyID.
func PlainWord(word string) bool {
	return word == strings.ToLower(word) && !strings.ContainsAny(word, "./_[]=:")
}

// HasWords reports whether text contains every word of the search, ignoring case.
func HasWords(search, text string) bool {
	text = strings.ToLower(text)
	for word := range strings.FieldsSeq(strings.ToLower(search)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// Person returns the name to show for a username: without the prefix of the identity provider, which people do not know
// themselves by, for IAM identities, such as kubectl's on EKS, the name of the session and its role, and for deployers
// team/name.
func Person(username string) string {
	if strings.HasPrefix(username, "arn:") {
		return iamPerson(username)
	}
	if name := deploy.Name(username); name != username {
		return name
	}
	if _, rest, ok := strings.Cut(username, ":"); ok && rest != "" && !strings.Contains(username, "system:") {
		return rest
	}
	return username
}

// iamPerson shortens the ARNs arn:aws:sts::<account>:assumed-role/<role>/<session> and
// arn:aws:iam::<account>:user/<path>/<name>.
func iamPerson(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return arn
	}
	path := strings.Split(parts[5], "/")
	name := path[len(path)-1]
	switch {
	case name == "":
		return arn
	case parts[2] == "sts" && path[0] == "assumed-role" && len(path) == 3:
		return name + " (IAM role " + path[1] + " in " + parts[4] + ")"
	case parts[2] == "iam" && path[0] == "user" && len(path) > 1:
		return name + " (IAM user in " + parts[4] + ")"
	}
	return arn
}

// FirstSentence splits a text into its first sentence, which is always shown, and the rest.
func FirstSentence(text string) (first, more string) {
	for at := 0; ; {
		i := strings.Index(text[at:], ". ")
		if i < 0 {
			return Sentence(text), ""
		}
		at += i + len(". ")
		if first := text[:at-len(" ")]; !abbreviated(first) {
			return first, text[at:]
		}
	}
}

// abbreviated reports whether the full stop at the end of text ends an abbreviation.
func abbreviated(text string) bool {
	word := strings.ToLower(text[strings.LastIndexAny(text, " (")+1:])
	return word == "i.e." || word == "e.g." || word == "vs."
}

// Words splits a camel-case name into words: CertificateIssued → Certificate issued.
func Words(name string) string {
	var b strings.Builder
	rs := []rune(name)
	upper := func(i int) bool { return i >= 0 && i < len(rs) && unicode.IsUpper(rs[i]) }
	for i, r := range rs {
		follows := i+1 < len(rs) && !upper(i+1) && unicode.IsLetter(rs[i+1]) // a small letter
		if i > 0 && upper(i) {
			if !upper(i-1) || follows {
				b.WriteByte(' ')
			}
			if acronym := upper(i+1) || upper(i-1) && !follows; !acronym {
				r = unicode.ToLower(r)
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Label returns the words of a name with a capital letter: messagesInFlight → Messages in flight.
func Label(name string) string {
	w := Words(name)
	if w == "" {
		return w
	}
	return strings.ToUpper(w[:1]) + w[1:]
}

// Join joins two texts with a space, unless one of them is empty.
func Join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}
