//go:build integration

package stack_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/test/planted"
	"github.com/portico-platform/portico/test/stack"
)

// TestEverythingStartsTogether starts what make run starts, and uses it over REST as two of the sample users.
func TestEverythingStartsTogether(t *testing.T) {
	all, err := stack.Start(t.Context(), stack.Options{Root: root, Parts: stack.Everything, Progress: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			all.KeepLogs()
		}
		if err := all.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, zone := range []stack.Zone{{Domain: stack.Domain}, {Domain: stack.Domain, Private: true}} {
		if id := all.Zones[zone]; !strings.HasPrefix(id, "Z") {
			t.Errorf("zone %+v has the ID %q", zone, id)
		}
	}
	for user, want := range map[string]int{"payments-dev": http.StatusOK, "search-dev": http.StatusForbidden} {
		token, err := all.Token(t.Context(), user)
		if err != nil {
			t.Fatal(err)
		}
		if got := listBuckets(t, all.PortalURL, token); got != want {
			t.Errorf("%s lists the buckets of payments: status %d, want %d", user, got, want)
		}
	}
	hostnamesAnswer(t, all)
	runsAsInstalled(t, all)
	secretsAreKept(t, all)
	if err := all.Err(); err != nil {
		t.Error(err)
	}
}

// secretsAreKept searches for the stack's secrets in its logs, metrics and objects.
func secretsAreKept(t *testing.T, s *stack.Stack) {
	t.Helper()
	secrets, err := planted.Begin(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wait, err := secrets.Watch(ctx, s.Admin)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"operator", "portal"} {
		err = errors.Join(err, secrets.Metrics(ctx, s.Admin, stack.Namespace, s.AddressOf(part, "metrics")))
	}
	cancel()
	wait()
	if err = errors.Join(err, secrets.Logs(s.Dir)); err != nil {
		t.Error(err)
	}
	if secrets.Report(os.Stderr) != 0 {
		t.Error("a secret was found where none may be")
	}
}

// runsAsInstalled checks that operator and portal run in Pods from the rendered chart: with their logs, with metrics
// for those who have permission to read them, and replaced when deleted.
func runsAsInstalled(t *testing.T, s *stack.Stack) {
	t.Helper()
	kubectl := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "kubectl"),
			append([]string{"--kubeconfig", s.AdminKubeconfig, "-n", stack.Namespace}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("kubectl %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for _, name := range []string{"operator", "portal"} {
		if log := kubectl("logs", "deployment/portico-"+name, "--tail=2"); strings.Count(log, "\n") != 2 {
			t.Errorf("the log of %s ends with %q", name, log)
		}
	}
	kubectl("rollout", "restart", "deployment/portico-portal")
	kubectl("rollout", "status", "deployment/portico-portal", "--timeout=60s")
	renewed := func() string {
		return kubectl("get", "lease", "portico", "-n", "kube-node-lease", "-o", "jsonpath={.spec.renewTime}")
	}
	first := renewed()
	eventually(t, "a heartbeat of the Node", time.Minute, func(context.Context) (bool, error) {
		return renewed() != first, nil
	})
	token := strings.TrimSpace(kubectl("create", "token", "default"))
	if got := metrics(t, s, ""); got != http.StatusUnauthorized {
		t.Errorf("metrics without a token: %d", got)
	}
	if got := metrics(t, s, token); got != http.StatusForbidden {
		t.Errorf("metrics without the right: %d", got)
	}
	kubectl("create", "clusterrolebinding", "metrics", "--clusterrole=portico-metrics-reader", "--serviceaccount="+
		stack.Namespace+":default")
	// a denial is cached for some seconds
	eventually(t, "metrics with the right", time.Minute, func(context.Context) (bool, error) {
		return metrics(t, s, token) == http.StatusOK, nil
	})
}

// metrics asks the operator for its metrics.
func metrics(t *testing.T, s *stack.Stack, token string) (status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+s.AddressOf("operator", "metrics")+
		"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}
