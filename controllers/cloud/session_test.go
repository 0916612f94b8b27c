package cloud

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// stsServer responds to GetCallerIdentity: with an account, with an error code, or not at all while hang is open.
type stsServer struct {
	account atomic.Value // string
	code    atomic.Value // string; "" for success
	hang    chan struct{}
	asked   atomic.Int64
}

func (s *stsServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	w.Header().Set("X-Amzn-Requestid", "r-1")
	if s.hang != nil {
		select {
		case <-s.hang:
		case <-r.Context().Done():
			return
		}
	}
	if code := s.code.Load().(string); code != "" {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`<ErrorResponse><Error><Code>` + code +
			`</Code><Message>no</Message></Error></ErrorResponse>`))
		return
	}
	account := s.account.Load().(string)
	_, _ = w.Write([]byte(`<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::` + account +
		`:user/x</Arn><Account>` + account + `</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`))
}

type fixedSecrets struct{ version string }

func (f fixedSecrets) Version(context.Context, string) (string, error) { return f.version, nil }

func (fixedSecrets) Value(context.Context, v1alpha1.SecretKeyRef) (string, error) { return "key", nil }

func sessionsOver(t *testing.T, s *stsServer) (*Sessions, *v1alpha1.AWSProvider) {
	t.Helper()
	s.account.Store("111122223333")
	s.code.Store("")
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	ref := &v1alpha1.SecretKeyRef{Name: "aws", Key: "k"}
	sessions := NewSessions(fixedSecrets{"1"}, "cluster", "", &Limiters{Rates: DefaultRates(), Now: time.Now})
	sessions.Endpoints = Endpoints{server.URL}
	return sessions, &v1alpha1.AWSProvider{
		ObjectMeta: metav1.ObjectMeta{Name: "aws", UID: "p"},
		Spec:       v1alpha1.AWSProviderSpec{Region: "eu-west-1", AccessKeyIDRef: ref, SecretAccessKeyRef: ref, Endpoint: server.URL},
	}
}

func TestAPassThatIsOverDoesNotWaitForOthers(t *testing.T) {
	s := &stsServer{hang: make(chan struct{})}
	sessions, p := sessionsOver(t, s)
	first := make(chan error, 1)
	go func() { _, err := sessions.For(context.Background(), p, ""); first <- err }()
	for s.asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sessions.For(over, p, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("whose time was over got %v", err)
	}
	close(s.hang)
	if err := <-first; err != nil {
		t.Errorf("who went first got %v", err)
	}
}

func TestWhatPassesTakesNothingFromASessionThatWorks(t *testing.T) {
	s := &stsServer{}
	sessions, p := sessionsOver(t, s)
	made, err := sessions.For(t.Context(), p, "")
	if err != nil {
		t.Fatal(err)
	}
	again, err := sessions.Verify(t.Context(), p)
	if err != nil || again != made {
		t.Errorf("a session that is verified again is another one: %v", err)
	}
	s.code.Store("Throttling")
	if _, err := sessions.Verify(t.Context(), p); err == nil {
		t.Fatal("verified by an STS that throttles")
	}
	asked := s.asked.Load()
	if kept, err := sessions.For(t.Context(), p, ""); err != nil || kept != made || s.asked.Load() != asked {
		t.Errorf("the session is lost to a throttled check: %v", err)
	}
	s.code.Store("InvalidClientTokenId")
	if _, err := sessions.Verify(t.Context(), p); err == nil {
		t.Fatal("verified with keys that AWS refuses")
	}
	if _, err := sessions.For(t.Context(), p, ""); err == nil ||
		!strings.Contains(err.Error(), "InvalidClientTokenId") {
		t.Errorf("a session lives on whose keys AWS refuses: %v", err)
	}
}

func TestCredentialsOfAnotherAccountAreAnotherSession(t *testing.T) {
	s := &stsServer{}
	sessions, p := sessionsOver(t, s)
	made, err := sessions.For(t.Context(), p, "")
	if err != nil {
		t.Fatal(err)
	}
	s.account.Store("999988887777")
	other, err := sessions.Verify(t.Context(), p)
	if err != nil || other == made || other.AccountID != "999988887777" {
		t.Errorf("the session says account %s after a change: %v", other.AccountID, err)
	}
	if now, err := sessions.For(t.Context(), p, ""); err != nil || now != other {
		t.Errorf("the old account's session is still in use: %v", err)
	}
	sessions.Forget(p)
	asked := s.asked.Load()
	if _, err := sessions.For(t.Context(), p, ""); err != nil || s.asked.Load() == asked {
		t.Errorf("a forgotten provider's session was kept: %v", err)
	}
}
