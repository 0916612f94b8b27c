package cloud

import (
	"encoding/json"
	"regexp"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// LostMarks returns the ownership tags that obj gives, if tags lack some and hold none that is another's; else nil.
// What carries a mark of another object, cluster or life is somebody else's, or on offer.
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

// Command returns a line for a shell that makes a call with the AWS command line, in the session's region and where the
// service is, whose ID is the SDK's.
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

// plain are the words that no shell changes.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=-]+$`)

// quoted returns the word as a POSIX shell has to read it.
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// TagText returns tags as JSON, in the form that most commands take: a list of keys and values, sorted.
func TagText(tags map[string]string) string {
	type pair struct{ Key, Value string }
	list := TagList(tags, func(key, value *string) pair { return pair{*key, *value} })
	text, _ := json.Marshal(list) // texts do not fail
	return string(text)
}
