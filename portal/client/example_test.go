package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/client"
)

// Requests a bucket, waits for it, reads it, changes it and deletes it.
func Example() {
	portal := examplePortal()
	defer portal.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()

	c, err := client.New(client.Options{Server: portal.URL, Token: client.StaticToken("token")})
	if err != nil {
		fmt.Println(err)
		return
	}
	buckets := c.S3Buckets("payments")

	wanted := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "reports"}}
	wanted.Spec.ProviderRef.Name = "aws"
	made, err := buckets.Create(ctx, wanted, client.CreateOptions{})
	if err != nil {
		fmt.Println("request:", err)
		return
	}
	fmt.Println("requested:", made.Created)

	// Ready counts only if the status is about the generation that was written: the watch can begin with an older one.
	for change, err := range buckets.WatchOne(ctx, "reports") {
		if err != nil {
			fmt.Println("wait:", err)
			return
		}
		b := change.Object
		if len(change.Snapshot) > 0 {
			b = &change.Snapshot[0]
		}
		fresh := b != nil && b.UID == made.Object.UID && b.Status.ObservedGeneration >= made.Object.Generation
		if fresh && meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionReady) {
			break
		}
	}

	// Reads past the cache before a change. IfMatch makes sure that another change is not overwritten.
	got, err := buckets.Get(ctx, "reports", client.GetOptions{CacheControl: "no-cache"})
	if err != nil {
		fmt.Println("read:", err)
		return
	}
	fmt.Println("ready:", got.Object.Status.BucketName)
	got.Object.Spec.Versioning = "on"
	_, err = buckets.Put(ctx, "reports", &got.Object, client.PutOptions{IfMatch: got.ETag})
	if problem, ok := errors.AsType[*client.APIError](err); ok {
		for _, e := range problem.Errors {
			fmt.Printf("refused: %d, %s: %s\n", problem.Status, e.Field(), e.Message)
		}
	}
	got.Object.Spec.Versioning = "Enabled"
	changed, err := buckets.Put(ctx, "reports", &got.Object, client.PutOptions{IfMatch: got.ETag})
	if err != nil {
		fmt.Println("change:", err)
		return
	}

	if _, err := buckets.Delete(ctx, "reports", client.DeleteOptions{IfMatch: changed.ETag}); err != nil {
		fmt.Println("delete:", err)
		return
	}
	_, err = buckets.Get(ctx, "reports", client.GetOptions{})
	fmt.Println("gone:", client.StatusOf(err) == http.StatusNotFound)
	// Output:
	// requested: true
	// ready: payments-reports
	// refused: 422, spec.versioning: choose one of: Enabled, Suspended
	// gone: true
}

// examplePortal returns a server that responds as a portal does, for one bucket.
func examplePortal() *httptest.Server {
	bucket := func(generation, observed int) string {
		return fmt.Sprintf(`{"apiVersion": "portico.dev/v1alpha1", "kind": "S3Bucket",
			"metadata": {"name": "reports", "namespace": "payments", "uid": "u", "generation": %d},
			"spec": {"providerRef": {"name": "aws"}}, "status": {"observedGeneration": %d, "bucketName": "payments-reports",
			"conditions": [{"type": "Ready", "status": "True"}]}}`, generation, observed)
	}
	here := false
	problem := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, text)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/namespaces/payments/s3buckets", func(w http.ResponseWriter, _ *http.Request) {
		here = true
		w.WriteHeader(http.StatusCreated)
		_, _ = fmt.Fprint(w, bucket(1, -1))
	})
	mux.HandleFunc("/api/v1/namespaces/payments/s3buckets/reports", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("ETag", `"u-1"`)
		switch {
		case r.URL.Query().Get("watch") != "":
			_, _ = fmt.Fprint(w, event("snapshot", `{"items": [], "complete": true}`)+event(
				"changed", strings.ReplaceAll(bucket(1, 1), "\n", "")))
		case !here:
			problem(w, http.StatusNotFound, `{"detail": "not found"}`)
		case r.Method != http.MethodGet && r.Header.Get("If-Match") != `"u-1"`:
			problem(w, http.StatusPreconditionFailed, `{"detail": "it is another version"}`)
		case strings.Contains(string(body), `"versioning":"on"`):
			problem(w, http.StatusUnprocessableEntity, `{"detail": "the request is not valid", "errors": [
				{"location": "body.spec.versioning", "message": "choose one of: Enabled, Suspended", "value": "on"}]}`)
		default:
			here = r.Method != http.MethodDelete
			_, _ = fmt.Fprint(w, bucket(1, 1))
		}
	})
	return httptest.NewServer(mux)
}
