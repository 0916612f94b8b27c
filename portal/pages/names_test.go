package pages

import (
	"context"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
)

// Names tells the same names of every namespace, to those who may list the resource.
func (f *fakeCluster) Names(ctx context.Context, id auth.Identity, namespace, resource string) ([]string, error) {
	return []string{"db", "tls"}, f.require(ctx, id, "list "+resource, catalog.Kind{Plural: resource}, namespace)
}

// Keys tells the same keys of everything.
func (f *fakeCluster) Keys(ctx context.Context, id auth.Identity, namespace, resource, name string) ([]string, error) {
	return []string{"password", name}, f.require(ctx, id, "list "+resource, catalog.Kind{Plural: resource}, namespace)
}

// TestKeysAreOfferedOfWhatIsNamed, and half a name has none.
func TestKeysAreOfferedOfWhatIsNamed(t *testing.T) {
	f := shopSite(t)
	for query, want := range map[string]string{"?of=db": "password\ndb", "?of=": "", "?of=Not_A_Name": "", "?of=a%2Fb": ""} {
		if w := visit(t, f, developer, "/teams/payments/names/secrets"+query); w.Code != 200 || w.Body.String() != want {
			t.Errorf("%s answers %d with %q, want %q", query, w.Code, w.Body, want)
		}
	}
	f.denied = []string{"list secrets payments"}
	if w := visit(t, f, developer, "/teams/payments/names/secrets?of=db"); w.Code != 403 {
		t.Errorf("without the right it answers %d", w.Code)
	}
	page := post(t, newFake(t), askApp, app("add spec.env")).Body.String()
	lacks(t, page, `<datalist id="names-secrets-keys" data-keys="/teams/payments/names/secrets">`,
		`data-key-of="spec.env[0].valueFrom.configMapKeyRef.name"`, `list="names-configmaps-keys" name="spec.env[0].valueFrom.configMapKeyRef.key"`)
}

func TestNamesAreOfferedToThoseWhoMayListThem(t *testing.T) {
	f := shopSite(t)
	f.denied = []string{"list secrets payments"}
	for path, want := range map[string]int{
		"/teams/payments/names/configmaps": 200, "/teams/payments/names/secrets": 403, "/teams/payments/names/pods": 404, "/teams/_platform/names/secrets": 404,
	} {
		w := visit(t, f, developer, path)
		if w.Code != want || want == 200 && w.Body.String() != "db\ntls" || want != 200 && strings.Contains(w.Body.String(), "tls\n") {
			t.Errorf("%s answers %d, want %d: %s", path, w.Code, want, w.Body)
		}
	}
}

func TestInputsThatNameSecretsOfferThem(t *testing.T) {
	page := post(t, newFake(t), askApp, app("add spec.env")).Body.String()
	lacks(t, page, `<datalist id="names-secrets" data-names="/teams/payments/names/secrets">`, `data-names="/teams/payments/names/configmaps"`,
		`list="names-secrets" name="spec.env[0].valueFrom.secretKeyRef.name"`, `list="names-configmaps" name="spec.env[0].valueFrom.configMapKeyRef.name"`)
	if page := visit(t, newFake(t), admin, "/teams/_platform/new/awsproviders").Body.String(); strings.Contains(page, "names-secrets") {
		t.Error("Secrets of the operator's namespace are offered")
	}
	if page := visit(t, busySite(t), developer, ask).Body.String(); strings.Contains(page, "<datalist id=\"names") {
		t.Error("a form without such inputs has names")
	}
}
