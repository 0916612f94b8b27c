package rest

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/listing"
	"github.com/portico-platform/portico/portal/overview"
)

func TestPagesCoverTheListOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.StringMatching(`[a-z]{1,4}`), func(s string) string { return s }).Draw(
			t, "names")
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		sort := rapid.SampledFrom([]string{"name", "-name", "age", "-age", "kind", "status", "-status"}).Draw(t, "sort")
		var got []string
		cursor := ""
		for range len(names) + 1 {
			out, err := batch(context.Background(), items(names), BatchQuery{Limit: limit, Cursor: cursor, Sort: sort},
				"x")
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range out.Items {
				got = append(got, (&unstructured.Unstructured{Object: o}).GetName())
			}
			if cursor = out.Next; cursor == "" {
				break
			}
			// The last object of the page is deleted before the next page is requested.
			names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == got[len(got)-1] })
		}
		once := slices.Compact(slices.Sorted(slices.Values(got)))
		if cursor != "" || len(once) != len(got) {
			t.Fatalf("%v with limit %d", got, limit)
		}
		for _, n := range names {
			if !slices.Contains(got, n) {
				t.Fatalf("%s is missing in %v", n, got)
			}
		}
	})
}

// items returns buckets; those whose names begin with vowels are older.
func items(names []string) []listing.Item {
	var out []listing.Item
	k := &catalog.Kind{Name: "S3Bucket"}
	for _, n := range names {
		o := &unstructured.Unstructured{
			Object: map[string]any{"kind": "S3Bucket", "metadata": map[string]any{
				"creationTimestamp": "2026-02-01T00:00:00Z",
			}},
		}
		if strings.ContainsAny(n[:1], "aeiou") {
			_ = unstructured.SetNestedField(o.Object, "2026-01-01T00:00:00Z", "metadata", "creationTimestamp")
		}
		o.SetNamespace("n")
		o.SetName(n)
		out = append(out, listing.Item{Row: overview.NewRow(*k, o), Kind: k})
	}
	return out
}

// several returns a cluster with a bucket that is ready, one that failed, one that is paused, and a queue in progress.
func several(t *testing.T) *fakeCluster {
	t.Helper()
	f := newFake(t)
	ready := bucket(t, "payments", "logs", `,"labels":{"team":"a"},"creationTimestamp":"2026-01-03T00:00:00Z"`)
	setCondition(ready, "True", "Ready")
	failed := bucket(t, "payments", "archive",
		`,"labels":{"team":"b"},"creationTimestamp":"2026-01-01T00:00:00Z","annotations":{"portico.dev/requested-by":"oidc:ann"}`)
	setCondition(failed, "False", "Failed")
	paused := bucket(t, "payments", "media",
		`,"creationTimestamp":"2026-01-02T00:00:00Z","annotations":{"portico.dev/paused":"true"}`)
	queue := bucket(t, "search", "jobs", `,"creationTimestamp":"2026-01-04T00:00:00Z"`)
	queue.SetKind("SQSQueue")
	f.objects = append(f.objects, ready, failed, paused, queue)
	return f
}

func setCondition(o *unstructured.Unstructured, status, reason string) {
	o.Object["status"] = map[string]any{"observedGeneration": o.GetGeneration(), "conditions": []any{
		map[string]any{"type": "Ready", "status": status, "reason": reason, "message": "because"},
	}}
}

func TestListsAreFilteredAndSorted(t *testing.T) {
	f := several(t)
	for query, want := range map[string]string{
		"/resources":                                     "archive jobs logs media",
		"/resources?sort=-name":                          "media logs jobs archive",
		"/resources?sort=age":                            "jobs logs media archive",
		"/resources?sort=-age":                           "archive media logs jobs",
		"/resources?sort=kind":                           "archive logs media jobs",
		"/resources?sort=status":                         "archive jobs media logs",
		"/resources?sort=-status":                        "logs media jobs archive",
		"/resources?status=ready":                        "logs",
		"/resources?status=needs-you":                    "archive",
		"/resources?status=in-progress":                  "jobs",
		"/resources?status=paused":                       "media",
		"/resources?status=deleting":                     "",
		"/resources?labelSelector=team":                  "archive logs",
		"/resources?labelSelector=team%20in%20(a),!old":  "logs",
		"/resources?q=ANN":                               "archive",
		"/resources?q=queue+jo":                          "jobs",
		"/resources?q=nothing":                           "",
		"/resources?kind=sqsqueues":                      "jobs",
		"/resources?namespace=payments&q=media&sort=age": "media",
		buckets:                        "archive logs media",
		buckets + "?labelSelector=":    "archive logs media",
		buckets + "?q=&status=ready":   "logs",
		buckets + "?limit=2":           "archive logs",
		"/awsproviders?sort=-age&q=no": "",
	} {
		w := f.call("GET", query, "")
		var got []string
		for _, o := range listOf(t, w.Body.Bytes()).Items {
			got = append(got, (&unstructured.Unstructured{Object: o}).GetName())
		}
		if w.Code != 200 || strings.Join(got, " ") != want {
			t.Errorf("%s: %d %v, want %s", query, w.Code, got, want)
		}
	}
}

func listOf(t *testing.T, body []byte) objectList {
	t.Helper()
	var out objectList
	if err := json.Unmarshal(body, &out); err != nil || !strings.Contains(string(body), `"items":[`) {
		t.Fatalf("%v in %s", err, body)
	}
	return out
}

func TestBadQueriesOfLists(t *testing.T) {
	f := several(t)
	next := listOf(t, f.call("GET", buckets+"?limit=1&status=ready&q=&sort=-name", "").Body.Bytes()).Next
	if next != "" {
		t.Fatalf("a list of one goes on at %s", next)
	}
	next = url.QueryEscape(listOf(t, f.call("GET", buckets+"?limit=1", "").Body.Bytes()).Next)
	if w := f.call("GET", buckets+"?limit=2&cursor="+next, ""); w.Code != 200 ||
		len(listOf(t, w.Body.Bytes()).Items) != 2 {
		t.Errorf("another limit: %d %s", w.Code, w.Body)
	}
	for query, want := range map[string]string{
		buckets + "?labelSelector=a%3D%3D%3Db":         "query.labelSelector",
		buckets + "?labelSelector=a+in":                "query.labelSelector",
		buckets + "?status=Ready":                      "query.status",
		buckets + "?sort=size":                         "query.sort",
		buckets + "?limit=0":                           "query.limit",
		buckets + "?limit=501":                         "query.limit",
		buckets + "?cursor=%3F%3F":                     "query.cursor",
		buckets + "?cursor=bm9uZQ":                     "query.cursor",
		buckets + "?sort=-name&cursor=" + next:         "query.cursor",
		buckets + "?q=logs&cursor=" + next:             "query.cursor",
		buckets + "?status=ready&cursor=" + next:       "query.cursor",
		buckets + "?labelSelector=team&cursor=" + next: "query.cursor",
		"/resources?cursor=" + next:                    "query.cursor",
		"/namespaces/search/s3buckets?cursor=" + next:  "query.cursor",
		buckets + "?watch=true&cursor=" + next:         "query.cursor",
		buckets + "?watch=maybe":                       "query.watch",
		"/resources?kind=secrets":                      "query.kind",
		"/resources?namespace=A":                       "query.namespace",
		buckets + "?q=" + strings.Repeat("x", 201):     "query.q",
	} {
		w := f.call("GET", query, "")
		if wantProblem(t, w, 422); location(t, w) != want {
			t.Errorf("%s blames %q: %s", query, location(t, w), w.Body)
		}
	}
}
