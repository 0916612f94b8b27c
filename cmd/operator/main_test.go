package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// TestTheClientHasNoLimitOfItsOwn: client-go's default, 5 requests a second, would limit the operator.
func TestTheClientHasNoLimitOfItsOwn(t *testing.T) {
	cfg := clientOf(t, parsed(t))
	if cfg.QPS >= 0 {
		t.Errorf("QPS %v", cfg.QPS)
	}
}

// TestWaitingForASlotIsNoSilence: a write that got no slot in time was never sent to the API server.
func TestWaitingForASlotIsNoSilence(t *testing.T) {
	f := parsed(t)
	client, err := rest.HTTPClientFor(clientOf(t, f))
	if err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	for _, c := range []struct {
		ctx    context.Context
		silent bool
	}{{late, false}, {t.Context(), true}} {
		request, err := http.NewRequestWithContext(c.ctx, http.MethodPost, "https://127.0.0.1:1/api", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := client.Do(request); err == nil {
			_ = resp.Body.Close()
			t.Error("something answers")
		}
		if err := f.silence.Err(); (err != nil) != c.silent {
			t.Errorf("it does not answer: %v, want %t", err, c.silent)
		}
	}
}

// parsed returns the flags with a kubeconfig that leads nowhere.
func parsed(t *testing.T) *flags {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: https://127.0.0.1:1}}]\ncontexts: [{name: c, context: {cluster: c}}]\n"
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := parse([]string{"--namespace=n", "--kubeconfig=" + kubeconfig}, environment(), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func clientOf(t *testing.T, f *flags) *rest.Config {
	t.Helper()
	cfg, err := f.restConfig()
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}
