package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBackupAndRestoreExplainWhatIsInTheWay(t *testing.T) {
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api/v1/namespaces/kube-system":
			_,
				_ = w.Write(
				[]byte(`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": "u"}}`))
		case "/api/v1/namespaces":
			_, _ = w.Write([]byte(`{"apiVersion": "v1", "kind": "NamespaceList", "items": []}`))
		default:
			w.WriteHeader(http.StatusNotFound)
			_,
				_ = w.Write(
				[]byte(
					`{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}`))
		}
	}))
	defer empty.Close()
	there := filepath.Join(t.TempDir(), "there.yaml")
	saved := filepath.Join(t.TempDir(), "saved.yaml")
	for path, text := range map[string]string{
		there: "mine", saved: "apiVersion: backup.portico.dev/v1\nkind: Backup\nclusterID: c\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := kubeconfigOf(t, empty.URL)
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"backup without a cluster":      {[]string{"backup", "--kubeconfig", "/does/not/exist"}, 1, "Name a kubeconfig with --kubeconfig"},
		"backup without Portico":        {[]string{"backup", "--kubeconfig", at}, 1, "is Portico installed there"},
		"restore without an answer":     {[]string{"restore", saved, "--kubeconfig", at}, 2, "restore needs --yes where nobody can be asked"},
		"restore of nothing":            {[]string{"restore", "/does/not/exist", "--yes"}, 1, "no such file"},
		"restore of something else":     {[]string{"restore", there, "--yes"}, 1, "that is no backup of Portico"},
		"restore without a cluster":     {[]string{"restore", saved, "--yes", "--kubeconfig", "/does/not/exist"}, 1, "Name a kubeconfig with --kubeconfig"},
		"restore of an empty backup":    {[]string{"restore", saved, "--yes", "--kubeconfig", at}, 0, "--cluster-id=c"},
		"restore without naming a file": {[]string{"restore"}, 2, "FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, said := newTerminal(t, "").run(c.code, c.args...); !strings.Contains(said, c.says) {
				t.Errorf("it does not say %q:\n%s", c.says, said)
			}
		})
	}
}
