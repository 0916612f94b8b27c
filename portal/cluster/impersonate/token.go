package impersonate

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
)

const (
	// tokenSeconds is the shortest lifetime that the API server grants.
	tokenSeconds = int64(600)
	// tokenMargin is how long before its expiry a token is replaced.
	tokenMargin = 2 * time.Minute
	// mintTimeout bounds one TokenRequest.
	mintTimeout = 5 * time.Second
)

// Tokens are short-lived tokens of a ServiceAccount, requested with the portal's own. It is safe for concurrent use.
type Tokens struct {
	Client    kubernetes.Interface
	Account   types.NamespacedName
	Audiences []string // nil: for the API server
	Clock     clock.PassiveClock

	mu      sync.Mutex
	token   string
	expires time.Time
}

// Current returns a valid token. It holds the lock while requesting one, so that concurrent callers share it.
func (t *Tokens) Current(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" && t.Clock.Now().Before(t.expires.Add(-tokenMargin)) {
		return t.token, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mintTimeout)
	defer cancel()
	seconds := tokenSeconds
	got, err := t.Client.CoreV1().ServiceAccounts(t.Account.Namespace).CreateToken(ctx, t.Account.Name,
		&authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{Audiences: t.Audiences, ExpirationSeconds: &seconds},
		},
		metav1.CreateOptions{})
	if err != nil {
		return "", &mintError{t.Account, err, apierrors.IsForbidden(err) || apierrors.IsNotFound(err)}
	}
	t.token, t.expires = got.Status.Token, got.Status.ExpirationTimestamp.Time
	return t.token, nil
}

// mintError reports that no token could be issued. It does not unwrap: the answer to our own request must not be taken
// for the answer to the caller's.
type mintError struct {
	account types.NamespacedName
	cause   error
	refused bool // the ServiceAccount is missing, or the portal has no right to its tokens
}

func (e *mintError) Error() string {
	return fmt.Sprintf("minting a token of ServiceAccount %s: %v", e.account, e.cause)
}

// Drop forgets a token that was refused.
func (t *Tokens) Drop(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == token {
		t.token = ""
	}
}

// minter adds a token of the impersonating ServiceAccount to each request.
type minter struct {
	*Tokens
	next http.RoundTripper
}

// RoundTrip sends a copy of the request, since a RoundTripper must not modify the original.
func (m *minter) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := m.Current(r.Context())
	if err != nil {
		return nil, err
	}
	out := r.Clone(r.Context())
	out.Header.Set("Authorization", "Bearer "+token)
	resp, err := m.next.RoundTrip(out)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		m.Drop(token) // the ServiceAccount was created again: the next request gets a new token
	}
	return resp, err
}
