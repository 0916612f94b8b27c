// Package podidentity is the EKS Pod Identity Agent, which gives Pods the credentials of the roles in their
// associations.
package podidentity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/eks"
	"github.com/portico-platform/portico/test/awsproxy/iam"
	"github.com/portico-platform/portico/test/awsproxy/lag"
	"github.com/portico-platform/portico/test/awsproxy/sts"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

const (
	// sessionLife is how long the credentials of a Pod are valid: EKS issues them for six hours.
	sessionLife = 6 * time.Hour
	// chainedLife is the maximum validity of the credentials of a target role, as of any role that another role
	// assumes ("Role chaining" in IAM's guide).
	chainedLife = time.Hour
	// cachedFor is how long the agent returns its cached credentials for a token before it requests new ones: its
	// flag max-credential-retention-before-renewal.
	cachedFor = 3 * time.Hour
)

// Pod holds the claims of a Pod's token.
type Pod struct {
	Cluster                   eks.Cluster
	Namespace, ServiceAccount string
	Name, UID                 string
}

// ErrToken is the error of a Verifier for a token that is not valid.
var ErrToken = errors.New("the token is not valid")

// Verifier returns the Pod that a token belongs to. An error that is not [ErrToken] is a failure of the
// verification itself.
type Verifier func(ctx context.Context, token string) (Pod, error)

// Agent issues the credentials of Pods.
type Agent struct {
	upstream *wire.Upstream
	clusters *eks.Service
	roles    *iam.Book
	sessions *sts.Service
	keys     sts.Keys
	lag      *lag.Lag
	now      func() time.Time

	mu        sync.Mutex
	life      time.Duration
	retention time.Duration // -1 means AWS's own, at the proxy's scale
	kept      map[string]keptCredentials
}

// keptCredentials are the credentials that the agent has cached for a token.
type keptCredentials struct {
	until time.Time
	body  credentials
}

// credentials is the agent's response to SDKs.
type credentials struct {
	AccessKeyID     string    `json:"AccessKeyId"`
	SecretAccessKey string    `json:"SecretAccessKey"`
	Token           string    `json:"Token"`
	AccountID       string    `json:"AccountId"`
	Expiration      time.Time `json:"Expiration"`
}

// New returns the agent, which opens sessions of the roles in the clusters' associations.
func New(
	up *wire.Upstream, roles *iam.Book, clusters *eks.Service, sessions *sts.Service, keys sts.Keys, lag *lag.Lag,
	now func() time.Time,
) *Agent {
	return &Agent{
		upstream: up, clusters: clusters, roles: roles, sessions: sessions, keys: keys, lag: lag, now: now,
		life: sessionLife, retention: -1, kept: map[string]keptCredentials{},
	}
}

// SetPodCredentials sets how long the credentials of Pods are valid, and how long the agent caches them for a token:
// a changed association applies to new credentials only. By default they are valid for six hours, and cached for
// three at the proxy's scale.
func (s *Agent) SetPodCredentials(life, kept time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life, s.retention = life, kept
	clear(s.kept)
}

// PodIdentity returns the endpoint of the EKS Pod Identity Agent, GET /v1/credentials with the Pod's token in
// Authorization. The credentials are those of a session of the role in the ServiceAccount's association, and its
// session policy applies for as long as they are valid: AWS's post "Session policies for Amazon EKS Pod Identity"
// says that a changed one applies "after waiting for the credential cache to expire", and that during its first ten
// seconds Pods "continue to receive credentials with previous permissions".
func (s *Agent) PodIdentity(verify Verifier) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/credentials", func(w http.ResponseWriter, r *http.Request) {
		body, err := s.credentials(r.Context(), r.Header.Get("Authorization"), verify)
		if refused := (&refusal{}); errors.As(err, &refused) {
			http.Error(w, refused.Error(), refused.status)
			return
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		text, err := json.Marshal(body)
		if err != nil {
			http.Error(w, "Unable to serialize credentials", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text) // the client has disconnected
	})
	return mux
}

// refusal is the agent's refusal, as EKS Auth words it.
type refusal struct {
	status        int
	code, message string
}

// Error implements error.
func (e *refusal) Error() string {
	if e.code == "" {
		return e.message
	}
	return "[" + wire.RequestID(wire.RESTJSON) + "]: (" + e.code + "): " + e.message + ", fault: client"
}

// cannotAssume returns the refusal for a Pod whose association's roles cannot be assumed.
func cannotAssume() error {
	return &refusal{http.StatusBadRequest, "AccessDeniedException", "Unauthorized Exception! EKS does not have " +
		"permissions to assume the associated role."}
}

// credentials returns the credentials of the Pod that a token belongs to.
func (s *Agent) credentials(ctx context.Context, token string, verify Verifier) (credentials, error) {
	if token == "" {
		return credentials{}, &refusal{status: http.StatusBadRequest, message: "Service account token cannot " +
			"be empty"}
	}
	s.mu.Lock()
	kept, ok := s.kept[token]
	s.mu.Unlock()
	if ok && s.now().Before(kept.until) {
		return kept.body, nil
	}
	pod, err := verify(ctx, token)
	switch {
	case errors.Is(err, ErrToken):
		return credentials{}, &refusal{http.StatusBadRequest, "InvalidTokenException", err.Error()}
	case err != nil:
		return credentials{}, fmt.Errorf("verify the token: %w", err)
	}
	a, ok := s.clusters.AssociationOf(pod.Cluster, pod.Namespace, pod.ServiceAccount)
	if !ok {
		return credentials{}, &refusal{
			http.StatusNotFound, "ResourceNotFoundException",
			"No pod identity association found for service account " + pod.Namespace + "/" + pod.ServiceAccount +
				" in cluster " + pod.Cluster.Name,
		}
	}
	body, err := s.open(ctx, pod, a)
	if err != nil {
		return body, err
	}
	s.keep(token, body)
	return body, nil
}

// keep caches the token's credentials.
func (s *Agent) keep(token string, body credentials) {
	s.mu.Lock()
	defer s.mu.Unlock()
	retention := s.retention
	if retention < 0 {
		retention = s.lag.Scaled(cachedFor)
	}
	until := s.now().Add(retention)
	if body.Expiration.Before(until) {
		until = body.Expiration
	}
	s.kept[token] = keptCredentials{until: until, body: body}
}
