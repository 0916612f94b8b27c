package engine

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNotesFitIntoAnEvent(t *testing.T) {
	n := &Events{}
	n.Normal("Updated", "Put", "%s", strings.Repeat("→", 1000))
	text := n.list[0].message
	if len(text) > maxNoteBytes || !utf8.ValidString(text) || !strings.HasSuffix(text, "…") {
		t.Errorf("%d bytes, ends with %q", len(text), text[len(text)-6:])
	}
	n.Warning("Repaired", "Put", "short")
	if n.list[1].message != "short" {
		t.Errorf("got %q", n.list[1].message)
	}
}
