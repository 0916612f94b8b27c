package pages

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/cluster/sessions"
)

// ender ends sessions of users, unless the name is a group's.
type ender struct {
	ended []string // and dry runs
}

// MayEndSessions returns true for admins, unless "delete sessions " is denied.
func (f *fakeCluster) MayEnd(ctx context.Context, id auth.Identity) (bool, error) {
	return f.Rights.Allowed(ctx, id, rights.Right{Verb: "delete", Resource: sessions.Resource})
}

func (f *fakeCluster) End(ctx context.Context, id auth.Identity, user string, dryRun bool) (
	sessions.Ended, error,
) {
	may, err := f.MayEnd(ctx, id)
	if err == nil && !may {
		err = &failure.ForbiddenError{Verb: "delete", Resource: "sessions"}
	}
	if err != nil {
		return sessions.Ended{}, err
	}
	named, err := auth.NameUser("oidc:", user)
	if err != nil {
		return sessions.Ended{}, err
	}
	if named.Username == "oidc:leads" && !named.Sure {
		return sessions.Ended{}, auth.GroupError(named.Username)
	}
	out := sessions.Ended{Username: named.Username}
	if !dryRun {
		f.ended, out.Until = append(f.ended, named.Username), noon
	}
	return out, f.away()
}

const endSessions = "/admin/sessions"

// ends posts the form that ends the sessions of a user.
func ends(t *testing.T, f *fakeCluster, id auth.Identity, user string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, endSessions,
		strings.NewReader(url.Values{"user": {user}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	site(f, id, noon).ServeHTTP(w, r)
	return w
}

func TestAnAdminEndsTheSessionsOfAUser(t *testing.T) {
	for name, c := range map[string]struct {
		query  string
		status int
		shows  []string
		hides  string
	}{
		"whose":            {"", 200, []string{`<label for="user">Username</label>`, "<code>oidc:</code>", "on the page of each team", `href="/admin"`}, "What happens"},
		"nobody":           {"?user=", 422, []string{"Enter the name of a user.", `aria-invalid="true"`}, "What happens"},
		"too long":         {"?user=" + strings.Repeat("j", 300), 422, []string{"That is longer than the name of any user: 256 characters at most."}, "What happens"},
		"a group":          {"?user=leads", 422, []string{"oidc:leads is a group, and sessions are of users", "write user:oidc:leads", `value="leads"`}, "What happens"},
		"a ServiceAccount": {"?user=system:serviceaccount:a:b", 422, []string{"is a ServiceAccount: it never signs in"}, "What happens"},
		"whether it is meant": {
			"?user=jo%40example.com", 200,
			[]string{
				"End all sessions of this user?", "<b>jo@example.com</b> <code>oidc:jo@example.com</code>",
				"What happens", "Within seconds", "block the account at the identity provider", "kubectl",
				`<input type="hidden" name="user" value="jo@example.com">`,
			},
			"These are your own",
		},
		"somebody unknown": {"?user=jo", 200, []string{"Nobody with this name signed in here lately."}, ""},
		"one's own": {
			"?user=" + platformAdmin.Username, 200,
			[]string{"End all your own sessions?", "These are your own sessions: you will have to sign in again, " +
				"here too."},
			"Nobody of this name",
		},
		"a name that is markup":  {"?user=%3Cb%3E", 200, []string{"oidc:&lt;b&gt;"}, "<b>?"},
		"a user called as group": {"?user=user:oidc:leads", 200, []string{"<code>oidc:leads</code>", `value="user:oidc:leads"`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := ownedSite(t)
			w := visit(t, f, platformAdmin, endSessions+c.query)
			answers(t, w, c.status, "", c.hides)
			if len(f.ended) > 0 {
				t.Errorf("ended %q, want none", f.ended)
			}
			lacks(t, w.Body.String(), c.shows...)
		})
	}
}

func TestSessionsAreEndedOnceThatIsMeant(t *testing.T) {
	f := ownedSite(t)
	w := ends(t, f, platformAdmin, "user:oidc:jo")
	if w.Code != http.StatusOK || !slices.Equal(f.ended, []string{"oidc:jo"}) {
		t.Fatalf("answers %d, ended %q", w.Code, f.ended)
	}
	lacks(t, w.Body.String(), "The sessions have ended", "<code>oidc:jo</code>", "What this does not end",
		`role="status"`)
	w = ends(t, f, platformAdmin, platformAdmin.Username)
	lacks(t, w.Body.String(), "Your own sessions have ended", "The next page asks you to sign in again.")
	if w := ends(t, f, platformAdmin, "leads"); w.Code != http.StatusUnprocessableEntity || len(f.ended) != 2 {
		t.Errorf("a group: %d, ended %q", w.Code, f.ended)
	}
}

// TestSessionsAreEndedByThoseWhoMay: others get an error, and no link to the page.
func TestSessionsAreEndedByThoseWhoMay(t *testing.T) {
	narrow := ownedSite(t)
	narrow.denied = []string{"delete sessions "}
	for reason, c := range map[string]struct {
		f  *fakeCluster
		id auth.Identity
	}{"a developer": {ownedSite(t), developer}, "an admin without this right": {narrow, platformAdmin}} {
		for _, query := range []string{"", "?user=", "?user=jo", "?user=leads"} {
			w := visit(t, c.f, c.id, endSessions+query)
			if body := w.Body.String(); w.Code != http.StatusForbidden ||
				!strings.Contains(body, "You are not allowed to delete sessions.") ||
				strings.Contains(body, "is a group") {
				t.Errorf("%s at %q: %d", reason, query, w.Code)
			}
		}
		if w := ends(t, c.f, c.id, "jo"); w.Code != http.StatusForbidden || len(c.f.ended) > 0 {
			t.Errorf("%s: %d, ended %q", reason, w.Code, c.f.ended)
		}
		if strings.Contains(visit(t, c.f, c.id, "/team/growth").Body.String(), endSessions) {
			t.Errorf("%s is shown the way on the page of a team", reason)
		}
	}
	if strings.Contains(visit(t, narrow, platformAdmin, "/admin").Body.String(), endSessions) {
		t.Error("an admin without this right is shown the way")
	}
	all := ownedSite(t)
	lacks(t, visit(t, all, platformAdmin, "/admin/pool").Body.String(), `<a href="/admin/sessions">Sessions</a>`)
	team := visit(t, all, platformAdmin, "/team/growth").Body.String()
	lacks(t, team, `href="/admin/sessions?user=oidc%3Apayments-dev"`)
	if n := strings.Count(team, endSessions); n != 1 {
		t.Errorf("%d ways on the page of a team, which has one user", n)
	}
}

func TestSessionsCannotBeEndedWhileKubernetesIsAway(t *testing.T) {
	f := ownedSite(t)
	f.down = true
	for _, w := range []*httptest.ResponseRecorder{
		visit(t, f, platformAdmin, endSessions), visit(t, f, platformAdmin, endSessions+"?user=jo"),
		ends(t, f, platformAdmin, "jo"),
	} {
		if w.Code != http.StatusServiceUnavailable {
			t.Errorf("answers %d", w.Code)
		}
	}
	if w := ends(t, ownedSite(t), platformAdmin, strings.Repeat(
		"x", 2<<20)); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a form that is too large: %d", w.Code)
	}
}

func TestThePageToSignInSaysWhoEndedTheSession(t *testing.T) {
	w := httptest.NewRecorder()
	New(newFake(t).parts(), Reach{}, nil).SignIn(w, httptest.NewRequestWithContext(t.Context(), "GET",
		"/auth/sign-in", nil),
		"/auth/login", auth.ByAdmin)
	lacks(t, w.Body.String(), "A platform admin ended your sessions")
}
