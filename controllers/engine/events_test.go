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

// Of events with the same reason and action Kubernetes keeps one text, the first to arrive.
func TestWhatKubernetesWouldMergeIsOneEvent(t *testing.T) {
	n := &Events{}
	n.Repaired("Repaired", "UpdateDeployment", "image b → a")
	n.Normal("Created", "CreateService", "the Service shop")
	n.Repaired("Repaired", "UpdateDeployment", "replicas 7 → 2")
	got := n.merged()
	if len(got) != 2 || got[0].message != "image b → a; replicas 7 → 2" || got[1].message != "the Service shop" {
		t.Errorf("events %+v", got)
	}
	if len(n.list) != 3 {
		t.Errorf("%d notes are left to be counted", len(n.list))
	}
}
