package cluster

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
	// tokenSeconds is the shortest life that the API server grants.
	tokenSeconds = int64(600)
	// tokenMargin is how long before its end a token is replaced.
	tokenMargin = 2 * time.Minute
	// mintTimeout bounds one TokenRequest.
	mintTimeout = 5 * time.Second
)

// tokens are short-lived ones of a ServiceAccount, minted by the portal's own one. It is safe for concurrent use.
type tokens struct {
	client    kubernetes.Interface
	account   types.NamespacedName
	audiences []string // nil: for the API server
	clock     clock.PassiveClock

	mu      sync.Mutex
	token   string
	expires time.Time
}

// current holds the lock while it mints, so that one request mints for all that wait.
func (t *tokens) current(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" && t.clock.Now().Before(t.expires.Add(-tokenMargin)) {
		return t.token, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mintTimeout)
	defer cancel()
	seconds := tokenSeconds
	got, err := t.client.CoreV1().ServiceAccounts(t.account.Namespace).CreateToken(ctx, t.account.Name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: t.audiences, ExpirationSeconds: &seconds}},
		metav1.CreateOptions{})
	if err != nil {
		return "", &mintError{t.account, err, apierrors.IsForbidden(err) || apierrors.IsNotFound(err)}
	}
	t.token, t.expires = got.Status.Token, got.Status.ExpirationTimestamp.Time
	return t.token, nil
}

// mintError says that there is no token. It does not unwrap: the answer to our own request must not be taken for the
// answer to the caller's.
type mintError struct {
	account types.NamespacedName
	cause   error
	refused bool // the ServiceAccount is missing, or the portal may not mint for it
}

func (e *mintError) Error() string {
	return fmt.Sprintf("minting a token of ServiceAccount %s: %v", e.account, e.cause)
}

func (t *tokens) drop(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == token {
		t.token = ""
	}
}

// minter adds to each request a token of the impersonating ServiceAccount.
type minter struct {
	*tokens
	next http.RoundTripper
}

// RoundTrip sends a copy of the request: RoundTrippers must not change theirs.
func (m *minter) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := m.current(r.Context())
	if err != nil {
		return nil, err
	}
	out := r.Clone(r.Context())
	out.Header.Set("Authorization", "Bearer "+token)
	resp, err := m.next.RoundTrip(out)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		m.drop(token) // the ServiceAccount was made again: the next request mints
	}
	return resp, err
}
