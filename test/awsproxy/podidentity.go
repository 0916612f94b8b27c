package awsproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// podSessionLife is how long the credentials of a Pod are valid: EKS issues them for six hours.
	podSessionLife = 6 * time.Hour
	// chainedLife is the maximum validity of the credentials of a target role, as of any role that another role
	// assumes ("Role chaining" in IAM's guide).
	chainedLife = time.Hour
	// podRetention is how long the agent returns its cached credentials for a token before it requests new ones: its
	// flag max-credential-retention-before-renewal.
	podRetention = 3 * time.Hour
)

// Pod holds the claims of a Pod's token.
type Pod struct {
	Cluster                   EKSCluster
	Namespace, ServiceAccount string
	Name, UID                 string
}

// ErrPodToken is the error of a PodVerifier for a token that is not valid.
var ErrPodToken = errors.New("the token is not valid")

// PodVerifier returns the Pod that a token belongs to. An error that is not [ErrPodToken] is a failure of the
// verification itself.
type PodVerifier func(ctx context.Context, token string) (Pod, error)

// podSessions issues the credentials of Pods.
type podSessions struct {
	upstream *upstream
	clusters *eksService
	roles    *roleBook
	sessions *stsService
	keys     issuer
	lag      *lag
	now      func() time.Time

	mu        sync.Mutex
	life      time.Duration
	retention time.Duration // -1 means AWS's own, at the proxy's scale
	kept      map[string]keptCredentials
}

// keptCredentials are the credentials that the agent has cached for a token.
type keptCredentials struct {
	until time.Time
	body  podCredentials
}

// podCredentials is the agent's response to SDKs.
type podCredentials struct {
	AccessKeyID     string    `json:"AccessKeyId"`
	SecretAccessKey string    `json:"SecretAccessKey"`
	Token           string    `json:"Token"`
	AccountID       string    `json:"AccountId"`
	Expiration      time.Time `json:"Expiration"`
}

func newPodSessions(
	up *upstream, roles *roleBook, clusters *eksService, sessions *stsService, keys issuer, lag *lag,
	now func() time.Time,
) *podSessions {
	return &podSessions{
		upstream: up, clusters: clusters, roles: roles, sessions: sessions, keys: keys, lag: lag, now: now,
		life: podSessionLife, retention: -1, kept: map[string]keptCredentials{},
	}
}

// SetPodCredentials sets how long the credentials of Pods are valid, and how long the agent caches them for a token:
// a changed association applies to new credentials only. By default they are valid for six hours, and cached for
// three at the proxy's scale.
func (s *podSessions) SetPodCredentials(life, kept time.Duration) {
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
func (s *podSessions) PodIdentity(verify PodVerifier) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/credentials", func(w http.ResponseWriter, r *http.Request) {
		body, err := s.credentials(r.Context(), r.Header.Get("Authorization"), verify)
		if refused := (&podError{}); errors.As(err, &refused) {
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

// podError is the agent's refusal, as EKS Auth words it.
type podError struct {
	status        int
	code, message string
}

func (e *podError) Error() string {
	if e.code == "" {
		return e.message
	}
	return "[" + requestID(protoRESTJSON) + "]: (" + e.code + "): " + e.message + ", fault: client"
}

// cannotAssume returns the refusal for a Pod whose association's roles cannot be assumed.
func cannotAssume() error {
	return &podError{http.StatusBadRequest, "AccessDeniedException", "Unauthorized Exception! EKS does not have " +
		"permissions to assume the associated role."}
}

// credentials returns the credentials of the Pod that a token belongs to.
func (s *podSessions) credentials(ctx context.Context, token string, verify PodVerifier) (podCredentials, error) {
	if token == "" {
		return podCredentials{}, &podError{status: http.StatusBadRequest, message: "Service account token cannot " +
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
	case errors.Is(err, ErrPodToken):
		return podCredentials{}, &podError{http.StatusBadRequest, "InvalidTokenException", err.Error()}
	case err != nil:
		return podCredentials{}, fmt.Errorf("verify the token: %w", err)
	}
	a, ok := s.clusters.associationOf(pod.Cluster, pod.Namespace, pod.ServiceAccount)
	if !ok {
		return podCredentials{}, &podError{
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
func (s *podSessions) keep(token string, body podCredentials) {
	s.mu.Lock()
	defer s.mu.Unlock()
	retention := s.retention
	if retention < 0 {
		retention = s.lag.scaled(podRetention)
	}
	until := s.now().Add(retention)
	if body.Expiration.Before(until) {
		until = body.Expiration
	}
	s.kept[token] = keptCredentials{until: until, body: body}
}
