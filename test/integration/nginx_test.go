//go:build integration

package integration

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/nginx"
	"github.com/portico-platform/portico/test/stack"
)

// proxied is a portal behind nginx.
type proxied struct {
	*replica
	issuer *oidctest.Provider
	nginx  *nginx.Server
	// plain is the portal's address at an nginx with default settings, documented at one with those of the admin guide.
	plain, documented string
}

// behindNginx starts a portal behind nginx.
func behindNginx(t *testing.T) *proxied {
	t.Helper()
	path, err := nginx.Path("../..")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxied{issuer: oidctest.New(t)}
	var addresses [2]string
	for i := range addresses {
		if addresses[i], err = nginx.FreeAddress(); err != nil {
			t.Fatal(err)
		}
	}
	p.plain, p.documented = "https://"+addresses[0], "https://"+addresses[1]
	p.replica = startPortalBy(t, "127.0.0.1:0", sessionKeys(t), func(cfg *auth.Config) {
		cfg.IssuerURL, cfg.PublicURL = p.issuer.URL, p.plain
	}, func(*portal.Parts) {})
	upstream := strings.TrimPrefix(p.url, "http://")
	directives := strings.ReplaceAll(nginxInTheGuide(t), "portico-portal.portico-system.svc", upstream)
	p.nginx, err = nginx.Start(t.Context(), path, t.TempDir(),
		nginx.Site{Address: addresses[0], Upstream: upstream},
		nginx.Site{Address: addresses[1], Directives: directives})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.nginx.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// nginxInTheGuide returns the nginx directives of the admin guide.
func nginxInTheGuide(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/admin-guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```nginx\n")
	directives, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the admin guide has no directives of nginx")
	}
	return directives
}

// passer is a browser that uses one protocol to talk to nginx.
type passer struct {
	t      *testing.T
	at     string
	client *http.Client
	*proxied
}

func (p *proxied) passer(t *testing.T, at string, protocol int) *passer {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := p.nginx.Transport(protocol)
	t.Cleanup(transport.CloseIdleConnections)
	return &passer{t: t, at: at, proxied: p, client: &http.Client{
		Jar: jar, Transport: secrets.Transport(transport), Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// ask sends a request as a browser does, with POST if there is a form. The response may be compressed.
func (v *passer) ask(path string, form url.Values) *http.Response {
	v.t.Helper()
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.at+path, body)
	if err != nil {
		v.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", v.plain)
	}
	resp, err := v.client.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	return resp
}

func (v *passer) open(path string, form url.Values) answer {
	v.t.Helper()
	return read(v.t, v.ask(path, form))
}

// signIn signs in at the provider as a member of a team with so many additional groups.
func (v *passer) signIn(groups int) answer {
	v.t.Helper()
	all := []string{"team-payments"}
	for i := range groups {
		all = append(all, groupID(i))
	}
	start := v.open("/auth/login?return_to=%2Fteams%2Fpayments", nil).want(v.t, http.StatusSeeOther)
	code, state := v.issuer.Code(start.header.Get("Location"), oidctest.Claims{
		"preferred_username": "payments-dev", "email": "payments-dev@portico.test", "name": "Payments", "groups": all,
	})
	in := v.open("/auth/callback?"+url.Values{"code": {code}, "state": {state}}.Encode(), nil)
	for _, one := range in.cookies() {
		secrets.Plant("a session", one)
	}
	return in
}

// groupID returns an ID in the format of Entra ID, always the same for i.
func groupID(i int) string {
	h := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// TestBehindNginx uses the portal as people and programs do, behind an nginx with default buffers that compresses
// everything it can.
func TestBehindNginx(t *testing.T) {
	p := behindNginx(t)
	for protocol := 1; protocol <= 2; protocol++ {
		t.Run(fmt.Sprintf("HTTP %d", protocol), func(t *testing.T) {
			v := p.passer(t, p.plain, protocol)
			if in := v.signIn(130).want(t, http.StatusSeeOther); in.header.Get("Location") != "/teams/payments" {
				t.Fatalf("signed in, and sent to %q", in.header.Get("Location"))
			}
			v.readsAPage(protocol)
			v.requestsByTheForm()
			v.followsLive()
			v.changesByREST(protocol)
			v.appliesByTheCommandLine()
			v.signsOut()
		})
	}
}

func (v *passer) readsAPage(protocol int) {
	v.t.Helper()
	resp := v.ask("/teams/payments", nil)
	if resp.ProtoMajor != protocol || resp.Header.Get("Server") == "" || !resp.Uncompressed {
		v.t.Errorf("%s of %q, compressed %v", resp.Proto, resp.Header.Get("Server"), resp.Uncompressed)
	}
	if page := read(v.t, resp).want(v.t, http.StatusOK); !strings.Contains(page.raw, "payments") {
		v.t.Errorf("the page is %s", page.raw)
	}
}

// requestsByTheForm sends a form with mistakes, which is shown again with what was entered. nginx passes a Host that is
// not the portal's, and the Origin comes without the Sec-Fetch-Site of newer browsers.
func (v *passer) requestsByTheForm() {
	v.t.Helper()
	v.open("/teams/payments/new/s3buckets", nil).want(v.t, http.StatusOK)
	sent := url.Values{"metadata.name": {"Not A Name"}, "spec.bucketName": {strings.Repeat("x", 100)}, "do": {"review"}}
	got := v.open("/teams/payments/new/s3buckets", sent)
	if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.raw, `value="Not A Name"`) {
		v.t.Errorf("%d: %s", got.status, got.raw)
	}
}

// followsLive checks that a new bucket appears on an open stream.
func (v *passer) followsLive() {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.at+"/teams/payments/live", http.NoBody)
	if err != nil {
		v.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html, text/event-stream")
	resp, err := v.client.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		v.t.Fatalf("%s %v", resp.Status, resp.Header)
	}
	lines := bufio.NewReader(resp.Body)
	if _, err := lines.ReadString('\n'); err != nil {
		v.t.Fatalf("nothing comes at once: %v", err)
	}
	bucket := newBucket("payments", unique("nginx"))
	create(v.t, admin(v.t), bucket)
	remove(v.t, "payments", bucket.Name)
	for began, line := time.Now(), ""; !strings.Contains(line, bucket.Name); {
		if line, err = lines.ReadString('\n'); err != nil {
			v.t.Fatalf("the bucket does not come within %s: %v", time.Since(began), err)
		}
	}
}

// token returns a token for the REST API.
func (v *passer) token() string {
	token := v.issuer.Token(oidctest.Claims{
		"preferred_username": "payments-dev", "groups": []string{"team-payments"}, "aud": stack.Audience,
	})
	secrets.Plant("a token", token)
	return token
}

// changesByREST sends the ETag back as nginx has weakened it.
func (v *passer) changesByREST(protocol int) {
	v.t.Helper()
	token, name := v.token(), unique("weak")
	remove(v.t, "payments", name)
	at := v.at + "/api/v1/namespaces/payments/s3buckets/" + name
	client := &http.Client{Transport: secrets.Transport(v.nginx.Transport(protocol)), Timeout: patience}
	call := func(method, body string, headers ...string) answer {
		v.t.Helper()
		req, err := http.NewRequestWithContext(v.t.Context(), method, at, strings.NewReader(body))
		if err != nil {
			v.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		for i := 0; i+1 < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		resp, err := client.Do(req)
		if err != nil {
			v.t.Fatal(err)
		}
		return read(v.t, resp)
	}
	bucket := `{"spec": {"providerRef": {"name": "` + stack.Provider + `"}}}`
	call("PUT", bucket, "Content-Type", "application/json", "If-None-Match", "*").want(v.t, http.StatusCreated)
	tag := call("GET", "").want(v.t, http.StatusOK).header.Get("ETag")
	if !strings.HasPrefix(tag, "W/") {
		v.t.Errorf("nginx leaves the ETag as it is, %s: nothing is tested", tag)
	}
	patch := `{"metadata": {"labels": {"a": "b"}}}`
	call("PATCH", patch, "Content-Type", mergePatch, "If-Match", tag).want(v.t, http.StatusOK)
	call("PATCH", patch, "Content-Type", mergePatch, "If-Match", tag).want(v.t, http.StatusPreconditionFailed)
}

func (v *passer) appliesByTheCommandLine() {
	v.t.Helper()
	c := newTerminal(v.t, "PORTICO_SERVER="+v.at, "PORTICO_TOKEN="+v.token(), "SSL_CERT_FILE="+v.nginx.CAFile)
	name := unique("applied")
	remove(v.t, "payments", name)
	path := filepath.Join(c.dir, "bucket.yaml")
	for _, word := range []string{"created", "changed", "unchanged"} {
		text := "apiVersion: portico.dev/v1alpha1\nkind: S3Bucket\nmetadata: {name: " + name + "}\n" +
			"spec:\n  providerRef: {name: " + stack.Provider + "}\n"
		if word != "created" {
			text += "  versioning: Enabled\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			v.t.Fatal(err)
		}
		if out, said := c.run(0, "apply", "-f", path, "-n", "payments"); !strings.Contains(out, word) {
			v.t.Errorf("portico apply says %s %s, want %s", out, said, word)
		}
	}
}

func (v *passer) signsOut() {
	v.t.Helper()
	out := v.open("/auth/logout", url.Values{}).want(v.t, http.StatusSeeOther)
	v.open(out.header.Get("Location"), nil).want(v.t, http.StatusOK)
	page := v.open("/teams/payments", nil).want(v.t, http.StatusSeeOther)
	if to := page.header.Get("Location"); !strings.HasPrefix(to, auth.SignInPath) {
		v.t.Errorf("signed out, a page leads to %s", to)
	}
}

// TestNginxLetsManyGroupsThrough signs in with many groups, which works with the directives of the admin guide, and
// fails without.
func TestNginxLetsManyGroupsThrough(t *testing.T) {
	p := behindNginx(t)
	for protocol := 1; protocol <= 2; protocol++ {
		p.passer(t, p.plain, protocol).signIn(160).want(t, http.StatusBadGateway)
		if !strings.Contains(p.nginx.Log(), "upstream sent too big header while reading response header from "+
			"upstream") {
			t.Errorf("the log of nginx says %s", p.nginx.Log())
		}
		v := p.passer(t, p.documented, protocol)
		v.signIn(475).want(t, http.StatusSeeOther)
		v.open("/teams/payments", nil).want(t, http.StatusOK)
		v.followsLive()
	}
}
