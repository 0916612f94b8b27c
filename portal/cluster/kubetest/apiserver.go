package kubetest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// Account is the ServiceAccount that impersonates.
var Account = types.NamespacedName{Namespace: "portico-system", Name: "portico-impersonator"}

// APIServer records its requests.
type APIServer struct {
	Clock   *clocktesting.FakePassiveClock // by which its tokens expire
	Seen    []*http.Request
	Bodies  []string
	Answer  func(w http.ResponseWriter)
	Minted  int // tokens
	MintErr error

	mu  sync.Mutex
	url string
}

// NewAPIServer returns a server that answers every request with an empty bucket.
func NewAPIServer(tb testing.TB) *APIServer {
	tb.Helper()
	s := &APIServer{
		Clock: clocktesting.NewFakePassiveClock(clock.RealClock{}.Now()),
		Answer: func(w http.ResponseWriter) {
			Reply(w, http.StatusOK, map[string]any{"kind": "S3Bucket", "apiVersion": "portico.dev/v1alpha1"})
		},
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		s.Seen, s.Bodies = append(s.Seen, r), append(s.Bodies, string(body))
		w.Header().Set("Audit-Id", "audit-"+r.Method)
		s.Answer(w)
	}))
	tb.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// Reply writes a response.
func Reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client has gone
}

// Config returns the portal's own credentials.
func (s *APIServer) Config() *rest.Config {
	return &rest.Config{Host: s.url, BearerToken: "own", Username: "own", Password: "own"}
}

// Reader returns a client with the portal's own identity.
func (s *APIServer) Reader(tb testing.TB) dynamic.Interface {
	tb.Helper()
	c, err := dynamic.NewForConfig(&rest.Config{Host: s.url, BearerToken: "own"})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// Minter returns a client that requests tokens.
func (s *APIServer) Minter() kubernetes.Interface {
	client := fake.NewClientset()
	client.PrependReactor("create", "serviceaccounts/token", func(a clienttesting.Action) (
		bool, runtime.Object, error,
	) {
		s.Minted++
		seconds := *a.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenRequest).Spec.ExpirationSeconds
		return true, &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{
			Token: "token-" + strconv.Itoa(s.Minted), ExpirationTimestamp: metav1.NewTime(
				s.Clock.Now().Add(time.Duration(seconds) * time.Second)),
		}}, s.MintErr
	})
	return client
}
