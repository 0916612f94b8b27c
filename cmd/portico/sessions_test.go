package main

import (
	"slices"
	"strings"
	"testing"
)

const endJo = "DELETE /sessions?user=jo%40example.com"

func TestEndingSessionsIsConfirmed(t *testing.T) {
	for _, c := range []struct {
		name, typed string
		asks        bool
		args        []string
		code        int
		said        string
	}{
		{"yes", "yes\n", true, nil, 0, "oidc:jo@example.com will be signed out of the portal everywhere"},
		{"no", "no\n", true, nil, 1, "nothing was changed"},
		{"nobody is asked", "", false, []string{"--yes"}, 0, "The sessions of oidc:jo@example.com have ended."},
		{"nobody can be asked", "", false, nil, 2, "add --yes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.on("DELETE /sessions?dryRun=All&user=jo%40example.com", 200, `{"user": "oidc:jo@example.com"}`)
			p.on(endJo, 200, `{"user": "oidc:jo@example.com", "until": "2026-01-02T03:04:05Z"}`)
			term := newTerminal(t, p.url)
			term.in, term.asks = strings.NewReader(c.typed), c.asks
			_, said := term.run(c.code, append([]string{"sessions", "end", "jo@example.com"}, c.args...)...)
			if slices.Contains(p.asked, endJo) != (c.code == 0) || !strings.Contains(said, c.said) {
				t.Errorf("asked %q, said %q", p.asked, said)
			}
		})
	}
}

func TestWhoseSessionsCannotBeEnded(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		code   int
		said   string
	}{
		{403, `{"status": 403, "detail": "you are not allowed to delete sessions"}`, 6, "you are not allowed to delete sessions"},
		{422, `{"status": 422, "detail": "oidc:ops is a group", "errors": [{"location": "query.user", "message": "oidc:ops is a group"}]}`, 1, "portico: oidc:ops is a group\n"},
	} {
		p := newPortal(t)
		p.on(endJo, c.status, c.body)
		if _, said := newTerminal(t, p.url).run(c.code, "sessions", "end", "jo@example.com",
			"--yes"); !strings.Contains(said, c.said) {
			t.Errorf("said %q", said)
		}
	}
	newTerminal(t, newPortal(t).url).run(2, "sessions", "end")
}

// TestAnEndedSessionSaysSo: the portal's message is printed, with what to do.
func TestAnEndedSessionSaysSo(t *testing.T) {
	p := newPortal(t)
	p.on("GET /me", 401, `{"status": 401, "detail": "your sessions were ended by a platform admin; sign in again"}`)
	if _, said := newTerminal(t, p.url).run(4, "whoami"); !strings.Contains(
		said, "your sessions were ended by a platform admin; sign in again") || !strings.Contains(said,
		"portico login") {
		t.Errorf("said %q", said)
	}
}
