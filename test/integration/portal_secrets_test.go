//go:build integration

package integration

import (
	"bufio"
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth/oidctest"
)

const (
	lastApplied   = "kubectl.kubernetes.io/last-applied-configuration"
	formerSecret  = "hunter2-of-a-former-manifest"
	bindingSecret = "hunter2-of-the-connection"
)

// bucketWithSecrets creates a bucket whose last applied manifest and binding Secret contain secrets that the portal
// must not show. A finalizer keeps it until the test ends.
func bucketWithSecrets(t *testing.T) *v1alpha1.S3Bucket {
	t.Helper()
	c := admin(t)
	b := newBucket("payments", unique("secrets"))
	b.Annotations = map[string]string{lastApplied: `{"spec":{"password":"` + formerSecret + `"}}`}
	b.Finalizers = []string{"portico.dev/test"}
	if err := c.Create(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	binding := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name + "-connection"},
		StringData: map[string]string{"password": bindingSecret},
	}
	if err := c.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Delete(context.Background(), binding)
		_ = c.Delete(context.Background(), b)
		if c.Get(context.Background(), keyOf(b), b) == nil {
			b.Finalizers = nil
			_ = c.Update(context.Background(), b)
		}
	})
	b.Status.Binding = &v1alpha1.Binding{Name: binding.Name}
	if err := c.Status().Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return b
}

// keepsSecrets fails the test if a response contains a secret, in plain text or in base64.
func (a answer) keepsSecrets(t *testing.T, what string) {
	t.Helper()
	for _, secret := range []string{formerSecret, bindingSecret} {
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))} {
			if strings.Contains(a.raw, form) {
				t.Errorf("%s shows %s:\n%s", what, form, a.raw)
			}
		}
	}
	if strings.Contains(a.raw, lastApplied) {
		t.Errorf("%s shows the former manifest's annotation", what)
	}
}

func TestSecretsAreInNoAnswer(t *testing.T) {
	issuer := oidctest.New(t)
	p := startPortal(t, issuer.URL, sessionKeys(t))
	b := bucketWithSecrets(t)
	in := p.signIn(t, issuer, oidctest.Claims{"preferred_username": "payments-dev", "groups": []string{
		"team-payments",
	}}).want(t, http.StatusSeeOther)
	session := map[string]string{"__Host-portico": in.session()}
	at := "/teams/payments/s3buckets/" + b.Name
	await(t, "the bucket with its binding", func() (bool, string) {
		a := p.visit(t, "GET", at, session)
		return strings.Contains(a.raw, b.Name+"-connection"), a.raw
	})
	for _, path := range []string{
		"/teams/payments", "/teams/payments?q=" + b.Name, "/teams/payments/catalog", "/teams/payments/new/s3buckets",
		at, at + "?tab=events", at + "?tab=yaml", at + "/delete",
	} {
		p.visit(t, "GET", path, session).want(t, http.StatusOK).keepsSecrets(t, path)
	}
	for _, path := range []string{
		"/teams/payments/live", at + "/live", at + "/live?tab=yaml",
		at + "/live?tab=events",
	} {
		p.snapshot(t, path, session).want(t, http.StatusOK).keepsSecrets(t, path)
	}
}

// snapshot returns the first message of a stream.
func (r *replica) snapshot(t *testing.T, path string, cookies map[string]string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", r.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	for name, value := range cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	resp, err := plainly().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	a := answer{status: resp.StatusCode, header: resp.Header}
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream of %s ends: %v", path, err)
		}
		if a.raw += line; line == "\n" {
			return a
		}
	}
}

func TestSecretsAreInNoAnswerOfTheAPI(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	b := bucketWithSecrets(t)
	token := userToken(t, "payments-dev")
	base := "/namespaces/payments/s3buckets"
	await(t, "the bucket with its binding", func() (bool, string) {
		a := p.call(t, token, "GET", base+"/"+b.Name, nil)
		return nested(a.body, "status", "binding", "name") != nil, a.raw
	})
	for _, path := range []string{
		base, base + "/" + b.Name, base + "/" + b.Name + "/events", "/resources", "/catalog",
		"/me", "/openapi.json",
	} {
		p.call(t, token, "GET", path, nil).want(t, http.StatusOK).keepsSecrets(t, path)
	}
	body := bucketBody(b.Name, "")
	body["metadata"].(map[string]any)["annotations"] = map[string]any{lastApplied: formerSecret}
	p.call(t, token, "POST", base, body).want(t, http.StatusConflict).keepsSecrets(t, "a refused POST")
	body["metadata"].(map[string]any)["name"] = unique("secrets")
	p.call(t, token, "POST", base+"?dryRun=All", body).want(t, http.StatusOK).keepsSecrets(t, "a dry run")
	p.call(t, token, "DELETE", base+"/"+b.Name+"?dryRun=All&confirm="+b.Name, nil).want(t, http.StatusOK).keepsSecrets(
		t, "a dry DELETE")
	p.call(t, token, "DELETE", base+"/"+b.Name+"?confirm="+b.Name, nil).want(t, http.StatusAccepted).keepsSecrets(
		t, "a DELETE that waits")
	p.call(t, token, "GET", base+"/secrets", nil).want(t, http.StatusNotFound).keepsSecrets(t, "a missing object")
	if log := p.log.String(); strings.Contains(log, formerSecret) || strings.Contains(log, bindingSecret) {
		t.Error("the log holds a secret")
	}
}
