package main

import (
	"strings"
	"testing"
)

func TestActivityIsListed(t *testing.T) {
	const (
		both = `{"items": [
			{"time": "2026-01-02T03:00:05Z", "actor": "oidc:ann", "reason": "Changed", "message": "Ann\u001b[2J (oidc:ann) changed tags.", "count": 2, "kind": "S3Bucket", "namespace": "payments", "name": "a"},
			{"time": "2026-01-02T02:54:05Z", "actor": "oidc:pat", "reason": "Created", "message": "oidc:pat requested it.", "count": 1, "kind": "Team", "name": "growth"}]}`
		none = `{"items": []}`
	)
	p := newPortal(t)
	p.on("GET /activity?limit=50", 200, both)
	p.on("GET /activity?limit=50&namespace=search", 200, none)
	p.on("GET /activity?limit=5&namespace=payments", 200, both)
	p.on("GET /activity?limit=50&namespace=theirs", 403,
		`{"detail": "you are not allowed to list events in namespace theirs"}`)
	for line, c := range map[string]struct {
		code       int
		shown, say string
	}{
		"activity -A":                      {0, "payments    S3Bucket   a        4m    2       Ann [2J (oidc:ann) changed tags.\n", ""},
		"activity -n payments --limit 5":   {0, "            Team       growth   10m   1       oidc:pat requested it.\n", ""},
		"activity -n payments --limit 501": {2, "", "--limit 501: want 1 to 500"},
		"activity -A -n payments":          {2, "", "-A is every namespace"},
		"activity -A -o json":              {0, `"actor": "oidc:pat"`, ""},
		"activity -A -o yaml":              {0, "actor: oidc:pat\n", ""},
		"activity -n search":               {0, "", "Nobody has requested, changed or deleted anything lately."},
		"activity -n theirs":               {6, "", "you are not allowed to list events in namespace theirs"},
	} {
		out, said := newTerminal(t, p.url).run(c.code, strings.Fields(line)...)
		if !strings.Contains(out, c.shown) || !strings.Contains(said, c.say) {
			t.Errorf("%s: %s\n%s", line, out, said)
		}
	}
}
