package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kubeconfigOf writes a kubeconfig for a server and returns its path.
func kubeconfigOf(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := "{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: '" + server +
		"'}}], contexts: [{name: c, context: {cluster: c}}], current-context: c}"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCheckExplainsWhatIsInTheWay(t *testing.T) {
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			_, _ = w.Write([]byte(`{"gitVersion": "v1.33.1"}`))
			return
		}
		http.NotFound(w, r)
	}))
	defer old.Close()
	for name, c := range map[string]struct {
		args []string
		code int
		out  []string
		says []string
	}{
		"no kubeconfig": {[]string{"--kubeconfig", "/does/not/exist"}, 1, nil, []string{"portico: finding the cluster: ", "\n  Name a kubeconfig with --kubeconfig"}},
		"no such context": {
			[]string{"--kubeconfig", kubeconfigOf(t, old.URL), "--context", "x"},
			1, nil,
			[]string{`context "x" does not exist`, "--context"},
		},
		"nobody answers":      {[]string{"--kubeconfig", kubeconfigOf(t, "http://127.0.0.1:1")}, 1, nil, []string{"ask the API server for its version", "refused"}},
		"nobody can be asked": {[]string{"--fix"}, 2, nil, []string{"--fix needs --yes where nobody can be asked"}},
		"two things at once":  {[]string{"--fix", "--before"}, 2, nil, []string{"leave one out"}},
		"an unknown format":   {[]string{"-o", "wide"}, 2, nil, []string{`-o "wide"`}},
		"an old Kubernetes": {
			[]string{"--before", "--kubeconfig", kubeconfigOf(t, old.URL)},
			1,
			[]string{
				"✗   Kubernetes version", "v1.33.1 is older than 1.36", "upgrade Kubernetes",
				"–   Gateway API",
			},
			[]string{"the cluster lacks what Portico needs"},
		},
		"the same for programs": {[]string{"--before", "-o", "json", "--kubeconfig", kubeconfigOf(t, old.URL)}, 1, []string{`"ok": false`, `"state": "lacking"`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			out, said := newTerminal(t, "").run(c.code, append([]string{"check"}, c.args...)...)
			for _, want := range c.out {
				if !strings.Contains(out, want) {
					t.Errorf("the output lacks %q:\n%s", want, out)
				}
			}
			for _, want := range c.says {
				if !strings.Contains(said, want) {
					t.Errorf("it does not say %q:\n%s", want, said)
				}
			}
		})
	}
}
