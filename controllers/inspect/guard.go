package inspect

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/portico-platform/portico/api/inspect"
)

const (
	// reviewFor is how long an answer of Kubernetes about a token holds: as long may a lost right go unnoticed.
	reviewFor = 10 * time.Second
	// reviewsKept bounds the answers kept, each of some hundred bytes.
	reviewsKept = 4096
	// reviewTimeout bounds the two reviews of a request.
	reviewTimeout = 5 * time.Second
	// longestToken is more than any token of Kubernetes has; what is longer is not worth a question.
	longestToken = 8 << 10
)

var (
	errUnauthenticated = errors.New("no token, or none for this server")
	errForbidden       = errors.New("the caller may not get this path")
)

// guard lets those pass who bring a token for this server and may get the path, as Kubernetes says.
type guard struct {
	tokens authenticationclient.TokenReviewInterface
	access authorizationclient.SubjectAccessReviewInterface
	// What Kubernetes answered: whose a token is, nil for nobody's; and whether its user may get a path.
	users   *cache[digest, *authenticationv1.UserInfo]
	allowed *cache[digest, bool]
}

// digest of what must not lie around in memory for longer than a request.
type digest [sha256.Size]byte

func newGuard(tokens authenticationclient.TokenReviewInterface, access authorizationclient.SubjectAccessReviewInterface, now func() time.Time) *guard {
	return &guard{
		tokens: tokens, access: access,
		users:   newCache[digest, *authenticationv1.UserInfo](reviewFor, reviewsKept, now),
		allowed: newCache[digest, bool](reviewFor, reviewsKept, now),
	}
}

// over wraps h. Refusals say nothing but their status.
func (g *guard) over(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), reviewTimeout)
		err := g.check(ctx, r)
		cancel()
		switch {
		case err == nil:
			h.ServeHTTP(w, r)
		case errors.Is(err, errUnauthenticated):
			w.Header().Set("WWW-Authenticate", "Bearer")
			problem(w, http.StatusUnauthorized, "")
		case errors.Is(err, errForbidden):
			problem(w, http.StatusForbidden, "")
		default:
			log.FromContext(r.Context()).Error(err, "Kubernetes could not be asked about a caller of the inspect server")
			problem(w, http.StatusServiceUnavailable, "")
		}
	})
}

func (g *guard) check(ctx context.Context, r *http.Request) error {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > longestToken || len(r.Header.Values("Authorization")) > 1 {
		return errUnauthenticated
	}
	user, err := g.user(ctx, token)
	if err != nil {
		return err
	}
	path := r.URL.Path
	key := digest(sha256.Sum256([]byte(token + "\x00" + path)))
	may, known := g.allowed.get(key)
	if !known {
		if may, err = g.mayGet(ctx, user, path); err != nil {
			return err
		}
		g.allowed.put(key, may)
	}
	if !may {
		return errForbidden
	}
	return nil
}

// user is whose token it is; errUnauthenticated if nobody's, or not for this server.
func (g *guard) user(ctx context.Context, token string) (*authenticationv1.UserInfo, error) {
	key := digest(sha256.Sum256([]byte(token)))
	user, ok := g.users.get(key)
	if !ok {
		review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: []string{inspect.Audience}}}
		answer, err := g.tokens.Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		// Authenticators that know nothing of audiences answer without any: their tokens are for the API server.
		if s := answer.Status; s.Authenticated && s.User.Username != "" && slices.Contains(s.Audiences, inspect.Audience) {
			user = &s.User
		}
		g.users.put(key, user)
	}
	if user == nil {
		return nil, errUnauthenticated
	}
	return user, nil
}

func (g *guard) mayGet(ctx context.Context, user *authenticationv1.UserInfo, path string) (bool, error) {
	spec := authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, Groups: user.Groups, UID: user.UID,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"},
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
