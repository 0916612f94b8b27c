package cluster

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
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

// minter adds to each request a short-lived token of the impersonating ServiceAccount, minted by the portal's own one.
type minter struct {
	client  kubernetes.Interface
	account types.NamespacedName
	clock   clock.PassiveClock
	next    http.RoundTripper

	mu      sync.Mutex
	token   string
	expires time.Time
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
		m.drop(token) // the ServiceAccount was made anew: the next request mints
	}
	return resp, err
}

// current holds the lock while it mints, so that one request mints for all that wait.
func (m *minter) current(ctx context.Context) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.token != "" && m.clock.Now().Before(m.expires.Add(-tokenMargin)) {
		return m.token, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mintTimeout)
	defer cancel()
	seconds := tokenSeconds
	t, err := m.client.CoreV1().ServiceAccounts(m.account.Namespace).CreateToken(ctx, m.account.Name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}},
		metav1.CreateOptions{})
	if err != nil {
		// %v: the answer to our own request must not be taken for the answer to the caller's.
		return "", fmt.Errorf("minting a token of ServiceAccount %s: %v", m.account, err) //nolint:errorlint // see above
	}
	m.token, m.expires = t.Status.Token, t.Status.ExpirationTimestamp.Time
	return m.token, nil
}

func (m *minter) drop(token string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.token == token {
		m.token = ""
	}
}
