package wire

import (
	"strings"
)

// Element returns the text of the first element with the name, or "".
func Element(in []byte, name string) string {
	_, rest, ok := strings.Cut(string(in), "<"+name+">")
	if !ok {
		return ""
	}
	text, _, _ := strings.Cut(rest, "<")
	return text
}

// RawXML is the content of an element.
type RawXML struct {
	Inner string `xml:",innerxml"`
}

// Tag is a tag of a resource.
type Tag struct{ Key, Value string }
