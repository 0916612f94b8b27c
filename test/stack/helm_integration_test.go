//go:build integration

package stack_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/test/stack"
)

// helmed is a cluster in which people work with Helm and kubectl.
type helmed struct {
	kubeconfig, values string
}

func (h *helmed) run(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(root, "bin", program), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+h.kubeconfig, "HELM_CACHE_HOME="+filepath.Dir(h.values), "HELM_CONFIG_HOME="+filepath.Dir(h.values), "HELM_DATA_HOME="+filepath.Dir(h.values))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

func (h *helmed) must(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := h.run(t.Context(), program, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// install does what docs/install.md says.
func (h *helmed) install(ctx context.Context, s *stack.Stack) error {
	h.kubeconfig = s.AdminKubeconfig
	operator, portal := s.Settings()
	here := map[string]any{"nodeSelector": map[string]any{"kubernetes.io/hostname": "portico"}, "tolerations": []any{map[string]any{"key": "portico", "operator": "Exists"}}}
	with := func(more map[string]any) map[string]any {
		maps.Copy(more, here)
		return more
	}
	text, err := yaml.Marshal(map[string]any{
		"operator": with(map[string]any{"settings": operator}),
		"portal": with(map[string]any{
			"settings": portal, "publicURL": s.PortalURL, "autoscaling": map[string]any{"enabled": false},
			"oidc": map[string]any{
				"issuerURL": portal["oidc-issuer-url"], "clientID": stack.PortalClient, "clientSecret": map[string]any{"existingSecret": "portico-oidc"},
			},
		}),
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(h.values, text, 0o600); err != nil {
		return err
	}
	for _, step := range [][]string{
		{"kubectl", "create", "namespace", stack.Namespace},
		{"kubectl", "label", "namespace", stack.Namespace, "pod-security.kubernetes.io/enforce=restricted"},
		{"kubectl", "create", "secret", "generic", "portico-oidc", "-n", stack.Namespace, "--from-literal=client-secret=" + stack.PortalSecret},
		{"helm", "install", "portico", filepath.Join(root, "charts", "portico"), "-n", stack.Namespace, "-f", h.values},
	} {
		if _, err := h.run(ctx, step[0], step[1:]...); err != nil {
			return err
		}
	}
	return nil
}

const sessionKeys = "jsonpath={.data.keys}"

// Helm installs, upgrades and uninstalls; what holds data, and sessions, stays.
func TestHelmInstallsUpgradesAndUninstalls(t *testing.T) {
	h := &helmed{values: filepath.Join(t.TempDir(), "values.yaml")}
	s, err := stack.Start(t.Context(), stack.Options{Root: root, Parts: stack.Everything &^ stack.Gateways, Install: h.install})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			s.KeepLogs()
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	answers := func(when string) {
		t.Helper()
		token, err := s.Token(t.Context(), "payments-dev")
		if err != nil {
			t.Fatal(err)
		}
		if got := listBuckets(t, s.PortalURL, token); got != http.StatusOK {
			t.Errorf("%s, the portal answers %d", when, got)
		}
	}
	answers("installed")
	keys := h.must(t, "kubectl", "get", "secret", "portico-session-keys", "-n", stack.Namespace, "-o", sessionKeys)

	h.must(t, "helm", "upgrade", "portico", filepath.Join(root, "charts", "portico"), "-n", stack.Namespace, "-f", h.values,
		"--set", "portal.podAnnotations.upgraded=yes", "--wait", "--timeout=2m")
	answers("upgraded")
	if now := h.must(t, "kubectl", "get", "secret", "portico-session-keys", "-n", stack.Namespace, "-o", sessionKeys); now != keys || keys == "" {
		t.Error("an upgrade made new keys of sessions: everybody was signed out")
	}

	if said := h.must(t, "helm", "test", "portico", "-n", stack.Namespace, "--logs", "--timeout=2m"); !strings.Contains(said, "The cluster has what Portico needs.") {
		t.Errorf("helm test says:\n%s", said)
	}
	h.must(t, "helm", "install", "config", filepath.Join(root, "charts", "portico-config"), "-n", stack.Namespace,
		"--set", "awsProviders.aws-helm.region=eu-west-1", "--set", "hostnameGrants.viewers.suffixes={v.example.com}", "--create-namespace", "--dry-run=server")
	h.must(t, "helm", "install", "config", filepath.Join(root, "charts", "portico-config"), "-n", stack.Namespace, "--set", "awsProviders.aws-helm.region=eu-west-1")
	h.must(t, "helm", "uninstall", "config", "-n", stack.Namespace)
	h.must(t, "helm", "uninstall", "portico", "-n", stack.Namespace, "--wait")
	for _, stays := range [][]string{
		{"awsprovider/" + stack.Provider},
		{"awsprovider/aws-helm"},
		{"crd/s3buckets.portico.dev"},
		{"namespace/portico-gateways"},
		{"secret/portico-session-keys", "-n", stack.Namespace},
	} {
		h.must(t, "kubectl", append([]string{"get"}, stays...)...)
	}
	if left := h.must(t, "kubectl", "get", "deployments,services,validatingadmissionpolicies", "-n", stack.Namespace, "-o", "name"); strings.Contains(left, "portico") {
		t.Errorf("left behind:\n%s", left)
	}
}
