package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestTheClientHasNoLimitOfItsOwn: client-go's default, 5 requests a second, would limit the operator.
func TestTheClientHasNoLimitOfItsOwn(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: https://127.0.0.1:1}}]\ncontexts: [{name: c, context: {cluster: c}}]\n"
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := parse([]string{"--namespace=n", "--kubeconfig=" + kubeconfig}, environment(), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := f.restConfig()
	if err != nil || cfg.QPS >= 0 {
		t.Errorf("QPS %v, %v", cfg.QPS, err)
	}
}
