package people

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// value is a canary: it must appear nowhere but in a Secret.
const value = "planted-9d31-value"

// door is a Handler with a fake cluster.
type door struct {
	*fake.Clientset
	t       *testing.T
	rights  []string // "verb resource namespace/name" that jane has
	token   error
	down    bool // Kubernetes does not answer
	bound   Bound
	missing bool // the object does not exist
	told    []string
	log     bytes.Buffer
	mux     *http.ServeMux
}

// groups are the API groups of the resources in access reviews.
var groups = map[string]string{
	operatorapi.ValuesResource: "portico.dev", operatorapi.DatabaseResource: "portico.dev",
	"webapps": "portico.dev", "rdsinstances": "portico.dev", "ec2instances": "portico.dev", "secrets": "",
}

func newDoor(t *testing.T, objects ...runtime.Object) *door {
	t.Helper()
	d := &door{Clientset: fake.NewClientset(objects...), t: t, mux: http.NewServeMux()}
	d.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if d.down {
			return true, nil, errors.New("connection refused")
		}
		r := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
		on := r.Spec.ResourceAttributes
		for _, right := range d.rights {
			r.Status.Allowed = r.Status.Allowed ||
				right == fmt.Sprintf("%s %s %s/%s", on.Verb, on.Resource, on.Namespace, on.Name) &&
					groups[on.Resource] == on.Group
		}
		r.Status.Allowed = r.Status.Allowed && r.Spec.User == "oidc:jane" &&
			fmt.Sprint(r.Spec.Groups) == "[oidc:devs system:authenticated]"
		return true, r, nil
	})
	uses := func(context.Context, string) (map[string][]operatorapi.SecretUse, error) {
		return map[string][]operatorapi.SecretUse{
			"used": {{Kind: v1alpha1.KindWebApp, Name: "shop"}, {Kind: v1alpha1.KindRDSInstance, Name: "db"}},
		}, nil
	}
	find := func(_ context.Context, kind string, of types.NamespacedName) (Bound, bool, bool, error) {
		b := d.bound
		b.Secret, b.Tell = of.Name+"-binding", func(actor, access string) {
			d.told = append(d.told, strings.TrimSpace(actor+" "+access))
		}
		return b, !d.missing, kind == v1alpha1.KindRDSInstance || kind == v1alpha1.KindDatabaseUser, nil
	}
	own := func(_ context.Context, person string, of types.NamespacedName, access v1alpha1.BindingAccess) (Own, error) {
		if person != "oidc:jane" {
			t.Errorf("a user is made for %s", person)
		}
		of.Name += "-janes"
		return Own{DatabaseUser: of, Access: access, ExpiresAt: time.Unix(90_000, 0).UTC()}, nil
	}
	New(Options{
		Verifier: d, Reviews: d.AuthorizationV1().SubjectAccessReviews(), Find: find, Own: own, Uses: uses,
		Store: &Store{
			Secrets: d.CoreV1(), System: []string{"portico-system"},
			Now: func() time.Time { return time.Unix(1_000, 0) },
		},
		Log: logr.FromSlogHandler(slog.NewJSONHandler(&d.log, nil)),
	}).Routes(d.mux)
	return d
}

func (d *door) Caller(_ context.Context, token string) (identity.Identity, error) {
	if token != "janes" {
		return identity.Identity{}, identity.ErrBadToken
	}
	return identity.Identity{Username: "oidc:jane", Groups: []string{"oidc:devs"}}, d.token
}

// ask sends a request as jane, and fails the test if a response or the log contains the canary.
func (d *door) ask(method, path, body string) *httptest.ResponseRecorder {
	d.t.Helper()
	return d.askAs("janes", method, path, body)
}

func (d *door) askAs(token, method, path, body string) *httptest.ResponseRecorder {
	d.t.Helper()
	r := httptest.NewRequestWithContext(d.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set(operatorapi.HeaderPerson, token)
	w := httptest.NewRecorder()
	d.mux.ServeHTTP(w, r)
	if strings.Contains(w.Body.String()+d.log.String(), value) && !strings.HasPrefix(path, operatorapi.RevealPath) {
		d.t.Errorf("%s %s shows the value: %s %s", method, path, w.Body, &d.log)
	}
	if strings.Contains(d.log.String(), value) || strings.Contains(d.log.String(), "janes") {
		d.t.Errorf("the log has a secret: %s", &d.log)
	}
	if w.Header().Get("Cache-Control") != "no-store" {
		d.t.Error("an answer may be kept")
	}
	return w
}

func change(set map[string]string, remove ...string) string {
	c := operatorapi.SecretChange{Set: map[string][]byte{}, Remove: remove}
	for k, v := range set {
		c.Set[k] = []byte(v)
	}
	b, _ := json.Marshal(c)
	return string(b)
}

func secret(name string, change func(*corev1.Secret)) *corev1.Secret {
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: name, UID: "u", Labels: map[string]string{operatorapi.LabelSecretValues: operatorapi.SecretValues}},
		Type:       corev1.SecretTypeOpaque, Data: map[string][]byte{"token": []byte(value)},
	}
	if change != nil {
		change(s)
	}
	return s
}

func editor(name string) []string {
	return []string{
		"create secretvalues payments/" + name, "update secretvalues payments/" + name,
		"update secretvalues payments/",
	}
}

func (d *door) stored(name string) *corev1.Secret {
	d.t.Helper()
	s, err := d.CoreV1().Secrets("payments").Get(d.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func TestAValueIsSetAndListedWithoutIt(t *testing.T) {
	d := newDoor(t)
	d.rights = editor("keys")
	path := operatorapi.SecretPath("payments", "keys")
	if w := d.ask("PATCH", path, change(map[string]string{"token": value})); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	got := d.stored("keys")
	if string(got.Data["token"]) != value || got.Labels[operatorapi.LabelSecretValues] != operatorapi.SecretValues {
		t.Errorf("stored %v", got.Labels)
	}
	if w := d.ask("PATCH", path, change(map[string]string{"other": "o"}, "gone")); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if got := d.stored("keys"); string(got.Data["token"]) != value || string(got.Data["other"]) != "o" {
		t.Error("a key that was not named is another one now")
	}
	w := d.ask("GET", operatorapi.NamespaceSecretsPath("payments"), "")
	if want := `"keys":[{"name":"other","setAt":"1970-01-01T00:16:40Z","setBy":"oidc:jane"},{"name":"token","setAt":"1970-01-01T00:16:40Z","setBy":"oidc:jane"}]`; w.Code != 200 || !strings.Contains(w.Body.String(), want) {
		t.Errorf("lists %d %s", w.Code, w.Body)
	}
	if w := d.ask("DELETE", path, ""); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := d.ask("GET", operatorapi.NamespaceSecretsPath("payments"), ""); strings.TrimSpace(
		w.Body.String()) != `{"items":[]}` {
		t.Errorf("afterwards lists %s", w.Body)
	}
	for _, line := range []string{
		`"msg":"secret-write","actor":"oidc:jane"`,
		`"verb":"update","resource":"secrets","namespace":"payments","name":"keys","decision":"allow","outcome":"done"`,
		`"verb":"delete"`,
	} {
		if !strings.Contains(d.log.String(), line) {
			t.Errorf("the audit log lacks %s: %s", line, &d.log)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	many := map[string]string{}
	for i := range operatorapi.MaxSecretKeys + 1 {
		many[fmt.Sprint("k", i)] = "v"
	}
	for name, c := range map[string]struct {
		rights []string
		there  *corev1.Secret
		method string
		name   string
		body   string
		status int
		says   string
	}{
		"no right":                  {nil, nil, "PATCH", "keys", change(many), 403, "you are not allowed to update secretvalues in namespace payments"},
		"no right, and it is there": {nil, secret("keys", nil), "PATCH", "keys", change(many), 403, "you are not allowed to update secretvalues in namespace payments"},
		"a right to another":        {editor("other"), nil, "PATCH", "keys", change(many), 403, "you are not allowed to"},
		"rights to Secrets": {
			[]string{"create secrets payments/keys", "update secrets payments/keys", "update secrets payments/"},
			nil,
			"PATCH", "keys", change(many), 403, "you are not allowed to update secretvalues in namespace payments",
		},
		"no right to create": {[]string{"update secretvalues payments/keys"}, nil, "PATCH", "keys", change(map[string]string{"a": value}), 403, "you are not allowed to create secretvalues"},
		"no right to update": {
			[]string{"create secretvalues payments/keys"},
			secret("keys", nil), "PATCH", "keys",
			change(map[string]string{"a": value}), 403, "you are not allowed to update secretvalues",
		},
		"no right to delete": {[]string{"create secretvalues payments/keys"}, secret("keys", nil), "DELETE", "keys", "", 403, "you are not allowed to update secretvalues"},
		"no label":           {editor("keys"), secret("keys", func(s *corev1.Secret) { s.Labels = nil }), "PATCH", "keys", change(map[string]string{"a": value}), 409, "was not made for this"},
		"another label":      {editor("keys"), secret("keys", func(s *corev1.Secret) { s.Labels[operatorapi.LabelSecretValues] = "no" }), "DELETE", "keys", "", 409, "was not made for this"},
		"an owner": {
			editor("keys"),
			secret("keys", func(s *corev1.Secret) { s.OwnerReferences = []metav1.OwnerReference{{Name: "x"}} }),
			"PATCH", "keys", change(map[string]string{"a": value}), 409, "belongs to something else",
		},
		"another type": {editor("keys"), secret("keys", func(s *corev1.Secret) { s.Type = "servicebinding.io/s3" }), "DELETE", "keys", "", 409, "left alone"},
		"immutable":    {editor("keys"), secret("keys", func(s *corev1.Secret) { s.Immutable = new(true) }), "PATCH", "keys", change(map[string]string{"a": value}), 409, "is immutable"},
		"on its way out": {editor("keys"), secret("keys", func(s *corev1.Secret) {
			s.DeletionTimestamp, s.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{"x/y"}
		}), "PATCH", "keys", change(map[string]string{"a": value}), 409, "is being deleted"},
		"no JSON":                    {editor("keys"), nil, "PATCH", "keys", value, 400, "is not a change of a Secret as JSON"},
		"nothing":                    {editor("keys"), nil, "PATCH", "keys", "{}", 422, "name at least one key"},
		"a bad key":                  {editor("keys"), nil, "PATCH", "keys", change(map[string]string{"a/b": value}), 422, `is not a key of a Secret`},
		"a bad key to remove":        {editor("keys"), nil, "PATCH", "keys", change(nil, "a/b"), 422, `is not a key of a Secret`},
		"set and removed":            {editor("keys"), nil, "PATCH", "keys", change(map[string]string{"a": value}, "a"), 422, "choose one"},
		"a key of what is not there": {editor("keys"), nil, "PATCH", "keys", change(nil, "a"), 404, "there is no Secret keys"},
		"too large a value":          {editor("keys"), nil, "PATCH", "keys", change(map[string]string{"a": strings.Repeat("x", operatorapi.MaxSecret+1)}), 413, "the value of a is larger than 1 MiB"},
		"too much together": {
			editor("keys"), secret("keys", nil), "PATCH", "keys",
			change(map[string]string{"a": strings.Repeat("x", operatorapi.MaxSecret)}), 413,
			"and 1 MiB (1048576) is the most",
		},
		"too large a request": {editor("keys"), nil, "PATCH", "keys", strings.Repeat(" ", operatorapi.MaxSecretRequest+1), 413, "larger than 1 MiB"},
		"too many keys":       {editor("keys"), nil, "PATCH", "keys", change(many), 422, "would have 101 keys, and 100 is the most"},
		"a bad name":          {editor("KEYS"), nil, "PATCH", "KEYS", change(map[string]string{"a": value}), 422, "is not the name of a Secret"},
		"the list of names":   {editor(operatorapi.SecretIndexName), nil, "DELETE", operatorapi.SecretIndexName, "", 422, "choose another name"},
		"nothing to delete":   {editor("keys"), nil, "DELETE", "keys", "", 404, "there is no Secret keys"},
		"in use":              {append(editor("used"), "list webapps payments/"), secret("used", nil), "DELETE", "used", "", 409, "in use by WebApp shop, which cannot start without it"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t)
			if c.there != nil {
				d = newDoor(t, c.there)
			}
			d.rights = c.rights
			w := d.ask(c.method, operatorapi.SecretPath("payments", c.name), c.body)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("%d %s, want %d %s", w.Code, w.Body, c.status, c.says)
			}
			for _, a := range d.Actions() {
				if a.GetResource().Resource == "secrets" && a.GetVerb() != "get" {
					t.Errorf("%s of a Secret", a.GetVerb())
				}
			}
		})
	}
}

func TestNamespacesOfTheSystemAreLeftAlone(t *testing.T) {
	d := newDoor(t)
	for _, ns := range []string{"kube-system", "portico-system"} {
		d.rights = []string{"list secretvalues " + ns + "/", "create secretvalues " + ns + "/a", "get secrets " + ns +
			"/db-binding"}
		for method, path := range map[string]string{
			"PATCH": operatorapi.SecretPath(ns, "a"), "GET": operatorapi.NamespaceSecretsPath(ns),
			"POST": operatorapi.PasswordPath("RDSInstance", ns, "db"),
		} {
			if w := d.ask(method, path, change(map[string]string{"a": value})); w.Code != http.StatusForbidden ||
				!strings.Contains(w.Body.String(), "is a namespace of the system") {
				t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
			}
		}
	}
}

func TestWhoMayKnowTheNames(t *testing.T) {
	for rights, status := range map[string]int{
		"list secretvalues payments/": 200, "update secretvalues payments/": 200,
		"update secretvalues payments/keys": 403, "get secrets payments/": 403,
	} {
		d := newDoor(t)
		d.rights = []string{rights}
		if w := d.ask("GET", operatorapi.NamespaceSecretsPath("payments"), ""); w.Code != status {
			t.Errorf("%s: %d %s", rights, w.Code, w.Body)
		}
		if told := strings.Contains(d.log.String(), `"decision":"deny"`); told != (status == 403) {
			t.Errorf("%s: logged %s", rights, &d.log)
		}
	}
}

func TestTokensThatTheOperatorRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		token  string
		err    error
		status int
		says   string
	}{
		"none":         {"", nil, 401, "their token is missing"},
		"another":      {"forged", nil, 401, "does not take the token"},
		"an old one":   {"janes", &identity.NotFreshError{}, 401, "sign in again to confirm"},
		"of a stopped": {"janes", &identity.RefusedError{Reason: "You are nobody."}, 403, "You are nobody."},
		"no provider":  {"janes", &identity.ProviderError{Doing: "asking", Cause: errors.New("refused")}, 503, "cannot verify the token at the moment"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t, secret("keys", nil))
			d.rights, d.token = editor("keys"), c.err
			for _, method := range []string{"PATCH", "DELETE"} {
				if w := d.askAs(c.token, method, operatorapi.SecretPath("payments", "keys"),
					change(map[string]string{"a": "b"})); w.Code != c.status || !strings.Contains(w.Body.String(),
					c.says) {
					t.Errorf("%s: %d %s", method, w.Code, w.Body)
				}
			}
			if len(d.Actions()) > 0 {
				t.Errorf("asked Kubernetes %v", d.Actions())
			}
		})
	}
}

func TestWhatKubernetesSaysIsNotRepeated(t *testing.T) {
	of := schema.GroupResource{Resource: "secrets"}
	for name, c := range map[string]struct {
		err    error
		status int
		says   string
	}{
		"invalid":    {apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, value, nil), 422, "does not take the Secret keys as it would be"},
		"a quota":    {apierrors.NewForbidden(of, "keys", errors.New(value)), 403, "a quota of the namespace"},
		"down":       {errors.New(value), 503, "does not answer"},
		"a conflict": {apierrors.NewConflict(of, "keys", errors.New(value)), 409, "others write this Secret all the time"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t, secret("keys", nil))
			d.rights = editor("keys")
			d.PrependReactor("patch", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, c.err
			})
			if w := d.ask("PATCH", operatorapi.SecretPath("payments", "keys"),
				change(map[string]string{"a": value})); w.Code != c.status || !strings.Contains(w.Body.String(),
				c.says) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	d := newDoor(t)
	d.rights, d.down = editor("keys"), true
	if w := d.ask("PATCH", operatorapi.SecretPath("payments", "keys"), "{}"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("without access reviews: %d %s", w.Code, w.Body)
	}
	d = newDoor(t)
	d.rights = editor("keys")
	d.PrependReactor("create", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "payments")
	})
	if w := d.ask("PATCH", operatorapi.SecretPath("payments", "keys"),
		change(map[string]string{"a": value})); w.Code != 404 || !strings.Contains(w.Body.String(),
		"there is no namespace payments") {
		t.Errorf("without the namespace: %d %s", w.Code, w.Body)
	}
}

// TestTwoPeopleSetTwoKeysAtOnce checks that the second write has a conflict, is repeated, and keeps the first one's
// key.
func TestTwoPeopleSetTwoKeysAtOnce(t *testing.T) {
	d := newDoor(t, secret("keys", func(s *corev1.Secret) { s.ResourceVersion = "7" }))
	d.rights = editor("keys")
	first := true
	d.PrependReactor("patch", "secrets", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if a.(clienttesting.PatchAction).GetName() != "keys" || !first {
			return false, nil, nil
		}
		first = false
		if patch := string(a.(clienttesting.PatchAction).GetPatch()); !strings.Contains(
			patch, `"resourceVersion":"7"`) || !strings.Contains(patch, `"uid":"u"`) {
			t.Errorf("the write would take any version: %s", patch)
		}
		other := secret("keys", func(s *corev1.Secret) { s.Data["others"] = []byte("theirs") })
		if err := d.Tracker().Update(corev1.SchemeGroupVersion.WithResource("secrets"), other, "payments"); err != nil {
			t.Error(err)
		}
		return true, nil, apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, "keys", errors.New(
			"changed"))
	})
	if w := d.ask("PATCH", operatorapi.SecretPath("payments", "keys"),
		change(map[string]string{"mine": "mine"})); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if got := d.stored("keys").Data; string(got["others"]) != "theirs" || string(got["mine"]) != "mine" ||
		string(got["token"]) != value {
		t.Errorf("has %d keys", len(got))
	}
}

func TestThereIsAnEndToNames(t *testing.T) {
	index := secret(operatorapi.SecretIndexName, func(s *corev1.Secret) {
		s.Labels[operatorapi.LabelSecretValues], s.Data = operatorapi.SecretIndex, map[string][]byte{}
		for i := range operatorapi.MaxSecrets {
			s.Data[fmt.Sprint("s", i)] = []byte{}
		}
	})
	all := []runtime.Object{index}
	for i := range operatorapi.MaxSecrets {
		all = append(all, secret(fmt.Sprint("s", i), nil))
	}
	d := newDoor(t, all...)
	d.rights = append(editor("keys"), editor("s7")...)
	if w := d.ask("PATCH", operatorapi.SecretPath("payments", "keys"),
		change(map[string]string{"a": value})); w.Code != 422 || !strings.Contains(w.Body.String(), "has 200 Secrets") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	// A Secret that somebody else deleted makes room.
	if err := d.CoreV1().Secrets("payments").Delete(t.Context(), "s7", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if w := d.ask("PATCH", operatorapi.SecretPath("payments", "keys"),
		change(map[string]string{"a": value})); w.Code != 201 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if names := d.stored(operatorapi.SecretIndexName).Data; len(names) != operatorapi.MaxSecrets ||
		names["keys"] == nil {
		t.Errorf("%d names", len(names))
	}
	if w := d.ask("DELETE", operatorapi.SecretPath("payments", "s7"), ""); w.Code != 404 {
		t.Errorf("what is gone: %d %s", w.Code, w.Body)
	}
	foreign := newDoor(t, secret(operatorapi.SecretIndexName, func(s *corev1.Secret) { s.Labels = nil }))
	foreign.rights = editor("keys")
	if w := foreign.ask("PATCH", operatorapi.SecretPath("payments", "keys"),
		change(map[string]string{"a": value})); w.Code != 409 {
		t.Errorf("somebody else's list: %d %s", w.Code, w.Body)
	}
}

// A person who sends requests without a pause is rejected; others are not.
func TestAPersonHasAPace(t *testing.T) {
	d := newDoor(t, secret("keys", nil))
	d.rights = editor("keys")
	path := operatorapi.NamespaceSecretsPath("payments")
	for i := range actsAtOnce {
		if w := d.ask("GET", path, ""); w.Code != http.StatusOK {
			t.Fatalf("%d. %d %s", i, w.Code, w.Body)
		}
	}
	if w := d.ask("GET", path, ""); w.Code != http.StatusTooManyRequests ||
		!strings.Contains(w.Body.String(), "more than 5 requests a second") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
