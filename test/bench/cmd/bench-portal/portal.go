package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/bench/measure"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/process"
)

// portal is one run of bin/portal.
type portal struct {
	*process.Process
	url     string
	metrics string
	filled  time.Duration // time from its start until it was ready
	http    *http.Client
}

// startPortal runs bin/portal with a deployment's permissions and flags. It returns once the portal is ready.
func (w *world) startPortal(ctx context.Context) error {
	kubeconfig, err := w.stack.ServiceAccountKubeconfig(ctx, stack.Namespace, "portico-portal")
	if err != nil {
		return err
	}
	binary := filepath.Join(w.stack.Dir, "..", "..", "bin", "portal")
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("the portal is not built; run make bench-portal: %w", err)
	}
	listen, metrics, err := measure.FreeAddresses(ctx)
	if err != nil {
		return err
	}
	keys, err := w.sessionKeys()
	if err != nil {
		return err
	}
	p := &portal{url: "http://" + listen, metrics: "http://" + metrics, http: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	began := time.Now()
	p.Process, err = w.stack.Run(ctx, process.Spec{
		Name: "portal", Path: binary,
		Args: []string{
			"--kubeconfig", kubeconfig, "--namespace", stack.Namespace, "--listen", listen, "--metrics-listen", metrics,
			"--profiling",
			"--public-url", p.url, "--session-key-file", keys, "--oidc-issuer-url", w.issuer.URL, "--oidc-client-id",
			stack.PortalClient, "--oidc-username-claim", "preferred_username",
			"--oidc-prefix", stack.Prefix, "--api-audience", stack.Audience, "--shutdown-delay-duration", "0s",
			"--api-rate", "0", // a few users send the requests of many
		},
		Ready: func(ctx context.Context) error {
			got, err := p.get(ctx, "/readyz", "", nil)
			if err == nil && got.status != http.StatusOK {
				err = fmt.Errorf("it answers %d", got.status)
			}
			return err
		},
	})
	p.filled = time.Since(began)
	w.portal = p
	return err
}

// sessionKeys returns the path of a new file with one session key.
func (w *world) sessionKeys() (path string, err error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	path = filepath.Join(w.stack.Dir, "bench-session-keys")
	return path, os.WriteFile(path, []byte(base64.StdEncoding.EncodeToString(key)), 0o600)
}

// answer is a response, with its timing.
type answer struct {
	status       int
	header       http.Header
	body         []byte
	first, whole time.Duration // time until the first and the last byte
}

// get requests a page as a browser with this cookie.
func (p *portal) get(ctx context.Context, path, cookie string, header map[string]string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, http.NoBody)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Cookie", cookie)
	for k, v := range header {
		req.Header.Set(k, v)
	}
	began := time.Now()
	resp, err := p.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	a := answer{status: resp.StatusCode, header: resp.Header, first: time.Since(began)}
	a.body, err = io.ReadAll(resp.Body)
	a.whole = time.Since(began)
	return a, err
}

// signIn returns the session cookie of a user who is in one group.
func (w *world) signIn(ctx context.Context, user, group string) (string, error) {
	begun, err := w.portal.get(ctx, "/auth/login", "", nil)
	if err != nil {
		return "", err
	}
	code, state := w.issuer.Code(begun.header.Get("Location"), oidctest.Claims{
		"sub": user, "preferred_username": user, "groups": []string{group}, "email": user + "@portico.test",
	})
	q := url.Values{"code": {code}, "state": {state}}
	back, err := w.portal.get(ctx, "/auth/callback?"+q.Encode(), cookies(begun), nil)
	if err != nil {
		return "", err
	}
	if back.status != http.StatusSeeOther || cookies(back) == "" {
		return "", fmt.Errorf("signing in %s is answered with %d", user, back.status)
	}
	return cookies(back), nil
}

// cookies returns the cookies that a response sets, in the format of a Cookie header.
func cookies(a answer) string {
	resp := http.Response{Header: a.header}
	var all []string
	for _, c := range resp.Cookies() {
		if c.Value != "" {
			all = append(all, c.Name+"="+c.Value)
		}
	}
	return strings.Join(all, "; ")
}

func (p *portal) usage() measure.Usage { return measure.Of(p.PID()) }

// profile writes one of the portal's profiles to a file.
func (p *portal) profile(ctx context.Context, name, query, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.metrics+"/debug/pprof/"+name+query, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("profile %s: %s: %w", name, resp.Status, err)
	}
	return os.WriteFile(path, b, 0o600)
}
