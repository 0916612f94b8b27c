package main

import (
	"strings"
	"testing"
)

func TestTheHistoryOfAResourceIsListed(t *testing.T) {
	const (
		past = `{"items": [
			{"generation": 5, "time": "2026-01-02T03:00:05Z", "changedBy": "oidc:ann", "changedWith": "kubectl-edit", "changed": ["/spec/versioning", "/spec/tags/cost"], "spec": {"versioning": "Enabled"}},
			{"generation": 2, "time": "2026-01-02T02:54:05Z", "changed": [], "spec": {"versioning": "Suspended"}},
			{"generation": 1, "time": "2026-01-02T02:04:05Z", "changedBy": "oidc:jane", "changedWith": "portico-cli", "changed": [], "spec": {}}]}`
		late = `{"items": [{"generation": 4, "time": "2026-01-02T03:00:05Z", "changed": [], "spec": {}}]}`
	)
	p := newPortal(t)
	p.on("GET "+buckets+"/a/history", 200, past)
	p.on("GET "+buckets+"/late/history", 200, late)
	p.on("GET "+buckets+"/new/history", 200, `{"items": []}`)
	p.on("GET "+buckets+"/theirs/history", 403,
		`{"detail": "you are not allowed to get s3buckets in namespace payments"}`)
	for line, c := range map[string]struct {
		code       int
		shown, say string
	}{
		"history bucket a":         {0, "5         4m    oidc:ann     kubectl-edit   versioning, tags.cost (together with 2 that were not recorded)\n", ""},
		"history bucket/a":         {0, "2         10m   unknown      unknown        nothing\n1         60m   oidc:jane    portico-cli    requested\n", ""}, //nolint:dupword // two columns
		"history bucket a -o json": {0, `"changedWith": "kubectl-edit"`, ""},
		"history bucket a -o yaml": {0, "versioning: Suspended\n", ""},
		"history bucket late":      {0, "unknown, the version before is not recorded\n", ""},
		"history bucket new":       {0, "", "There is no history yet"},
		"history bucket theirs":    {6, "", "you are not allowed to get s3buckets"},
	} {
		out, said := newTerminal(t, p.url).run(c.code, strings.Fields(line)...)
		if !strings.Contains(out, c.shown) || !strings.Contains(said, c.say) {
			t.Errorf("%s: %s\n%s", line, out, said)
		}
	}
}
