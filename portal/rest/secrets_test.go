package rest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
)

// agent is an operator that executes users' requests, or refuses them.
type agent struct {
	says    *failure.PersonError
	change  operatorapi.SecretChange
	errands []string
}

func (a *agent) errand(format string, args ...any) error {
	a.errands = append(a.errands, fmt.Sprintf(format, args...))
	if a.says != nil {
		return a.says
	}
	return nil
}

var keptSecret = operatorapi.Secret{
	Name: "shop", Created: time.Unix(1, 0).UTC(), Keys: []operatorapi.SecretKey{{Name: "token", SetBy: "oidc:jane"}},
	UsedBy: []operatorapi.SecretUse{{Kind: "WebApp", Name: "shop", Effect: "later"}},
}

func (a *agent) Secrets(_ context.Context, _ auth.Identity, namespace string) (operatorapi.SecretList, error) {
	return operatorapi.SecretList{Items: []operatorapi.Secret{keptSecret}}, a.errand("list %s", namespace)
}

func (a *agent) SetSecret(_ context.Context, _ auth.Identity, namespace, name string, change operatorapi.SecretChange) (
	operatorapi.Secret, error,
) {
	a.change = change
	return keptSecret, a.errand("set %s/%s", namespace, name)
}

func (a *agent) DeleteSecret(_ context.Context, _ auth.Identity, namespace, name, confirm string) (
	operatorapi.Secret, error,
) {
	return keptSecret, a.errand("delete %s/%s %s", namespace, name, confirm)
}

func (a *agent) Reveal(_ context.Context, _ auth.Identity, of catalog.Ref, master bool) (operatorapi.Password, error) {
	what := of.Kind.Name
	if master {
		what = "the master of " + what
	}
	return operatorapi.Password{Password: "p4ss", Host: "db.example"},
		a.errand("reveal %s %s/%s", what, of.Namespace, of.Name)
}

const secretsOfTeam = "/namespaces/payments/secrets"

func TestValuesAreSetAndNeverShown(t *testing.T) {
	merge := []string{"Content-Type", mergePatch}
	for _, c := range []struct {
		name, body string
		status     int
		says       string
		set        string
		removed    []string
	}{
		{"a value", `{"values": {"token": "v4lue"}}`, 200, "", "map[token:v4lue]", nil},
		{"a key that goes", `{"values": {"b": null, "a": null}}`, 200, "", "map[]", []string{"a", "b"}},
		{"no text", `{"base64": {"token": "djRsdWU="}}`, 200, "", "map[token:v4lue]", nil},
		{"no JSON", `v4lue`, 400, "the body is not repeated here", "", nil},
		{"another type", `{"values": {"token": 4711}}`, 400, "the body is not repeated here", "", nil},
		{"another part", `{"vals": {"token": "v4lue"}}`, 400, "something else", "", nil},
		{"no base64", `{"base64": {"token": "v4lue!"}}`, 400, "the value of token in base64 cannot be decoded", "", nil},
		{"a key twice", `{"values": {"token": "v4lue"}, "base64": {"token": "djRsdWU="}}`, 400, "choose one", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			w := f.call("PATCH", secretsOfTeam+"/shop", c.body, merge...)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) ||
				strings.Contains(w.Body.String(), "v4lue") {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if c.set != "" && (fmt.Sprintf("%s", f.change.Set) != c.set || !slices.Equal(f.change.Remove, c.removed)) {
				t.Errorf("sets %s and removes %v", f.change.Set, f.change.Remove)
			}
			if c.set == "" && len(f.errands) > 0 {
				t.Errorf("asked %v", f.errands)
			}
		})
	}
}

func TestWhatTheOperatorSaysIsHandedOn(t *testing.T) {
	merge := []string{"Content-Type", mergePatch}
	for _, c := range []struct {
		method, path, body, asked string
		headers                   []string
	}{
		{"GET", secretsOfTeam, "", "list payments", nil},
		{"PATCH", secretsOfTeam + "/shop", `{"values": {"a": "b"}}`, "set payments/shop", merge},
		{"DELETE", secretsOfTeam + "/shop?confirm=shop", "", "delete payments/shop shop", nil},
		{"POST", "/namespaces/payments/rdsinstances/db/reveal", "", "reveal RDSInstance payments/db", nil},
	} {
		f := newFake(t)
		w := f.call(c.method, c.path, c.body, c.headers...)
		if w.Code != http.StatusOK || !slices.Equal(f.errands, []string{c.asked}) {
			t.Errorf("%s %s: %d %s, asked %v", c.method, c.path, w.Code, w.Body, f.errands)
		}
		if c.method == "POST" && (w.Header().Get("Cache-Control") != "no-store, no-transform" ||
			!strings.Contains(w.Body.String(), `"password":"p4ss"`)) {
			t.Errorf("the password comes with %v as %s", w.Header(), w.Body)
		}
		for status, header := range map[int]string{
			401: "WWW-Authenticate", 403: "", 404: "", 409: "", 413: "", 422: "",
			429: "Retry-After", 501: "", 503: "Retry-After",
		} {
			f := newFake(t)
			f.says = &failure.PersonError{Status: status, Detail: "the operator says so"}
			w := f.call(c.method, c.path, c.body, c.headers...)
			if w.Code != status || !strings.Contains(w.Body.String(), "the operator says so") {
				t.Errorf("%s %s: %d %s, want %d with the operator's words", c.method, c.path, w.Code, w.Body, status)
			}
			if header != "" && w.Header().Get(header) == "" {
				t.Errorf("%s %s: no header %s in %v", c.method, c.path, header, w.Header())
			}
			if strings.Contains(w.Body.String(), "p4ss") {
				t.Error("a refusal shows the password")
			}
		}
	}
}

func TestNamesThatNoSecretCanHave(t *testing.T) {
	for path, status := range map[string]int{
		"GET /namespaces/UPPER/secrets": 403, "DELETE /namespaces/UPPER/secrets/a": 403, "DELETE " + secretsOfTeam +
			"/UPPER": 422,
		"POST /namespaces/payments/rdsinstances/UPPER/reveal": 403,
		"POST /namespaces/UPPER/rdsinstances/db/reveal":       403,
		"POST /namespaces/payments/webapps/shop/reveal":       404,
	} {
		f := newFake(t)
		method, at, _ := strings.Cut(path, " ")
		if w := f.call(method, at, ""); w.Code != status || len(f.errands) > 0 {
			t.Errorf("%s: %d %s, asked %v", path, w.Code, w.Body, f.errands)
		}
	}
}
