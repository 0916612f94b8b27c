package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/catalog"
)

// TestKindsAreSentOnce checks that a run asks for the kinds with what an earlier one has stored, and for the schema of
// a kind only when it is new.
func TestKindsAreSentOnce(t *testing.T) {
	f := newPortal(t)
	c := newTerminal(t, f.url)
	read := func() string {
		f.reads = nil
		c.run(0, "kinds", "bucket")
		return strings.Join(f.reads, ", ")
	}
	if got := read(); got != " , /s3buckets " {
		t.Errorf("the first run reads %q", got)
	}
	if got := read(); !strings.HasPrefix(got, ` "`) || strings.Contains(got, "/") {
		t.Errorf("the second run reads %q, want one conditional request", got)
	}
	f.kinds = slices.DeleteFunc(slices.Clone(f.kinds), func(k catalog.Kind) bool { return k.Name == "SNSTopic" })
	if got := read(); strings.Contains(got, "/") {
		t.Errorf("without another kind a run reads %q", got)
	}
	if _, said := c.run(2, "kinds", "snstopic"); !strings.Contains(said, "there is no kind") {
		t.Errorf("a kind that is gone: %s", said)
	}
}

// TestKindsAreCompletedWithoutAPortal checks that completion uses what was stored.
func TestKindsAreCompletedWithoutAPortal(t *testing.T) {
	f := newPortal(t)
	c := newTerminal(t, f.url)
	c.run(0, "kinds", "bucket")
	f.on("GET /kinds", 503, `{"title": "Service Unavailable", "status": 503, "detail": "not now"}`)
	if out, _ := c.run(0, "__complete", "request", "buck"); !strings.HasPrefix(out, "bucket\t") {
		t.Errorf("completes %q", out)
	}
	if _, said := c.run(1, "kinds", "bucket"); !strings.Contains(said, "not now") {
		t.Errorf("without completion: %s", said)
	}
}

func TestAnOlderPortalIsNamed(t *testing.T) {
	f := newPortal(t)
	f.on("GET /kinds", 404, `{"title": "Not Found", "status": 404, "detail": "there is nothing here"}`)
	if _, said := newTerminal(t, f.url).run(1, "get", "-n", "payments"); !strings.Contains(said,
		f.url+" is older than this portico") {
		t.Errorf("says %s", said)
	}
}
