package cloud

import (
	"encoding/json"
	"regexp"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// LostMarks returns the ownership tags of obj if tags lack some of them and have none of another owner; else nil. A
// resource with a tag of another object, cluster or UID is foreign or offered.
func (id Identity) LostMarks(obj client.Object, tags map[string]string) map[string]string {
	marks, left := id.OwnershipTags(obj), OwnershipTagKeys(tags)
	for _, key := range left {
		want, known := marks[key]
		if former := key == tagNamespaceUID && id.isNamespace(tags[key]); !known || want != tags[key] && !former {
			return nil
		}
	}
	if len(left) == len(marks) {
		return nil
	}
	return marks
}

// Command returns a shell command that makes a call with the AWS CLI, in the session's region and at the service's
// endpoint. service is the SDK's service ID.
func (s *Session) Command(service string, words ...string) string {
	line := append([]string{"aws"}, words...)
	line = append(line, "--region", s.Config.Region)
	if endpoint := s.Services.Endpoint(service); endpoint != "" {
		line = append(line, "--endpoint-url", endpoint)
	}
	for i, word := range line {
		line[i] = quoted(word)
	}
	return strings.Join(line, " ")
}

// plain matches words that need no quoting in a shell.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=-]+$`)

// quoted returns the word quoted for a POSIX shell.
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// TagText returns tags as JSON in the form that most commands accept: a sorted list of keys and values.
func TagText(tags map[string]string) string {
	type pair struct{ Key, Value string }
	list := TagList(tags, func(key, value *string) pair { return pair{*key, *value} })
	text, _ := json.Marshal(list) // strings cannot fail
	return string(text)
}
