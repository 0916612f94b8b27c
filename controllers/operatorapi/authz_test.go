package operatorapi

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/portico-platform/portico/api/authz"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/engine"
)

const portal = "system:serviceaccount:portico-system:portico-portal"

// kubernetes answers token reviews by the token's text, and access reviews for the portal only.
type kubernetes struct {
	*fake.Clientset
	tokens, access int // the number of reviews
	down           bool
	denied         bool // the portal is denied, too
	now            time.Time
}

func newKubernetes() *kubernetes {
	k := &kubernetes{Clientset: fake.NewClientset(), now: time.Unix(1_000_000, 0)}
	k.PrependReactor("create", "tokenreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		r, err := k.reviewToken(a.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenReview).DeepCopy())
		return true, r, err
	})
	k.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		k.access++
		r := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
		on := r.Spec.NonResourceAttributes
		r.Status.Allowed = r.Spec.User == portal && len(r.Spec.Groups) == 1 && on.Verb == "get" &&
			strings.HasPrefix(on.Path, "/inspect/")
		r.Status.Denied = k.denied
		return true, r, nil
	})
	return k
}

func (k *kubernetes) reviewToken(r *authenticationv1.TokenReview) (*authenticationv1.TokenReview, error) {
	k.tokens++
	if k.down {
		return nil, errors.New("connection refused")
	}
	if len(r.Spec.Audiences) != 1 || r.Spec.Audiences[0] != operatorapi.Audience {
		return nil, errors.New("the review names no audience")
	}
	user, audiences := portal, []string{operatorapi.Audience}
	switch r.Spec.Token {
	case "portal":
	case "tenant":
		user = "system:serviceaccount:payments:ci"
	case "for-another":
		audiences = []string{"https://kubernetes.default.svc"}
	case "without-audiences":
		audiences = nil
	case "nobody":
		user = ""
	default: // expired, forged
		r.Status.Error = "token has expired"
		return r, nil
	}
	r.Status = authenticationv1.TokenReviewStatus{
		Authenticated: true, Audiences: audiences,
		User: authenticationv1.UserInfo{
			Username: user, Groups: []string{"system:serviceaccounts"}, UID: "1",
			Extra: map[string]authenticationv1.ExtraValue{"x": {"y"}},
		},
	}
	return r, nil
}

func (k *kubernetes) filter() *authz.Filter {
	return authz.New(k.AuthenticationV1().TokenReviews(), k.AuthorizationV1().SubjectAccessReviews(),
		operatorapi.Audience, func() time.Time { return k.now })
}

// call sends a request with an Authorization header.
func call(h http.Handler, path, authorization string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestWhoIsLetIn(t *testing.T) {
	for name, c := range map[string]struct {
		authorization string
		change        func(*kubernetes)
		status        int
		asked         int // token reviews
	}{
		"the portal":                    {"Bearer portal", nil, 200, 1},
		"the scheme in lower case":      {"bearer portal", nil, 200, 1},
		"no token":                      {"", nil, 401, 0},
		"an empty token":                {"Bearer ", nil, 401, 0},
		"a password":                    {"Basic cG9ydGFsOng=", nil, 401, 0},
		"an endless token":              {"Bearer " + strings.Repeat("x", (8<<10)+1), nil, 401, 0},
		"an expired one":                {"Bearer expired", nil, 401, 1},
		"one for the API server":        {"Bearer for-another", nil, 401, 1},
		"one whose audience is unknown": {"Bearer without-audiences", nil, 401, 1},
		"one of nobody":                 {"Bearer nobody", nil, 401, 1},
		"a tenant's":                    {"Bearer tenant", nil, 403, 1},
		"the portal, but denied":        {"Bearer portal", func(k *kubernetes) { k.denied = true }, 403, 1},
		"while Kubernetes is away":      {"Bearer portal", func(k *kubernetes) { k.down = true }, 503, 1},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKubernetes()
			if c.change != nil {
				c.change(k)
			}
			h := k.filter().Over(newHandlers(Source{Records: &engine.Records{}, Now: time.Now}).routes())
			w := call(h, operatorapi.ResourcesPath, c.authorization)
			if w.Code != c.status || k.tokens != c.asked {
				t.Errorf("answers %d after %d questions, want %d after %d: %s", w.Code, k.tokens, c.status, c.asked,
					w.Body)
			}
			if c.status != 200 {
				saysNothing(t, w)
			}
		})
	}
}

// saysNothing checks that a refusal discloses nothing.
func saysNothing(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Body.String() != http.StatusText(w.Code)+"\n" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("the refusal is %s", w.Body)
	}
	if (w.Code == 401) != (w.Header().Get("WWW-Authenticate") == "Bearer") {
		t.Errorf("WWW-Authenticate with %d", w.Code)
	}
}

func TestAnswersAreKeptForAWhile(t *testing.T) {
	k := newKubernetes()
	h := k.filter().Over(http.NotFoundHandler())
	ask := func(path, token string, status, tokens, access int) {
		t.Helper()
		if w := call(h, path, "Bearer "+token); w.Code != status || k.tokens != tokens || k.access != access {
			t.Errorf("%s of %s: %d after %d and %d questions, want %d after %d and %d", token, path, w.Code, k.tokens,
				k.access, status, tokens, access)
		}
	}
	ask("/inspect/a", "portal", 404, 1, 1)
	ask("/inspect/a", "portal", 404, 1, 1)
	ask("/inspect/b", "portal", 404, 1, 2)
	ask("/elsewhere", "portal", 403, 1, 3)
	ask("/elsewhere", "portal", 403, 1, 3)
	ask("/inspect/a", "tenant", 403, 2, 4)
	ask("/inspect/a", "expired", 401, 3, 4)
	ask("/inspect/a", "expired", 401, 3, 4)
	k.denied, k.now = true, k.now.Add(10*time.Second)
	ask("/inspect/a", "portal", 403, 4, 5)
	k.down, k.now = true, k.now.Add(10*time.Second)
	ask("/inspect/a", "portal", 503, 5, 5)
	ask("/inspect/a", "portal", 503, 6, 5) // a failed review is not cached
}

// TestWritesAreAskedForByTheirMethod checks that a right to get a path does not permit changes.
func TestWritesAreAskedForByTheirMethod(t *testing.T) {
	k := newKubernetes()
	h := k.filter().Over(http.NotFoundHandler())
	for method, status := range map[string]int{
		http.MethodGet: 404, http.MethodHead: 404, http.MethodPost: 403,
		http.MethodPatch: 403, http.MethodDelete: 403,
	} {
		r := httptest.NewRequest(method, "/inspect/a", http.NoBody)
		r.Header.Set("Authorization", "Bearer portal")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != status {
			t.Errorf("%s: %d, want %d", method, w.Code, status)
		}
	}
}

// TestNothingIsDoneForPeopleUnlessTheOperatorKnowsThem checks that the response says so, too.
func TestNothingIsDoneForPeopleUnlessTheOperatorKnowsThem(t *testing.T) {
	h := newHandlers(Source{Now: time.Now}).routes()
	for _, path := range []string{
		operatorapi.NamespaceSecretsPath("payments"),
		operatorapi.PasswordPath("RDSInstance", "payments", "db"),
	} {
		if w := call(h, path, ""); w.Code != http.StatusNotImplemented ||
			!strings.Contains(w.Body.String(), "--oidc-issuer-url") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
