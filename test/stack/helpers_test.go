//go:build integration || image

package stack_test

import (
	"net/http"
	"testing"
)

// root is the repository's root.
const root = "../.."

func listBuckets(t *testing.T, portal, token string) (status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, portal+"/api/v1/namespaces/payments/s3buckets",
		nil)
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
