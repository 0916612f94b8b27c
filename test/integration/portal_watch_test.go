//go:build integration

package integration

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
)

func TestRESTWatchesBuckets(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	token, name := userToken(t, "payments-dev"), unique("watched")
	remove(t, "payments", name)
	base := "/namespaces/payments/s3buckets"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/api/v1"+base+
		"?watch=true&labelSelector=watched%3Dyes", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept-Encoding", "gzip") // a stream must not be compressed
	resp, err := programs(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" ||
		resp.Header.Get("Content-Encoding") != "" {
		t.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	next := func(event, want string) {
		t.Helper()
		for lines.Scan() {
			if lines.Text() != "event: "+event {
				continue
			}
			if lines.Scan(); strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("the stream ends before %s of %s: %v", event, want, lines.Err())
	}
	next("snapshot", `"complete":true`)
	body := bucketBody(name, "")
	body["metadata"].(map[string]any)["labels"] = map[string]any{"watched": "yes"}
	p.call(t, token, "PUT", base+"/"+name, body, "If-None-Match", "*").want(t, http.StatusCreated)
	next("changed", `"name":"`+name+`"`)
	p.call(t, token, "PATCH", base+"/"+name,
		map[string]any{"metadata": map[string]any{"labels": map[string]any{"watched": "no"}}},
		"If-Match", "*", "Content-Type", mergePatch).want(t, http.StatusOK)
	next("deleted", `"reason":"unmatched"`)
	p.call(t, token, "PATCH", base+"/"+name,
		map[string]any{"metadata": map[string]any{"labels": map[string]any{"watched": "yes"}}},
		"If-Match", "*", "Content-Type", mergePatch).want(t, http.StatusOK)
	next("changed", `"name":"`+name+`"`)
	letGo(t, name)
	p.call(t, token, "DELETE", base+"/"+name, nil).want(t, http.StatusOK)
	next("deleted", `"reason":"gone"`)
}
