//go:build integration

package stack_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/test/stack"
)

// hostnamesAnswer requests an application with a hostname, as a user does, and opens its URL.
func hostnamesAnswer(t *testing.T, s *stack.Stack) {
	t.Helper()
	host := "notes.payments." + stack.Domain
	status, text := open(t, s, "https://"+net.JoinHostPort(host, strconv.Itoa(s.LoadBalancerPort()))+"/")
	if status != http.StatusServiceUnavailable || !strings.Contains(text, "No DNS record leads "+host) {
		t.Errorf("before it is requested: %d, %s", status, text)
	}
	kubectl := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "kubectl"),
			append([]string{"--kubeconfig", s.Kubeconfig, "--context", "payments-dev"}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("kubectl %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	kubectl(`
apiVersion: portico.dev/v1alpha1
kind: GatewayHostnameRequest
metadata: {name: notes}
spec:
  providerRef: {name: `+stack.Provider+`}
  hostname: `+host+`
  zoneId: `+s.Zones[stack.Zone{Domain: stack.Domain}]+`
---
apiVersion: portico.dev/v1alpha1
kind: WebApp
metadata: {name: notes}
spec:
  image: registry.example.com/notes:1
  expose: {hostname: notes}
  env: [{name: GREETING, value: not-shown}]
`, "apply", "-f", "-")
	kubectl("", "wait", "webapp/notes", "--for=condition=Ready", "--timeout=2m")
	url := kubectl("", "get", "webapp", "notes", "-o", "jsonpath={.status.url}")
	if want := "https://" + net.JoinHostPort(host, strconv.Itoa(s.LoadBalancerPort())); !strings.HasPrefix(url, want) {
		t.Errorf("the application's URL is %s, want %s", url, want)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the last answer: %d, %s", status, text)
		}
	})
	eventually(t, "the page says whose Pod this would be", time.Minute, func(context.Context) (bool, error) {
		status, text = open(t, s, url)
		return status == http.StatusOK, nil
	})
	for _, part := range []string{
		host + " leads here", "payments/notes-", "Running", "registry.example.com/notes:1", "GREETING",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %q: %s", part, text)
		}
	}
	if strings.Contains(text, "not-shown") {
		t.Error("the page shows values of the environment")
	}
	kubectl("", "delete", "webapp/notes", "--wait")
	kubectl("", "delete", "gatewayhostnamerequest/notes", "--wait")
}

// open requests a URL as a browser that trusts the stage's authority for hostnames, and nothing else.
func open(t *testing.T, s *stack.Stack, url string) (status int, text string) {
	t.Helper()
	authority, err := os.ReadFile(s.HostnamesCAFile())
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			local := net.JoinHostPort("127.0.0.1", strconv.Itoa(s.LoadBalancerPort()))
			return (&net.Dialer{}).DialContext(ctx, network, local)
		},
	}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	got, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, string(body)
}
