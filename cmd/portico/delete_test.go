package main

import (
	"slices"
	"strings"
	"testing"
)

func TestDeletingAsksForTheName(t *testing.T) {
	for _, c := range []struct {
		name, typed string
		yes         bool
		code        int
	}{
		{"the name", "a\n", false, 0}, {"another name", "b\n", false, 1}, {"nothing", "", false, 1}, {"nobody is asked", "", true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.on("GET "+buckets+"/a", 200, bucket("a", "True", ""), "ETag", etag)
			sent := "DELETE " + buckets + "/a"
			if !c.yes {
				sent += "?confirm=a"
			}
			if c.code == 0 {
				p.on(sent, 202, bucket("a", "True", ""))
			}
			term := newTerminal(t, p.url)
			term.in, term.asks = strings.NewReader(c.typed), true
			args := []string{"delete", "bucket", "a"}
			if c.yes {
				args = append(args, "--yes")
			}
			_, said := term.run(c.code, args...)
			if slices.Contains(p.asked, sent) != (c.code == 0) {
				t.Errorf("asked %q", p.asked)
			}
			if !c.yes && !strings.Contains(said, "bucket a in payments will be forgotten by Portico; what it stands for in AWS stays.") {
				t.Errorf("does not say what is lost: %s", said)
			}
		})
	}
}

// In a script the name confirms; --yes does not, and what asks for a confirmation stays.
func TestAScriptConfirmsByTheName(t *testing.T) {
	p := newPortal(t)
	p.on("GET "+buckets+"/a", 200, bucket("a", "True", ""), "ETag", etag)
	p.on("DELETE "+buckets+"/a?confirm=a", 202, bucket("a", "True", ""))
	p.on("DELETE "+buckets+"/a", 403, `{"status": 403, "detail": "kubectl annotate s3buckets a portico.dev/confirm-deletion=a"}`, "Content-Type", "application/problem+json")
	newTerminal(t, p.url).run(0, "delete", "bucket", "a", "--confirm", "a")
	if _, said := newTerminal(t, p.url).run(exitForbidden, "delete", "bucket", "a", "--yes"); !strings.Contains(said, "add --confirm a") {
		t.Errorf("does not say how to confirm: %s", said)
	}
	if _, said := newTerminal(t, p.url).run(exitUsage, "delete", "bucket", "a", "--confirm", "b"); !strings.Contains(said, "--confirm says b, and the resource is called a") {
		t.Errorf("does not say that the name is another one: %s", said)
	}
}

func TestWhatIsInUseIsNotAskedAbout(t *testing.T) {
	p := newPortal(t)
	used := strings.Replace(bucket("a", "True", ""), `"status": {`, `"status": {"usedBy": [{"kind": "WebApp", "name": "shop"}], `, 1)
	p.on("GET "+buckets+"/a", 200, used, "ETag", etag)
	term := newTerminal(t, p.url)
	term.in, term.asks = strings.NewReader("a\n"), true
	if _, said := term.run(exitForbidden, "delete", "bucket", "a"); !strings.Contains(said, "in use by WebApp shop") || strings.Contains(said, "Type the name") {
		t.Errorf("said %s", said)
	}
}
