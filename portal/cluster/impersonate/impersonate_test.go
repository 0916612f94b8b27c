package impersonate

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

func newTestImpersonator(t *testing.T) (*Impersonator, *kubetest.APIServer, *kubetest.Judge) {
	t.Helper()
	s, j := kubetest.NewAPIServer(t), kubetest.NewJudge()
	// The portal's own credentials must not be sent with users' requests.
	w, err := New(s.Config(), s.Minter(), kubetest.Account,
		rights.New(rights.Options{Reviews: j.Reviews(), Clock: j.Clock}), s.Clock)
	if err != nil {
		t.Fatal(err)
	}
	return w, s, j
}

// getBucket reads a bucket as the client's caller.
func getBucket(t *testing.T, c dynamic.Interface) error {
	t.Helper()
	k, _ := catalogtest.Kinds(t).ByPlural("s3buckets")
	_, err := c.Resource(k.Resource).Namespace("payments").Get(t.Context(), "logs", metav1.GetOptions{})
	return err
}

func TestWriterActsAsTheCaller(t *testing.T) {
	w, s, _ := newTestImpersonator(t)
	get := func(id auth.Identity) error {
		t.Helper()
		c, _, err := w.ClientFor(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return getBucket(t, c)
	}
	if err := get(kubetest.Dev); err != nil {
		t.Fatal(err)
	}
	h := s.Seen[0].Header
	if h.Get("Impersonate-User") != "oidc:dev" || !slices.Equal(h.Values("Impersonate-Group"), kubetest.Dev.Groups) ||
		h.Get("Authorization") != "Bearer token-1" {
		t.Errorf("headers %v", h)
	}
	if err := get(auth.Identity{
		Username: "system:serviceaccount:ci:bot", Groups: []string{"system:serviceaccounts"},
		ServiceAccount: true,
	}); err != nil {
		t.Fatal(err)
	}
	h = s.Seen[1].Header
	if h.Get("Impersonate-User") != "system:serviceaccount:ci:bot" || len(h.Values("Impersonate-Group")) != 0 {
		t.Errorf("headers %v", h)
	}
	if s.Minted != 1 {
		t.Errorf("minted %d tokens", s.Minted)
	}
	s.Clock.SetTime(s.Clock.Now().Add(8*time.Minute + time.Second))
	_ = get(kubetest.Dev)
	if got := s.Seen[2].Header.Get("Authorization"); got != "Bearer token-2" {
		t.Errorf("two minutes before its end: %q", got)
	}
	s.Answer = func(w http.ResponseWriter) {
		kubetest.Reply(w, 401, metav1.Status{Status: "Failure", Code: 401, Reason: "Unauthorized"})
	}
	if err := get(kubetest.Dev); !apierrors.IsUnauthorized(err) {
		t.Fatal(err)
	}
	_ = get(kubetest.Dev)
	if got := s.Seen[4].Header.Get("Authorization"); got != "Bearer token-3" {
		t.Errorf("after the token was refused: %q", got)
	}
}

func TestWriterSendsNothingWithoutAToken(t *testing.T) {
	w, s, _ := newTestImpersonator(t)
	s.MintErr = apierrors.NewForbidden(schema.GroupResource{Resource: "serviceaccounts"}, "x", errors.New("no"))
	c, _, err := w.ClientFor(t.Context(), kubetest.Dev)
	if err != nil {
		t.Fatal(err)
	}
	err = getBucket(t, c)
	if err == nil || apierrors.IsForbidden(err) || len(s.Seen) != 0 {
		t.Errorf("%v after %d requests: our own refusal must not look like the caller's", err, len(s.Seen))
	}
}

func TestWriterRefusesIdentities(t *testing.T) {
	w, s, _ := newTestImpersonator(t)
	for _, id := range []auth.Identity{
		{},
		{Groups: []string{"oidc:a"}},
		{Username: "system:admin"},
		{Username: "a", Groups: []string{"system:masters"}},
	} {
		if c, _, err := w.ClientFor(t.Context(), id); err == nil || c != nil {
			t.Errorf("%+v: %v", id, err)
		}
	}
	if s.Minted+len(s.Seen) != 0 {
		t.Error("something was sent")
	}
}

func TestWarningsAreCollected(t *testing.T) {
	w, s, _ := newTestImpersonator(t)
	s.Answer = func(w http.ResponseWriter) {
		w.Header().Add("Warning", `299 - "old field"`)
		kubetest.Reply(w, http.StatusOK, map[string]any{"kind": "S3Bucket", "apiVersion": "portico.dev/v1alpha1"})
	}
	c, heard, err := w.ClientFor(t.Context(), kubetest.Dev)
	if err != nil {
		t.Fatal(err)
	}
	if err := getBucket(t, c); err != nil {
		t.Fatal(err)
	}
	if got := heard.All(); !slices.Equal(got, []string{"old field"}) {
		t.Errorf("warnings %v", got)
	}
}

func TestExplain(t *testing.T) {
	c, _, j := newTestImpersonator(t)
	listing := rights.Right{Verb: "list", Group: "portico.dev", Resource: "s3buckets", Namespace: "payments"}
	resource := schema.GroupResource{Group: "portico.dev", Resource: "s3buckets"}
	refusal := apierrors.NewForbidden(resource, "x", errors.New("exceeded quota: buckets"))
	if err := c.Explain(t.Context(), kubetest.Dev, listing, refusal); !apierrors.IsForbidden(err) ||
		!strings.Contains(err.Error(), "exceeded quota") {
		t.Errorf("a quota: %v", err)
	}
	j.Allow = func(_ authorizationv1.SubjectAccessReviewSpec) bool { return false }
	var forbidden *failure.ForbiddenError
	if err := c.Explain(t.Context(), kubetest.Dev, listing, refusal); !errors.As(err, &forbidden) {
		t.Errorf("no right: %v", err)
	}
	var unavailable *failure.UnavailableError
	ours := apierrors.NewForbidden(
		resource, "x", errors.New(
			`User "system:serviceaccount:portico-system:portico-impersonator" cannot impersonate-on:user-info:create resource`,
		))
	for reason, err := range map[string]error{"impersonation refused": ours, "token refused": apierrors.NewUnauthorized(
		"no"), "no connection": errors.New("dial")} {
		if err := c.Explain(t.Context(), kubetest.Dev, listing, err); !errors.As(err, &unavailable) ||
			apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	tool := auth.Identity{Username: "system:serviceaccount:payments:ci", ServiceAccount: true}
	outside := apierrors.NewForbidden(schema.GroupResource{Group: "authentication.k8s.io", Resource: "serviceaccounts"},
		"ci", errors.New("no"))
	var refusesServiceAccount *failure.ToolError
	if err := c.Explain(t.Context(), tool, listing, outside); !errors.As(err, &refusesServiceAccount) ||
		refusesServiceAccount.Namespace != "payments" || failure.OutcomeOf(err) != auth.Forbidden {
		t.Errorf("a ServiceAccount that nobody let in: %v", err)
	}
	if err := c.Explain(t.Context(), tool, listing, ours); !errors.As(err, &unavailable) {
		t.Errorf("what the impersonator lacks for ServiceAccounts: %v", err)
	}
	if err := c.Explain(t.Context(), kubetest.Dev, listing, &failure.ChangedError{}); errors.As(err, &unavailable) {
		t.Error(err)
	}
	if err := c.Explain(t.Context(), kubetest.Dev, listing, apierrors.NewAlreadyExists(
		resource, "x")); !apierrors.IsAlreadyExists(err) {
		t.Error(err)
	}
}
