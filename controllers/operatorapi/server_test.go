package operatorapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/portico-platform/portico/api/operatorapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const namespace = "portico-system"

func (k *kubernetes) lease(t *testing.T) *coordinationv1.Lease {
	t.Helper()
	lease, err := k.CoordinationV1().Leases(namespace).Get(t.Context(), operatorapi.Lease, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func (k *kubernetes) patches() int {
	n := 0
	for _, a := range k.Actions() {
		if a.GetVerb() == "patch" {
			n++
		}
	}
	return n
}

func (k *kubernetes) withLease(t *testing.T) *kubernetes {
	t.Helper()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: operatorapi.Lease, Namespace: namespace},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("me")},
	}
	if _, err := k.CoordinationV1().Leases(namespace).Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *kubernetes) server(o Options) *Server {
	return newServer(k.filter(), announcer{k.CoordinationV1().Leases(namespace)}, o,
		Source{Records: memory{record("S3Bucket", "payments", "logs")}, Now: time.Now})
}

// start runs the server until stop, after which logged has its log.
func start(t *testing.T, s *Server) (logged *bytes.Buffer, stop func()) {
	t.Helper()
	logged = &bytes.Buffer{}
	logger := logr.FromSlogHandler(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx, cancel := context.WithCancel(log.IntoContext(t.Context(), logger))
	done := make(chan error, 1)
	go func() { done <- s.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return logged, stop
}

// announced waits until the Lease has the server's address.
func (k *kubernetes) announced(t *testing.T) (url, ca string) {
	t.Helper()
	for range 500 {
		if lease := k.lease(t); lease.Annotations[operatorapi.AnnotationURL] != "" {
			return lease.Annotations[operatorapi.AnnotationURL], lease.Annotations[operatorapi.AnnotationCA]
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("nothing was announced")
	return "", ""
}

// visitor returns a client that trusts one certificate.
func visitor(t *testing.T, ca string) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(ca)) {
		t.Fatal("no certificate")
	}
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{
		RootCAs: roots, ServerName: operatorapi.ServerName, MinVersion: tls.VersionTLS12,
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 5 * time.Second}
}

func TestServesWhatItAnnounces(t *testing.T) {
	k := newKubernetes().withLease(t)
	logged, stop := start(t, k.server(Options{Bind: "127.0.0.1:0", Elected: true}))
	url, ca := k.announced(t)
	if !strings.HasPrefix(url, "https://127.0.0.1:") || strings.HasSuffix(url, ":0") {
		t.Errorf("announced %s", url)
	}
	if lease := k.lease(t); *lease.Spec.HolderIdentity != "me" {
		t.Error("the announcement changed the election")
	}
	client := visitor(t, ca)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		url+operatorapi.ResourcePath("S3Bucket", "payments", "logs"), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer portal")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != 200 || !strings.Contains(string(body), "CreateBucket") {
		t.Errorf("%s %s, want 200 with CreateBucket", resp.Status, body)
	}
	if resp.Proto != "HTTP/1.1" || resp.TLS.Version != tls.VersionTLS13 {
		t.Errorf("%s with TLS %x, want HTTP/1.1 with 1.3", resp.Proto, resp.TLS.Version)
	}
	other, err := newCertificate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := visitor(t, other.pem).Do(req.Clone(t.Context())); err == nil {
		_ = resp.Body.Close()
		t.Error("a server with another certificate is trusted")
	}
	client.CloseIdleConnections()
	stop()
	if text := logged.String(); strings.Contains(text, "Bearer") || strings.Contains(text, "PRIVATE") ||
		!strings.Contains(text, "announced on the Lease") {
		t.Errorf("logged %s", text)
	}
}

func TestWithoutAnElectionNothingIsAnnounced(t *testing.T) {
	k := newKubernetes()
	s := k.server(Options{Bind: "127.0.0.1:0"})
	logged, stop := start(t, s)
	time.Sleep(50 * time.Millisecond)
	stop()
	if n := strings.Count(logged.String(), "leader election is off"); n != 1 || len(k.Actions()) > 0 {
		t.Errorf("said %d times, and sent %v", n, k.Actions())
	}
	if !s.NeedLeaderElection() {
		t.Error("who remembers nothing must not serve")
	}
}

func TestATakenPortStopsNothing(t *testing.T) {
	k := newKubernetes().withLease(t)
	_, stop := start(t, k.server(Options{Bind: "127.0.0.1:0", Elected: true}))
	defer stop()
	url, _ := k.announced(t)
	logged, stopSecond := start(t, k.server(Options{Bind: strings.TrimPrefix(url, "https://"), Elected: true}))
	time.Sleep(50 * time.Millisecond)
	stopSecond() // fails if the server ended with an error
	if !strings.Contains(logged.String(), "--inspect-bind-address") {
		t.Errorf("logged %s", logged)
	}
}

func TestTheAnnouncementComesBack(t *testing.T) {
	k := newKubernetes().withLease(t)
	a := announcer{k.CoordinationV1().Leases(namespace)}
	announce := func(url, ca string, want bool) {
		t.Helper()
		if changed, err := a.announce(t.Context(), url, ca); err != nil || changed != want {
			t.Errorf("announced: %v, %v", changed, err)
		}
	}
	announce("https://a:1", "ca", true)
	announce("https://a:1", "ca", false)
	lease := k.lease(t)
	lease.Annotations = map[string]string{"others": "stay"}
	if _, err := k.CoordinationV1().Leases(namespace).Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	announce("https://a:1", "ca", true)
	announce("https://a:1", "another", true)
	got := k.lease(t)
	if diff := cmp.Diff([]string{"another", "stay", "me"}, []string{
		got.Annotations[operatorapi.AnnotationCA], got.Annotations["others"], *got.Spec.HolderIdentity,
	}); diff != "" {
		t.Errorf("CA, others, HolderIdentity (-want +got):\n%s", diff)
	}
	if n := k.patches(); n != 3 {
		t.Errorf("%d patches, want 3", n)
	}
	for _, act := range k.Actions() {
		if p, ok := act.(clienttesting.PatchAction); ok && (strings.Contains(string(p.GetPatch()), `"spec"`) ||
			strings.Contains(string(p.GetPatch()), "resourceVersion")) {
			t.Errorf("the patch %s touches the election", p.GetPatch())
		}
	}
}

func TestCertificatesAreRenewedBeforeTheirEnd(t *testing.T) {
	now := time.Now()
	s := &Server{now: func() time.Time { return now }}
	renewed := func(want bool) {
		t.Helper()
		before := s.certificate.Load()
		if err := s.renewCertificate(); err != nil {
			t.Fatal(err)
		}
		if got := s.certificate.Load() != before; got != want {
			t.Errorf("renewed: %v", got)
		}
	}
	renewed(true)
	c, err := x509.ParseCertificate(s.certificate.Load().tls.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := c.VerifyHostname(operatorapi.ServerName); err != nil || c.PublicKeyAlgorithm != x509.ECDSA {
		t.Errorf("%v, %s, want a certificate of %s with ECDSA", err, c.PublicKeyAlgorithm, operatorapi.ServerName)
	}
	if c.NotAfter.Sub(now) > lifetime || c.IsCA {
		t.Errorf("NotAfter = %s, IsCA = %v, want at most %s, false", c.NotAfter, c.IsCA, lifetime)
	}
	renewed(false)
	now = now.Add(lifetime - renewal - time.Hour)
	renewed(false)
	now = now.Add(2 * time.Hour)
	renewed(true)
	renewed(false)
}

func TestWhereOthersFindIt(t *testing.T) {
	for advertise, want := range map[string]string{
		"": "127.0.0.1:8443", "10.0.0.7": "10.0.0.7:8443", "fd00::7": "[fd00::7]:8443",
		"inspect.example:9443": "inspect.example:9443",
	} {
		s := &Server{options: Options{Advertise: advertise}}
		if got := s.advertisedAddress(&net.TCPAddr{IP: net.IPv6zero, Port: 8443}); got != want {
			t.Errorf("%q: %s, want %s", advertise, got, want)
		}
	}
	for bind, off := range map[string]bool{"": true, "0": true, ":8443": false} {
		if (Options{Bind: bind}).Disabled() != off {
			t.Errorf("%q is off: %v", bind, !off)
		}
	}
}

func TestRequestsAtATimeAreBounded(t *testing.T) {
	enter, leave := make(chan struct{}), make(chan struct{})
	h := limitRequests(1, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { enter <- struct{}{}; <-leave }))
	go call(h, "/", "")
	<-enter
	if w := call(h, "/", ""); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("one more: %d", w.Code)
	}
	close(leave)
}
