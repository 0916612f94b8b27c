//go:build integration || image

package stack_test

import (
	"net/http"
	"testing"
)

// root is the repository's root.
const root = "../.."

// long skips a test that make test leaves to CI, which takes some time and shows a newcomer little.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("make test leaves it out, for its time; CI runs it")
	}
}

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
