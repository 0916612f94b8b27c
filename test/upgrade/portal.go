package upgrade

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack"
)

// user is one of the sample users.
const user = "payments-dev"

// visitor has a portal session from before the upgrade, and a token for the REST API.
type visitor struct {
	portal, token string
	http          *http.Client

	mu   sync.Mutex
	sent int
	lost []string
}

// signIn signs in with plain HTTP, as a browser does.
func signIn(ctx context.Context, s *stack.Stack) (*visitor, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	v := &visitor{portal: s.PortalURL, http: &http.Client{Jar: jar, Transport: &http.Transport{}}}
	if v.token, err = s.Token(ctx, user); err != nil {
		return nil, err
	}
	form, err := v.send(ctx, http.MethodGet, v.portal+"/auth/login", nil)
	if err != nil {
		return nil, err
	}
	login := url.Values{"login": {user + "@portico.test"}, "password": {stack.Password}}
	back, err := v.send(ctx, http.MethodPost, form.At.String(), login)
	if err != nil {
		return nil, err
	}
	if back.Status != http.StatusOK || back.At.Host != strings.TrimPrefix(v.portal, "http://") {
		return nil, fmt.Errorf("signing in ends at %s with %d: %.200s", back.At.Path, back.Status, back.Body)
	}
	return v, nil
}

// send sends one request, follows redirects, and reads the answer to its end.
func (v *visitor) send(ctx context.Context, method, to string, form url.Values) (campaign.Answer, error) {
	header := http.Header{}
	if form != nil {
		header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if strings.Contains(to, "/api/") {
		header.Set("Authorization", "Bearer "+v.token)
	}
	return campaign.Send(ctx, v.http, method, to, header, strings.NewReader(form.Encode()))
}

// visit requests a page and a REST resource, and returns an error for each unexpected response.
func (v *visitor) visit(ctx context.Context) error {
	var errs []error
	for _, at := range []string{"/teams/" + team, "/api/v1/namespaces/" + team + "/s3buckets"} {
		got, err := v.send(ctx, http.MethodGet, v.portal+at, nil)
		switch {
		case err != nil:
		case got.Status != http.StatusOK:
			err = fmt.Errorf("%s is answered with %d", at, got.Status)
		case got.At.Path != at:
			err = fmt.Errorf("%s leads to %s: the session ended", at, got.At.Path)
		case !strings.Contains(string(got.Body), "invoices"):
			err = fmt.Errorf("%s does not show the bucket of the team", at)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// between is the pause between two visits.
const between = 50 * time.Millisecond

// visiting visits repeatedly until stop is called.
func (v *visitor) visiting(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() {
		for ctx.Err() == nil {
			err := v.visit(ctx)
			if ctx.Err() != nil {
				return
			}
			v.mu.Lock()
			v.sent += 2
			if err != nil {
				v.lost = append(v.lost, err.Error())
			}
			v.mu.Unlock()
			_ = campaign.Pause(ctx, between) // the loop condition checks for the end
		}
	})
	return func() { cancel(); all.Wait() }
}

// report returns the number of requests since the last report, and the errors of those that were lost.
func (v *visitor) report() (sent int, lost []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	sent, lost = v.sent, v.lost
	v.sent, v.lost = 0, nil
	return sent, lost
}
