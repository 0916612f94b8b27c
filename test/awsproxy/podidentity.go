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
	// podSessionLife is how long the credentials of a Pod last: EKS gives them for
	// six hours.
	podSessionLife = 6 * time.Hour
	// chainedLife is how long those of a target role last at the most, as of any
	// role that is assumed by another ("Role chaining" in IAM's guide).
	chainedLife = time.Hour
	// podRetention is how long the agent gives out the credentials that it has
	// before it asks for new ones, for the same token: its flag
	// max-credential-retention-before-renewal.
	podRetention = 3 * time.Hour
)

// Pod is what a Pod's token says.
type Pod struct {
	Cluster                   EKSCluster
	Namespace, ServiceAccount string
	Name, UID                 string
}

// ErrPodToken is the error of a PodVerifier for a token that is not valid.
var ErrPodToken = errors.New("the token is not valid")

// PodVerifier tells whose a token is. An error that is no [ErrPodToken] is one
// of the verification itself.
type PodVerifier func(ctx context.Context, token string) (Pod, error)

// podSessions gives out the credentials of Pods.
type podSessions struct {
	proxy *Proxy

	mu        sync.Mutex
	life      time.Duration
	retention time.Duration // -1 is AWS's own, at the proxy's scale
	kept      map[string]keptCredentials
}

// keptCredentials are those that the agent keeps for a token.
type keptCredentials struct {
	until time.Time
	body  podCredentials
}

// podCredentials are as the agent answers, for SDKs.
type podCredentials struct {
	AccessKeyID     string    `json:"AccessKeyId"`
	SecretAccessKey string    `json:"SecretAccessKey"`
	Token           string    `json:"Token"`
	AccountID       string    `json:"AccountId"`
	Expiration      time.Time `json:"Expiration"`
}

func newPodSessions(p *Proxy) *podSessions {
	return &podSessions{proxy: p, life: podSessionLife, retention: -1, kept: map[string]keptCredentials{}}
}

// SetPodCredentials sets how long the credentials of Pods last, and how long the
// agent keeps them for a token: a changed association holds for new ones only.
// By default they last six hours, and are kept for three at the proxy's scale.
func (p *Proxy) SetPodCredentials(life, kept time.Duration) {
	p.pods.mu.Lock()
	defer p.pods.mu.Unlock()
	p.pods.life, p.pods.retention = life, kept
	clear(p.pods.kept)
}

// PodIdentity returns the endpoint of the EKS Pod Identity Agent, GET
// /v1/credentials with the Pod's token in Authorization. The credentials are
// those of a session of the role that the ServiceAccount's association names,
// with its session policy for as long as they last: AWS's post "Session policies
// for Amazon EKS Pod Identity" says that a changed one holds "after waiting for
// the credential cache to expire", and of its first ten seconds that Pods
// "continue to receive credentials with previous permissions".
func (p *Proxy) PodIdentity(verify PodVerifier) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/credentials", func(w http.ResponseWriter, r *http.Request) {
		body, err := p.pods.credentials(r.Context(), r.Header.Get("Authorization"), verify)
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
		_, _ = w.Write(text) // whoever asked is gone
	})
	return mux
}

// podError is a refusal of the agent, in the words of EKS Auth.
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

// cannotAssume refuses a Pod whose association's roles cannot be assumed.
func cannotAssume() error {
	return &podError{http.StatusBadRequest, "AccessDeniedException", "Unauthorized Exception! EKS does not have permissions to assume the associated role."}
}

// credentials returns those of the Pod that a token is of.
func (s *podSessions) credentials(ctx context.Context, token string, verify PodVerifier) (podCredentials, error) {
	if token == "" {
		return podCredentials{}, &podError{status: http.StatusBadRequest, message: "Service account token cannot be empty"}
	}
	s.mu.Lock()
	kept, ok := s.kept[token]
	s.mu.Unlock()
	if ok && s.proxy.now().Before(kept.until) {
		return kept.body, nil
	}
	pod, err := verify(ctx, token)
	switch {
	case errors.Is(err, ErrPodToken):
		return podCredentials{}, &podError{http.StatusBadRequest, "InvalidTokenException", err.Error()}
	case err != nil:
		return podCredentials{}, fmt.Errorf("verify the token: %w", err)
	}
	a, ok := s.proxy.clusters.of(pod.Cluster, pod.Namespace, pod.ServiceAccount)
	if !ok {
		return podCredentials{}, &podError{
			http.StatusNotFound, "ResourceNotFoundException",
			"No pod identity association found for service account " + pod.Namespace + "/" + pod.ServiceAccount + " in cluster " + pod.Cluster.Name,
		}
	}
	body, err := s.open(ctx, pod, a)
	if err != nil {
		return body, err
	}
	s.keep(token, body)
	return body, nil
}

// keep has the token's credentials given out again.
func (s *podSessions) keep(token string, body podCredentials) {
	s.mu.Lock()
	defer s.mu.Unlock()
	retention := s.retention
	if retention < 0 {
		retention = s.proxy.lag.scaled(podRetention)
	}
	until := s.proxy.now().Add(retention)
	if body.Expiration.Before(until) {
		until = body.Expiration
	}
	s.kept[token] = keptCredentials{until: until, body: body}
}
