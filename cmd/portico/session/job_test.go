package session

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/test/ciissuer"
)

// exchanger starts a portal's token endpoint, which replies with what answer returns for each token.
func exchanger(t *testing.T, answer func(token string) (status int, body string)) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != deploy.TokenPath || r.FormValue("grant_type") != deploy.GrantType {
			t.Errorf("%s %s", r.URL.Path, r.FormValue("grant_type"))
		}
		status, body := answer(r.FormValue("subject_token"))
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // an error means that the client has gone
	}))
	t.Cleanup(s.Close)
	return s
}

func granted(token string) (int, string) {
	return http.StatusOK, fmt.Sprintf(`{"access_token":%q,"expires_in":900,"scope":"growth/release"}`, token)
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if key, value, _ := strings.Cut(pair, "="); key == name {
				return value
			}
		}
		return ""
	}
}

// TestAJobsLoginIsRenewed lets the token of a job of GitHub end: another one is exchanged, of a token that GitHub makes
// for it.
func TestAJobsLoginIsRenewed(t *testing.T) {
	issuer := ciissuer.Start(t)
	seen := map[string]bool{}
	server := exchanger(t, func(token string) (int, string) {
		if seen[token] {
			t.Error("a token was exchanged twice")
		}
		seen[token] = true
		return granted(fmt.Sprint("token-", len(seen)))
	})
	clock := clocktesting.NewFakeClock(time.Now())
	job := Job{
		Server: server.URL, Audience: server.URL, Env: env(issuer.Job(issuer.GitHub(""))...), Clock: clock,
		Via: issuer.Transport(),
	}
	store := Store{Dir: t.TempDir()}
	if _, err := job.Run(t.Context(), &store); err != nil {
		t.Fatal(err)
	}
	tokens := &Tokens{Server: server.URL, Store: store, Clock: clock, Env: job.Env, Via: job.Via}
	for _, step := range []struct {
		after time.Duration
		want  string
	}{{0, "token-1"}, {10 * time.Minute, "token-1"}, {5 * time.Minute, "token-2"}, {20 * time.Minute, "token-3"}} {
		clock.Step(step.after)
		if got, err := tokens.Token(t.Context()); err != nil || got != step.want {
			t.Errorf("after %s: %q %v, want %s", step.after, got, err, step.want)
		}
	}
}

// TestTheNextVariableIsTaken exchanges the tokens of a job of GitLab, of which each counts once.
func TestTheNextVariableIsTaken(t *testing.T) {
	server := exchanger(t, func(token string) (int, string) {
		if token == "fresh" {
			return granted("token")
		}
		return http.StatusBadRequest, `{"error":"invalid_request","error_description":"jti \"x\": the token was exchanged before"}`
	})
	run := func(pairs ...string) error {
		job := Job{
			Server: server.URL, Env: env(append(pairs, "GITLAB_CI=true")...),
			Clock: clocktesting.NewFakeClock(time.Now()),
		}
		_, err := job.Run(t.Context(), nil)
		return err
	}
	if err := run(VariableToken+"=used", VariableToken+"_2=used", VariableToken+"_3=fresh"); err != nil {
		t.Error(err)
	}
	const want = "add the id_token PORTICO_ID_TOKEN_2"
	if err := run(VariableToken + "=used"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("none is left: %v", err)
	}
}
