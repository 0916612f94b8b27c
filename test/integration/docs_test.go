//go:build integration

package integration

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/test/stack"
)

// TestTheShellLinesOfThePagesRun types what the pages print for curl and kubectl, one page after the other on the same
// platform, as somebody does who reads on. docs/cli.md has a test of its own.
func TestTheShellLinesOfThePagesRun(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	startOperator(t, operatorOptions{})
	tools, err := filepath.Abs("../../bin")
	if err != nil {
		t.Fatal(err)
	}
	env := slices.Concat(os.Environ(), []string{
		"PATH=" + tools + ":" + os.Getenv("PATH"), "KUBECONFIG=" + world.Kubeconfig,
		"PORTAL=" + p.url, "TOKEN=" + userToken(t, stack.Users[0].Name),
	})
	shell := func(ctx context.Context, script string) (string, error) {
		cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
		cmd.Dir, cmd.Env = "../..", env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	t.Cleanup(func() {
		out, err := shell(context.WithoutCancel(t.Context()),
			"kubectl delete s3buckets -n payments --ignore-not-found --timeout=1m statements invoices exports receipts")
		if err != nil {
			t.Errorf("the buckets stay: %v: %s", err, out)
		}
	})
	here := strings.NewReplacer(
		"http://127.0.0.1:8080", p.url, "http://localhost:8080", p.url, "http://127.0.0.1:5556/dex", world.Issuer,
		"export KUBECONFIG=$PWD/.run/local/kubeconfig", "export",
		"curl -sSN", "curl -sSN --max-time 3", // a stream, which does not end: 28 says that the time is over
		"kubectl --context search-dev get s3buckets -n payments", "(kubectl --context search-dev get s3buckets -n payments 2>&1 || true) | grep Forbidden",
	)
	for _, page := range []string{"README.md", "docs/rest-api.md", "docs/user-guide.md"} {
		script := "curl() { command curl --fail-with-body \"$@\" || [ $? = 28 ]; }\n" + here.Replace(shellLines(t, page))
		if out, err := shell(t.Context(), script); err != nil {
			t.Errorf("%s\nof %s end with %v:\n%s", script, page, err, out)
		}
	}
}

// shellLines are a page's, but for those that start the platform, need a person, or the AWS CLI.
func shellLines(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", page))
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i, part := range strings.Split(string(text), "```") {
		block, ok := strings.CutPrefix(part, "sh\n")
		if i%2 == 1 && ok && !strings.Contains(block, "make run") && !strings.Contains(block, "portico login") && !strings.HasPrefix(block, "aws ") {
			lines.WriteString(block)
		}
	}
	if lines.Len() == 0 {
		t.Fatalf("%s has no lines", page)
	}
	return lines.String()
}
