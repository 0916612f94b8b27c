// Package authz protects a server with Kubernetes' authentication and authorisation: callers need the right to get its
// paths.
package authz

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/portico-platform/portico/api/expiring"
	"github.com/portico-platform/portico/api/operatorapi"
)

const (
	// reviewFor is how long an answer of Kubernetes about a token holds: as long may a lost right go unnoticed.
	reviewFor = 10 * time.Second
	// reviewsKept bounds the answers kept, each of some hundred bytes.
	reviewsKept = 4096
	// reviewTimeout bounds the two reviews of a request.
	reviewTimeout = 5 * time.Second
	// longestToken exceeds the length of any Kubernetes token; longer ones are refused without a review.
	longestToken = 8 << 10
	// reviewsASecond bounds what strangers can make Kubernetes answer; answers are remembered for those who are known.
	reviewsASecond = 20
)

var (
	errUnauthenticated = errors.New("no token, or none for this server")
	errForbidden       = errors.New("the caller may not use this path so")
)

// Filter lets a request pass if its token is for this server and Kubernetes says that its user may use the path. The
// verb of that right is get for reading, and else the method in small letters.
type Filter struct {
	tokens authenticationclient.TokenReviewInterface
	access authorizationclient.SubjectAccessReviewInterface
	// audience is the required audience of tokens; "" is the API server's, which the tokens of all Pods have.
	audience string
	// Cached reviews: the user of a token, nil if it is invalid; and whether the user can get a path.
	users   *expiring.Cache[digest, *authenticationv1.UserInfo]
	allowed *expiring.Cache[digest, bool]
}

// digest of what must not lie around in memory for longer than a request.
type digest [sha256.Size]byte

// For returns a filter that sends reviews to the API server of cfg, at a low rate: anyone who reaches the port can
// cause them.
func For(cfg *rest.Config, audience string, now func() time.Time) (*Filter, error) {
	own := rest.CopyConfig(cfg)
	own.QPS, own.Burst = reviewsASecond, 2*reviewsASecond
	tokens, err := authenticationclient.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("prepare token reviews: %w", err)
	}
	access, err := authorizationclient.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("prepare access reviews: %w", err)
	}
	return New(tokens.TokenReviews(), access.SubjectAccessReviews(), audience, now), nil
}

// New returns a filter that sends reviews with these clients.
func New(tokens authenticationclient.TokenReviewInterface, access authorizationclient.SubjectAccessReviewInterface,
	audience string, now func() time.Time,
) *Filter {
	return &Filter{
		tokens: tokens, access: access, audience: audience,
		users:   expiring.New[digest, *authenticationv1.UserInfo](reviewsKept, now),
		allowed: expiring.New[digest, bool](reviewsKept, now),
	}
}

// Over wraps h. Refusals say nothing but their status.
func (g *Filter) Over(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), reviewTimeout)
		err := g.check(ctx, r)
		cancel()
		switch {
		case err == nil:
			h.ServeHTTP(w, r)
		case errors.Is(err, errUnauthenticated):
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized)
		case errors.Is(err, errForbidden):
			refuse(w, http.StatusForbidden)
		default:
			logr.FromContextOrDiscard(r.Context()).Error(err, "Kubernetes could not be asked about who asks for this")
			refuse(w, http.StatusServiceUnavailable)
		}
	})
}

func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, http.StatusText(status), status)
}

func (g *Filter) check(ctx context.Context, r *http.Request) error {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > longestToken ||
		len(r.Header.Values("Authorization")) > 1 {
		return errUnauthenticated
	}
	user, err := g.user(ctx, token)
	if err != nil {
		return err
	}
	path, verb := reviewed(r.URL.Path), verbOf(r.Method)
	key := digest(sha256.Sum256([]byte(token + "\x00" + verb + "\x00" + path)))
	may, known := g.allowed.Get(key)
	if !known {
		if may, err = g.may(ctx, user, verb, path); err != nil {
			return err
		}
		g.allowed.Put(key, may, reviewFor)
	}
	if !may {
		return errForbidden
	}
	return nil
}

// manyPaths are those below which paths have names that people choose: one answer is for all of them, or every new name
// would be a question.
var manyPaths = []string{operatorapi.SecretsPath + "/", operatorapi.RevealPath + "/"}

// reviewed returns the path that Kubernetes is asked about.
func reviewed(path string) string {
	for _, prefix := range manyPaths {
		if strings.HasPrefix(path, prefix) {
			return prefix + "*"
		}
	}
	return path
}

// user returns the user of a token; errUnauthenticated if it is invalid, or not for this server.
func (g *Filter) user(ctx context.Context, token string) (*authenticationv1.UserInfo, error) {
	key := digest(sha256.Sum256([]byte(token)))
	user, ok := g.users.Get(key)
	if !ok {
		review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
		if g.audience != "" {
			review.Spec.Audiences = []string{g.audience}
		}
		answer, err := g.tokens.Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		// Authenticators that know nothing of audiences answer without any: their tokens are for the API server.
		if s := answer.Status; s.Authenticated && s.User.Username != "" &&
			(g.audience == "" || slices.Contains(s.Audiences, g.audience)) {
			user = &s.User
		}
		g.users.Put(key, user, reviewFor)
	}
	if user == nil {
		return nil, errUnauthenticated
	}
	return user, nil
}

// verbOf returns what RBAC calls a request with the method.
func verbOf(method string) string {
	if method == http.MethodHead {
		return "get"
	}
	return strings.ToLower(method)
}

func (g *Filter) may(ctx context.Context, user *authenticationv1.UserInfo, verb, path string) (bool, error) {
	spec := authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, Groups: user.Groups, UID: user.UID,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: verb},
	}
	for key, values := range user.Extra {
		if spec.Extra == nil {
			spec.Extra = map[string]authorizationv1.ExtraValue{}
		}
		spec.Extra[key] = authorizationv1.ExtraValue(values)
	}
	answer, err := g.access.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return answer.Status.Allowed && !answer.Status.Denied, nil
}
