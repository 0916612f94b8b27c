//go:build integration

package stack_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/portico-platform/portico/test/stack"
)

// What make run starts, asked over REST by two of the sample users.
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
	if err := all.Err(); err != nil {
		t.Error(err)
	}
}

func listBuckets(t *testing.T, portal, token string) (status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, portal+"/api/v1/namespaces/payments/s3buckets", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}
