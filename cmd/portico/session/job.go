package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/identity"
)

// Variables of a CI job from which its token comes.
const (
	// VariableToken has the token, as GitLab's id_tokens put it there. A token counts once: a job that lasts longer
	// than a token of Portico has more of them, as PORTICO_ID_TOKEN_2 and so on.
	VariableToken = "PORTICO_ID_TOKEN"
	// gitHubURL and gitHubToken are how a job of GitHub Actions with the permission id-token: write asks for one.
	gitHubURL   = "ACTIONS_ID_TOKEN_REQUEST_URL"
	gitHubToken = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
)

// Job is a CI job that logs in by the token that its CI system gives it.
type Job struct {
	Server   string
	Audience string // that its token must be for
	Deployer string // as team/name; "" if the token fits one alone
	Env      func(string) string
	Via      http.RoundTripper // to the portal and the CI system; nil: the default one
	Clock    clock.Clock
}

// JobError says why a job cannot log in.
type JobError struct{ Why string }

func (e *JobError) Error() string { return e.Why }

func (e *laterError) Unwrap() error { return e.error }

func (e *replayedError) Unwrap() error { return e.error }

// Run exchanges the job's token and returns a session, which is stored if store is not nil.
func (j Job) Run(ctx context.Context, store *Store) (*Session, error) {
	s, err := j.exchangeAny(ctx)
	if err != nil || store == nil {
		return s, err
	}
	return s, store.Change(ctx, func(all *Sessions) error {
		all.Current, all.Servers[j.Server] = j.Server, s
		return nil
	})
}

// tries is how often a token is exchanged at most, and betweenTries the pause: the portal fetches new keys of a CI
// system every ten seconds at most.
const (
	tries        = 8
	betweenTries = 2 * time.Second
)

// laterError is why a token was not exchanged now.
type laterError struct{ error }

// replayedError is the refusal of a token that was exchanged before.
type replayedError struct{ error }

// exchangeAny exchanges a token of the job: at GitHub a new one for each try, else the first of the variables that was
// not exchanged before.
func (j Job) exchangeAny(ctx context.Context) (s *Session, err error) {
	spent := 0
	for try := range tries {
		if _, later := errors.AsType[*laterError](err); try > 0 && later {
			select {
			case <-j.Clock.After(betweenTries):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		token, none := j.token(ctx, spent, err)
		if none != nil {
			return nil, none
		}
		s, err = j.exchange(ctx, token)
		_, later := errors.AsType[*laterError](err)
		_, replayed := errors.AsType[*replayedError](err)
		if replayed {
			spent++
		}
		if !later && !replayed {
			return s, err
		}
	}
	return nil, err
}

// token returns a token of the job. spent is how many of the variables were exchanged before, and last why the last one
// was refused.
func (j Job) token(ctx context.Context, spent int, last error) (string, error) {
	if j.Env(VariableToken) == "" {
		return j.askGitHub(ctx)
	}
	name := VariableToken
	if spent > 0 {
		name = fmt.Sprintf("%s_%d", VariableToken, spent+1)
	}
	if token := strings.TrimSpace(j.Env(name)); token != "" {
		return token, nil
	}
	return "", &JobError{fmt.Sprintf("%v. For a job that lasts longer than a token, add the id_token %s", last, name)}
}

// askGitHub asks GitHub's runner for a token, as GitHub's page "OpenID Connect reference" describes it.
func (j Job) askGitHub(ctx context.Context) (string, error) {
	address := j.Env(gitHubURL)
	switch {
	case j.Env("GITHUB_ACTIONS") == "true" && address == "":
		return "", &JobError{"this job of GitHub Actions has no token: give it permissions: id-token: write"}
	case j.Env("GITLAB_CI") == "true":
		return "", &JobError{"this job of GitLab CI has no token: give it id_tokens: " + VariableToken + ": aud: " +
			j.Audience}
	case address == "":
		return "", &JobError{"this is no job of GitHub Actions or GitLab CI; put the token of the CI system, for the " +
			"audience " + j.Audience + ", into " + VariableToken}
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return "", &JobError{gitHubURL + " is no https URL"}
	}
	query := u.Query()
	query.Set("audience", j.Audience)
	u.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "bearer "+j.Env(gitHubToken))
	var out struct {
		Value string `json:"value"`
	}
	switch status, err := j.send(r, &out); {
	case err != nil:
		return "", fmt.Errorf("asking GitHub for a token: %w", err)
	case status != http.StatusOK || out.Value == "":
		return "", fmt.Errorf("asking GitHub for a token: it answers with status %d", status)
	}
	return out.Value, nil
}

// exchange exchanges one token at the portal (RFC 8693).
func (j Job) exchange(ctx context.Context, token string) (*Session, error) {
	form := url.Values{
		"grant_type": {deploy.GrantType}, "subject_token": {token}, "subject_token_type": {deploy.TypeJWT},
	}
	if j.Deployer != "" {
		form.Set("scope", j.Deployer)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, j.Server+deploy.TokenPath,
		strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var out struct {
		Token       string `json:"access_token"`
		Expires     int64  `json:"expires_in"`
		Scope       string `json:"scope"`
		Run         string `json:"portico_run"`
		Description string `json:"error_description"`
	}
	began := j.Clock.Now()
	status, err := j.send(r, &out)
	why := fmt.Sprintf("%s does not take the job's token: %s", j.Server, identity.Clean(out.Description))
	switch {
	case err != nil:
		return nil, fmt.Errorf("exchanging the job's token at %s: %w", j.Server, err)
	case status == http.StatusBadRequest && strings.HasPrefix(out.Description, "jti "):
		return nil, &replayedError{&JobError{why}}
	case status == http.StatusBadRequest:
		return nil, &JobError{why}
	case status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests:
		return nil, &laterError{&JobError{why}}
	case status != http.StatusOK || out.Token == "":
		return nil, fmt.Errorf("exchanging the job's token at %s: it answers with status %d", j.Server, status)
	}
	return &Session{
		IDToken: out.Token, Expiry: began.Add(time.Duration(out.Expires) * time.Second),
		Job: &StoredJob{Audience: j.Audience, Deployer: j.Deployer, Name: out.Scope, Run: out.Run},
	}, nil
}

// maxAnswer bounds what is read of a response.
const maxAnswer = 64 << 10

// send sends a request and decodes the response.
func (j Job) send(r *http.Request, out any) (status int, err error) {
	c := &http.Client{Transport: j.Via, Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the token is for this server only
	}}
	resp, err := c.Do(r) //nolint:gosec // the addresses are the portal's, and the CI system's own
	if err != nil {
		return 0, plain(err)
	}
	defer func() { _ = resp.Body.Close() }() // it is read, or of no use
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return 0, plain(err)
	}
	if json.Unmarshal(body, out) != nil && resp.StatusCode == http.StatusOK {
		return resp.StatusCode, errors.New("the answer cannot be read")
	}
	return resp.StatusCode, nil
}
