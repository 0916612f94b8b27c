package pages

import (
	"context"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth"
)

// Bindings returns the same for every namespace.
func (f *fakeCluster) Bindings(context.Context, auth.Identity, string) (map[string][]string, error) {
	return map[string][]string{"tls": {"tls.crt"}, "db": {"host", "password"}}, nil
}

func TestNamesAndKeysAreThoseThatResourcesPublish(t *testing.T) {
	f := shopSite(t)
	for path, want := range map[string]string{
		"/teams/payments/names/secrets":             "db\ntls",
		"/teams/payments/names/secrets?of=db":       "host\npassword",
		"/teams/payments/names/secrets?of=":         "",
		"/teams/payments/names/secrets?of=half-a-n": "",
	} {
		if w := visit(t, f, developer, path); w.Code != 200 || w.Body.String() != want {
			t.Errorf("%s answers %d with %q, want %q", path, w.Code, w.Body, want)
		}
	}
	for _, path := range []string{
		"/teams/payments/names/configmaps", "/teams/payments/names/pods",
		"/teams/_platform/names/secrets",
	} {
		if w := visit(t, f, developer, path); w.Code != 404 || strings.Contains(w.Body.String(), "tls\n") {
			t.Errorf("%s answers %d: %s", path, w.Code, w.Body)
		}
	}
}

func TestInputsThatNameSecretsOfferThem(t *testing.T) {
	page := post(t, newFake(t), askApp, app("add spec.env")).Body.String()
	lacks(t, page, `<datalist id="names-secrets" data-names="/teams/payments/names/secrets">`,
		`<datalist id="names-secrets-keys" data-keys="/teams/payments/names/secrets">`,
		`list="names-secrets" name="spec.env[0].valueFrom.secretKeyRef.name"`,
		`data-key-of="spec.env[0].valueFrom.secretKeyRef.name"`,
		`list="names-secrets-keys" name="spec.env[0].valueFrom.secretKeyRef.key"`)
	if strings.Contains(page, "names-configmaps") {
		t.Error("ConfigMaps are offered, whose names nobody publishes")
	}
	if page := visit(t, newFake(t), platformAdmin, "/teams/_platform/new/awsproviders").Body.String(); strings.Contains(
		page, "names-secrets") {
		t.Error("Secrets of the operator's namespace are offered")
	}
	if page := visit(t, busySite(t), developer, ask).Body.String(); strings.Contains(page, "<datalist id=\"names") {
		t.Error("a form without such inputs has names")
	}
}
