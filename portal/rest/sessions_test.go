package rest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/sessions"
)

// ender ends sessions, unless it refuses.
type ender struct {
	cannot error
	ends   []string // users, and dry runs
}

func (e *ender) End(_ context.Context, _ auth.Identity, user string, dryRun bool) (sessions.Ended, error) {
	if e.cannot != nil {
		return sessions.Ended{}, e.cannot
	}
	out := sessions.Ended{Username: "oidc:" + user}
	if dryRun {
		user += " dry"
	} else {
		out.Until = time.Unix(1_800_000_000, 0).In(time.FixedZone("", 3600))
	}
	e.ends = append(e.ends, user)
	return out, nil
}

func TestSessionsAreEnded(t *testing.T) {
	f := newFake(t)
	for path, want := range map[string]string{
		"/sessions?user=jo%40example.com":            `{"user":"oidc:jo@example.com","until":"2027-01-15T08:00:00Z"}`,
		"/sessions?user=jo%40example.com&dryRun=All": `{"user":"oidc:jo@example.com"}`,
	} {
		if w := f.call("DELETE", path, ""); w.Code != 200 || strings.TrimSpace(w.Body.String()) != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	slices.Sort(f.ends)
	if !slices.Equal(f.ends, []string{"jo@example.com", "jo@example.com dry"}) {
		t.Errorf("ended %q", f.ends)
	}
}

func TestWhoseSessionsCannotBeEnded(t *testing.T) {
	for reason, c := range map[string]struct {
		path   string
		cannot error
		status int
		detail string
		at     string
	}{
		"no right":            {"/sessions?user=jo", &failure.ForbiddenError{Verb: "delete", Resource: "sessions"}, 403, "you are not allowed to delete sessions", ""},
		"a group":             {"/sessions?user=ops", auth.GroupError("oidc:ops"), 422, "oidc:ops is a group", "query.user"},
		"Kubernetes is away":  {"/sessions?user=jo", &failure.UnavailableError{Doing: "x", Cause: errors.New("y")}, 503, "Kubernetes does not answer", ""},
		"nobody":              {"/sessions", nil, 422, "validation failed", "query.user"},
		"an empty name":       {"/sessions?user=", nil, 422, "must not be empty", "query.user"},
		"two":                 {"/sessions?user=a&user=b", nil, 422, "must be given once", "query.user"},
		"a misspelt dry run":  {"/sessions?user=a&dryrun=All", nil, 422, "validation failed", "query.dryrun"},
		"a dry run of itself": {"/sessions?user=a&dryRun=yes", nil, 422, "validation failed", "query.dryRun"},
	} {
		t.Run(reason, func(t *testing.T) {
			f := newFake(t)
			f.cannot = c.cannot
			w := f.call("DELETE", c.path, "")
			wantProblem(t, w, c.status)
			var p struct{ Detail string }
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || !strings.Contains(p.Detail, c.detail) {
				t.Errorf("detail = %q, %v, want %q in it", p.Detail, err, c.detail)
			}
			if at := location(t, w); at != c.at || len(f.ends) > 0 {
				t.Errorf("location = %q, ended %q, want %q, none", at, f.ends, c.at)
			}
		})
	}
}
