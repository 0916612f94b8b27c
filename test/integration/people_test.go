//go:build integration

package integration

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/stack"
)

// peopleOf returns the settings of an operator that accepts an issuer's tokens, as the portals of these tests do.
func peopleOf(issuer string) identity.Settings {
	return identity.Settings{
		Issuer: issuer, Audiences: []string{stack.Audience}, SignIn: stack.PortalClient,
		Claims: identity.Claims{Username: "preferred_username", Groups: "groups", Prefix: stack.Prefix},
	}
}

// gives binds a ClusterRole to a user in a namespace.
func gives(t *testing.T, c client.Client, ns, user, role string) {
	t.Helper()
	create(t, c, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: unique("gives")},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: stack.Prefix + user}},
	})
}

// setting sets values of a Secret and returns the response.
func (r *replica) setting(t *testing.T, token, ns, name string, body any) answer {
	t.Helper()
	return r.call(t, token, "PATCH", "/namespaces/"+ns+"/secrets/"+name, body, "Content-Type", mergePatch)
}

func values(pairs ...string) map[string]any {
	all := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return map[string]any{"values": all}
}

// TestValuesOfSecretsAreSetByTheirEditors sets values through the REST API, with tokens of Dex. The search for secrets
// of the whole run checks that the values appear nowhere else.
func TestValuesOfSecretsAreSetByTheirEditors(t *testing.T) {
	const value = "planted-0b77-value-of-a-team"
	secrets.Plant("a value that an editor sets", value)
	o := startInspectedFor(t, peopleOf(world.Issuer))
	ns, p := team(t, o.Client), startPortal(t, "", sessionKeys(t))
	gives(t, o.Client, ns, "payments-dev", "portico-developer")
	gives(t, o.Client, ns, "payments-dev", "portico-secret-writer")
	gives(t, o.Client, ns, "viewer", "portico-viewer")
	editor, viewer, other := userToken(t, "payments-dev"), userToken(t, "viewer"), userToken(t, "search-dev")
	path := "/namespaces/" + ns + "/secrets"

	await(t, "the editor's right to count", func() (bool, string) {
		a := p.call(t, editor, "GET", path, nil)
		return a.status == http.StatusOK, a.raw
	})
	for who, token := range map[string]string{"a viewer": viewer, "another team": other} {
		p.call(t, token, "GET", path, nil).want(t, http.StatusForbidden)
		p.call(t, token, "DELETE", path+"/shop", nil).want(t, http.StatusForbidden)
		if a := p.setting(t, token, ns, "shop", values("token", value)).want(
			t, http.StatusForbidden); !strings.Contains(a.detail(), "you are not allowed to update secretvalues") {
			t.Errorf("%s is told %s", who, a.raw)
		}
	}
	p.setting(t, editor, ns, "shop", values("token", value, "other-token", "planted-51aa-another-value")).want(
		t, http.StatusOK)
	app := appOf(ns, "shop")
	app.Spec.Env = []v1alpha1.WebAppEnv{
		{Name: "TOKEN", ValueFrom: &v1alpha1.WebAppEnvSource{
			SecretKeyRef: &v1alpha1.SecretKeyRef{Name: "shop", Key: "token"},
		}},
	}
	create(t, o.Client, app)
	await(t, "the Pods' variable", func() (bool, string) {
		d := &appsv1.Deployment{}
		if err := o.Get(t.Context(), client.ObjectKeyFromObject(app), d); err != nil {
			return false, err.Error()
		}
		env := d.Spec.Template.Spec.Containers[0].Env
		for _, e := range env {
			if e.Name != "TOKEN" || e.ValueFrom == nil || e.ValueFrom.SecretKeyRef == nil {
				continue
			}
			if from := e.ValueFrom.SecretKeyRef; from.Name == "shop" && from.Key == "token" {
				return true, ""
			}
		}
		return false, fmt.Sprint(env)
	})
	if got := secretOf(t, o.Client, ns, "shop"); got["token"] != value || len(got) != 2 {
		t.Errorf("the Secret has other values, or %d of them", len(got))
	}
	// A patch changes single keys: values that others have set remain, and removed ones are deleted.
	change := map[string]any{"values": map[string]any{"other-token": nil, "third": "t"}}
	set := p.setting(t, editor, ns, "shop", change).want(t, http.StatusOK)
	if got := secretOf(t, o.Client, ns, "shop"); got["token"] != value || got["third"] != "t" || len(got) != 2 {
		t.Errorf("after a change it has %d values", len(got))
	}
	if !strings.Contains(set.raw,
		`"usedBy":[{"kind":"WebApp","name":"shop","effect":"takes a new value when its Pods start`) ||
		!strings.Contains(set.raw, `"setBy":"oidc:payments-dev"`) {
		t.Errorf("setting answers %s", set.raw)
	}
	listed := p.call(t, editor, "GET", path, nil).want(t, http.StatusOK)
	if items, _ := listed.body["items"].([]any); len(items) != 1 || !strings.Contains(listed.raw, `"name":"third"`) {
		t.Errorf("lists %s", listed.raw)
	}
	if a := p.call(t, editor, "DELETE", path+"/shop", nil).want(t, http.StatusConflict); !strings.Contains(
		a.detail(), "in use by WebApp shop") {
		t.Errorf("the deletion of what is in use is refused with %s", a.raw)
	}
	p.call(t, editor, "DELETE", path+"/shop?confirm=shop", nil).want(t, http.StatusOK)
	if err := o.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "shop"},
		&corev1.Secret{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Secret: %v", err)
	}
	if listed := p.call(t, editor, "GET", path, nil).want(t, http.StatusOK); strings.Contains(listed.raw, "shop") {
		t.Errorf("afterwards it lists %s", listed.raw)
	}
	if !strings.Contains(p.log.String(),
		`"msg":"write","actor":"oidc:payments-dev","verb":"patch","resource":"secrets","namespace":"`+ns+
			`","name":"shop","dryRun":false,"decision":"allow","outcome":"done"`) {
		t.Error("the portal's log does not tell of it")
	}
}

// TestWhoSetsValuesMakesNoToken checks that portico-secret-writer gives access through the operator only, and none with
// kubectl. An existing Secret with a token is not changed.
func TestWhoSetsValuesMakesNoToken(t *testing.T) {
	o := startInspectedFor(t, peopleOf(world.Issuer))
	ns, p := team(t, o.Client), startPortal(t, "", sessionKeys(t))
	gives(t, o.Client, ns, "payments-dev", "portico-secret-writer")
	editor := userToken(t, "payments-dev")
	await(t, "a value to be set", func() (bool, string) {
		a := p.setting(t, editor, ns, "shop", values("token", "of-a-shop"))
		return a.status == http.StatusOK, a.raw
	})
	made := &corev1.Secret{}
	if err := o.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "shop"}, made); err != nil ||
		made.Type != corev1.SecretTypeOpaque || len(made.OwnerReferences) > 0 {
		t.Errorf("made a Secret of type %s: %v", made.Type, err)
	}
	as := func(args ...string) (string, error) {
		all := append([]string{"--kubeconfig=" + world.AdminKubeconfig, "-n", ns, "--as=" + stack.Prefix +
			"payments-dev", "--as-group=system:authenticated"}, args...)
		out, err := exec.CommandContext(t.Context(), "../../bin/kubectl", all...).CombinedOutput()
		return string(out), err
	}
	manifest := filepath.Join(t.TempDir(), "token.yaml")
	text := "{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: worth-more, " +
		"annotations: {kubernetes.io/service-account.name: default}}}"
	if err := os.WriteFile(manifest, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, args := range map[string][]string{
		"make one with a token": {"create", "-f", manifest}, "make one": {"create", "secret", "generic", "own", "--from-literal=a=b"},
		"change one": {"patch", "secret", "shop", "--type=merge", "-p", `{"stringData":{"a":"b"}}`}, "read one": {"get", "secret", "shop"}, "delete one": {"delete", "secret", "shop"},
	} {
		if out, err := as(args...); err == nil || !strings.Contains(out, "orbidden") {
			t.Errorf("to %s: %v %s", what, err, out)
		}
	}
	// The documentation shows these commands.
	if out, err := as("auth", "can-i", "--list"); err != nil || !strings.Contains(out, "secretvalues.portico.dev") ||
		strings.Contains(out, "\nsecrets ") {
		t.Errorf("kubectl lists the rights %v %s", err, out)
	}
	if out, err := as("auth", "can-i", "create", "secrets"); err == nil {
		t.Errorf("kubectl says %s", out)
	}
	token := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: ns, Name: "with-a-token", Labels: map[string]string{
			operatorapi.LabelSecretValues: operatorapi.SecretValues,
		},
		Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"},
	}, Type: corev1.SecretTypeServiceAccountToken}
	create(t, o.Client, token)
	for _, a := range []answer{
		p.setting(t, editor, ns, token.Name, values("token", "x")),
		p.call(t, editor, "DELETE", "/namespaces/"+ns+"/secrets/"+token.Name, nil),
	} {
		a.want(t, http.StatusConflict)
	}
}

// TestSecretsOfOthersAreLeftAlone checks that Secrets without the label, which include Portico's own, or of another
// type are refused and not changed.
func TestSecretsOfOthersAreLeftAlone(t *testing.T) {
	o := startInspectedFor(t, peopleOf(world.Issuer))
	ns, p := team(t, o.Client), startPortal(t, "", sessionKeys(t))
	gives(t, o.Client, ns, "payments-dev", "portico-secret-writer")
	editor := userToken(t, "payments-dev")
	plain := &corev1.Secret{ObjectMeta: meta1(ns, "plain"), Data: map[string][]byte{"a": []byte("b")}}
	create(t, o.Client, plain)
	b := bucketOf(ns, "docs")
	createReady(t, o.Client, b)
	fake := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "of-a-type", Labels: map[string]string{operatorapi.LabelSecretValues: operatorapi.SecretValues}},
		Type:       corev1.SecretTypeBasicAuth, StringData: map[string]string{"username": "u", "password": "p"},
	}
	create(t, o.Client, fake)
	await(t, "the editor's right to count", func() (bool, string) {
		a := p.call(t, editor, "GET", "/namespaces/"+ns+"/secrets", nil)
		return a.status == http.StatusOK, a.raw
	})
	for _, name := range []string{"plain", b.Status.Binding.Name, "of-a-type"} {
		before := &corev1.Secret{}
		if err := o.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, before); err != nil {
			t.Fatal(err)
		}
		for _, a := range []answer{
			p.setting(t, editor, ns, name, values("a", "c")), p.call(t, editor, "DELETE", "/namespaces/"+ns+"/secrets/"+
				name+"?confirm="+name, nil),
		} {
			if a.want(t, http.StatusConflict); !strings.Contains(
				a.detail(), "was not made for this, and is left alone") {
				t.Errorf("%s: %s", name, a.raw)
			}
		}
		after := &corev1.Secret{}
		if err := o.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, after); err != nil ||
			after.ResourceVersion != before.ResourceVersion {
			t.Errorf("%s was touched: %v", name, err)
		}
	}
	for name, a := range map[string]answer{
		"the list of names": p.setting(t, editor, ns, operatorapi.SecretIndexName, values("a", "c")).want(
			t, http.StatusUnprocessableEntity),
		"a bad key": p.setting(t, editor, ns, "keys", values("a/b", "c")).want(t, http.StatusUnprocessableEntity),
		"nothing":   p.setting(t, editor, ns, "keys", values()).want(t, http.StatusUnprocessableEntity),
		"a key of none": p.setting(t, editor, ns, "keys", map[string]any{"values": map[string]any{"a": nil}}).want(
			t, http.StatusNotFound),
	} {
		if a.detail() == "" {
			t.Errorf("%s: %s", name, a.raw)
		}
	}
}

// errand sends a request to the operator as the portal would, with this token of a person.
func (o *inspected) errand(t *testing.T, method, path, person string) (int, string) {
	t.Helper()
	url, ca := o.announced(t)
	var body io.Reader = http.NoBody
	if method == http.MethodPatch {
		body = strings.NewReader(`{"set":{"a":"Yg=="}}`)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+accountToken(t, stack.Namespace, "portico-portal", operatorapi.Audience))
	if person != "" {
		req.Header.Set(operatorapi.HeaderPerson, person)
	}
	return o.send(t, req, ca)
}

// TestTheOperatorBelievesNoPortal checks that the operator accepts only valid tokens of people, whatever a compromised
// portal sends.
func TestTheOperatorBelievesNoPortal(t *testing.T) {
	issuer := oidctest.New(t)
	o := startInspectedFor(t, peopleOf(issuer.URL))
	ns := team(t, o.Client)
	gives(t, o.Client, ns, "payments-dev", "portico-secret-writer")
	claims := func(change oidctest.Claims) oidctest.Claims {
		all := oidctest.Claims{
			"aud": stack.Audience, "preferred_username": "payments-dev",
			"groups": []string{"team-payments"},
		}
		maps.Copy(all, change)
		return all
	}
	path := operatorapi.SecretPath(ns, "forged")
	good := issuer.Token(claims(nil))
	await(t, "a good token to set a value", func() (bool, string) {
		status, body := o.errand(t, http.MethodPatch, path, good)
		return status == http.StatusCreated || status == http.StatusOK, body
	})
	fresh := issuer.Token(claims(oidctest.Claims{"aud": stack.PortalClient}))
	if status, body := o.errand(t, http.MethodPatch, path, fresh); status != http.StatusOK {
		t.Errorf("a fresh sign-in in a browser: %d %s", status, body)
	}
	old := issuer.Token(claims(oidctest.Claims{"iat": time.Now().Add(-6 * time.Minute).Unix()}))
	if status, body := o.errand(t, http.MethodPatch, path, old); status != http.StatusOK {
		t.Errorf("a token that is six minutes old sets no value: %d %s", status, body)
	}
	if status, body := o.errand(t, http.MethodPost, operatorapi.PasswordPath("RDSInstance", ns, "db"),
		old); status != http.StatusUnauthorized {
		t.Errorf("a token that is six minutes old is shown a password: %d %s", status, body)
	}
	parts := strings.Split(good, ".")
	payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
	changed := base64.RawURLEncoding.EncodeToString(
		bytes.Replace(payload, []byte("payments-dev"), []byte("platform-adm"), 1))
	for name, c := range map[string]struct {
		token  string
		status int
	}{
		"none":                         {"", 401},
		"one of another provider":      {oidctest.New(t).Token(claims(nil)), 401},
		"another's, under our name":    {oidctest.New(t).Token(claims(oidctest.Claims{"iss": issuer.URL})), 401},
		"without a signature":          {issuer.Unsigned(claims(nil)), 401},
		"with other claims":            {parts[0] + "." + changed + "." + parts[2], 401},
		"expired":                      {issuer.Token(claims(oidctest.Claims{"exp": 1})), 401},
		"for another audience":         {issuer.Token(claims(oidctest.Claims{"aud": "another"})), 401},
		"of an old sign-in":            {issuer.Token(claims(oidctest.Claims{"aud": stack.PortalClient, "auth_time": 1})), 401},
		"of a sign-in, made long ago":  {issuer.Token(claims(oidctest.Claims{"aud": stack.PortalClient, "iat": 1})), 401},
		"of the system":                {issuer.Token(claims(oidctest.Claims{"preferred_username": "system:admin"})), 403},
		"of a group of the system":     {issuer.Token(claims(oidctest.Claims{"groups": []string{"system:masters"}})), 403},
		"of somebody without a right":  {issuer.Token(claims(oidctest.Claims{"preferred_username": "search-dev"})), 403},
		"the portal's own":             {accountToken(t, stack.Namespace, "portico-portal", operatorapi.Audience), 401},
		"one for the API, of an admin": {accountToken(t, stack.Namespace, "portico-operator"), 401},
	} {
		for _, method := range []string{http.MethodPatch, http.MethodDelete} {
			if status, body := o.errand(t, method, path, c.token); status != c.status {
				t.Errorf("%s, a token %s: %d %s, want %d", method, name, status, body, c.status)
			}
		}
		if status, body := o.errand(t, http.MethodGet, operatorapi.NamespaceSecretsPath(ns),
			c.token); status != c.status {
			t.Errorf("to list, a token %s: %d %s, want %d", name, status, body, c.status)
		}
		if status, body := o.errand(t, http.MethodPost, operatorapi.PasswordPath("RDSInstance", ns, "db"),
			c.token); status != c.status {
			t.Errorf("to reveal, a token %s: %d %s, want %d", name, status, body, c.status)
		}
	}
}

// TestAPasswordIsShownOnceAndNoted checks that a password is shown to those who can read the binding Secret, and
// audited.
func TestAPasswordIsShownOnceAndNoted(t *testing.T) {
	var log syncedBuffer
	o := &inspected{Client: admin(t), people: peopleOf(world.Issuer)}
	err := o.Delete(t.Context(), &coordinationv1.Lease{ObjectMeta: meta1(stack.Namespace, operatorapi.Lease)})
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	logs := logr.FromSlogHandler(slog.NewJSONHandler(io.MultiWriter(&log, secrets.Into("the operator's log")),
		&slog.HandlerOptions{Level: slog.LevelDebug}))
	o.stop = startOperator(t, operatorOptions{leaderElect: true, inspect: "127.0.0.1:0", people: o.people, log: logs})
	o.announced(t)
	ns, p := team(t, o.Client), startPortal(t, "", sessionKeys(t))
	gives(t, o.Client, ns, "payments-dev", "portico-developer")
	gives(t, o.Client, ns, "viewer", "portico-secret-writer")
	db := databaseOf(ns, "ledger")
	createReady(t, o.Client, db)
	create(t, o.Client, &rbacv1.Role{ObjectMeta: meta1(ns, "password"), Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{db.Status.Binding.Name}, Verbs: []string{"get"},
	}}})
	create(t, o.Client, &rbacv1.RoleBinding{
		ObjectMeta: meta1(ns, "password"), RoleRef: rbacv1.RoleRef{
			APIGroup: rbacv1.GroupName, Kind: "Role", Name: "password",
		},
		Subjects: []rbacv1.Subject{
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: stack.Prefix + "payments-dev"},
		},
	})
	path := "/namespaces/" + ns + "/rdsinstances/ledger/reveal"
	for _, user := range []string{"viewer", "search-dev"} { // permission to set values does not include reading them
		p.call(t, userToken(t, user), "POST", path, nil).want(t, http.StatusForbidden)
		p.call(t, userToken(t, user), "POST", "/namespaces/"+ns+"/rdsinstances/none/reveal", nil).want(
			t, http.StatusForbidden)
	}
	want := bound(t, o.Client, db)
	var got operatorapi.Password
	await(t, "the right to see it", func() (bool, string) {
		status, header, body := p.revealed(t, userToken(t, "payments-dev"), path)
		if status != http.StatusOK {
			return false, body
		}
		if header.Get("Cache-Control") != "no-store, no-transform" {
			t.Errorf("may be kept: %v", header)
		}
		return json.Unmarshal([]byte(body), &got) == nil, "no JSON"
	})
	if got.Password != want["password"] || got.Password == "" {
		t.Error("another password is shown, or none")
	}
	if got.Host != want["host"] || got.Username != "owner" || got.Database != "ledger" {
		t.Errorf("Host = %q, Username = %q, Database = %q, want %s, owner, ledger", got.Host, got.Username,
			got.Database, want["host"])
	}
	awaitEvent(t, o.Client, db, "PasswordShown", "oidc:payments-dev was shown the master password")
	for _, line := range []string{
		`"msg":"reveal"`, `"actor":"oidc:payments-dev"`, `"verb":"reveal","resource":"RDSInstance","namespace":"` + ns +
			`","name":"ledger","decision":"allow","outcome":"done"`,
		`"actor":"oidc:viewer"`, `"decision":"deny","outcome":"forbidden"`,
	} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("the operator's audit log lacks %s", line)
		}
	}
	if a := p.call(t, userToken(t, "payments-dev"), "POST", "/namespaces/"+ns+"/rdsinstances/none/reveal",
		nil); a.status != http.StatusForbidden {
		t.Errorf("of one that there is not: %d %s", a.status, a.raw)
	}
}

// revealed bypasses the search for secrets, because this response must contain one.
func (r *replica) revealed(t *testing.T, token, path string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/api/v1"+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport, Timeout: patience}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}
