package operatorapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/engine"
)

// memory is a fake of the engine's records.
type memory []engine.Record

func (m memory) Get(kind string, of types.NamespacedName) (engine.Record, bool) {
	for _, r := range m {
		if r.Kind == kind && r.Namespace == of.Namespace && r.Name == of.Name {
			return r, true
		}
	}
	return engine.Record{}, false
}

func (m memory) All(filter func(engine.Record) bool) []engine.Record {
	all := slices.DeleteFunc(slices.Clone(m), func(r engine.Record) bool { return !filter(r) })
	slices.SortFunc(all, func(a, b engine.Record) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return all
}

func record(kind, namespace, name string) engine.Record {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.FixedZone("", 3600))
	return engine.Record{
		Kind: kind, Namespace: namespace, Name: name, UID: types.UID("uid-" + name), LastChecked: at, Reason: "InSync",
		Message:   "ok",
		NextCheck: new(at.Add(time.Hour)), Passes: 3,
		LastPlan: &engine.Plan{At: at, Actions: []engine.PlannedAction{
			{Name: "CreateBucket", Why: "bucket logs (new)"}, {Name: "Untag"},
		}},
	}
}

func serve(m memory, live ReadLive) http.Handler {
	return newHandlers(Source{Records: m, ReadLive: live, Now: time.Now}).routes()
}

func get(t *testing.T, h http.Handler, path string, into any) int {
	t.Helper()
	w := call(h, path, "")
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
		t.Fatalf("%s: %v in %s", path, err, w.Body)
	}
	return w.Code
}

func TestOneRecord(t *testing.T) {
	h := serve(memory{record("S3Bucket", "payments", "logs"), record("AWSProvider", "", "aws")}, nil)
	want := `{"kind":"S3Bucket","namespace":"payments","name":"logs","uid":"uid-logs","lastChecked":"2026-11-21T11:00:00Z","reason":"InSync",` +
		`"message":"ok","nextCheck":"2026-11-21T12:00:00Z","lastPlan":{"at":"2026-11-21T11:00:00Z","steps":[{"call":"CreateBucket",` +
		`"why":"bucket logs (new)"},{"call":"Untag"}]},"passes":3,"failures":0}`
	if w := call(h, operatorapi.ResourcePath("S3Bucket", "payments", "logs"), ""); w.Code != 200 ||
		strings.TrimSpace(w.Body.String()) != want {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	var out operatorapi.Resource
	if status := get(t, h, operatorapi.ResourcePath("AWSProvider", "", "aws"), &out); status != 200 ||
		out.Name != "aws" {
		t.Errorf("what has no namespace: %d %+v", status, out)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	h := serve(memory{record("S3Bucket", "payments", "logs")}, nil)
	for path, status := range map[string]int{
		operatorapi.ResourcePath("S3Bucket", "payments", "none"): 404,
		operatorapi.ResourcePath("S3Bucket", "search", "logs"):   404,
		"/": 404, "/inspect": 404, "/inspect/resources/S3Bucket": 404,
		"/inspect/resources/S3Bucket/payments%2Flogs/x": 404,
		"/inspect/resources/S3Bucket/payments/%6cogs":   404, "/inspect/resources/../resources": 404,
		"/inspect//resources":        404,
		"/inspect/resources?limit=0": 400, "/inspect/resources?limit=501": 400, "/inspect/resources?limit=x": 400,
		"/inspect/resources?a=%zz": 400,
	} {
		var p operatorapi.Problem
		if got := get(t, h, path, &p); got != status || p.Status != status || p.Detail == "" {
			t.Errorf("%s: %d %+v, want %d", path, got, p, status)
		}
	}
	for _, r := range []*http.Request{
		httptest.NewRequest(http.MethodPost, operatorapi.ResourcesPath, http.NoBody),
		httptest.NewRequest(http.MethodGet, operatorapi.ResourcesPath, strings.NewReader("{}")),
	} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != 404 && w.Code != 413 {
			t.Errorf("%s with a body: %d", r.Method, w.Code)
		}
	}
}

func TestPages(t *testing.T) {
	m := memory{record("AWSProvider", "", "aws"), record("SQSQueue", "team", "a"), record("SQSQueue", "team-1", "a")}
	for i := range mostRecords + 20 {
		m = append(m, record("S3Bucket", "team", fmt.Sprintf("b-%d", i)))
	}
	h := serve(m, nil)
	for query, limit := range map[string]int{"": mostRecords, "limit=70": 70} {
		seen, after := map[operatorapi.Record]bool{}, ""
		for pages := 0; pages == 0 || after != ""; pages++ {
			var list operatorapi.List
			if status := get(t, h, operatorapi.ResourcesPath+"?"+query+"&after="+after, &list); status != 200 ||
				len(list.Items) > limit {
				t.Fatalf("%d with %d", status, len(list.Items))
			}
			for _, one := range list.Items {
				one.LastPlan, one.NextCheck = nil, nil
				if seen[one] {
					t.Errorf("%s %s/%s comes twice", one.Kind, one.Namespace, one.Name)
				}
				seen[one] = true
			}
			after = list.Next
		}
		if len(seen) != len(m) {
			t.Errorf("%q: %d of %d", query, len(seen), len(m))
		}
	}
	for query, want := range map[string]int{
		"kind=SQSQueue": 2, "namespace=team-1": 1,
		"kind=SQSQueue&namespace=team&name=a": 1, "name=none": 0,
	} {
		var list operatorapi.List
		if get(t, h, operatorapi.ResourcesPath+"?"+query, &list); len(list.Items) != want || list.Items == nil ||
			list.Next != "" {
			t.Errorf("%s: %+v", query, list)
		}
	}
}

func TestLiveValues(t *testing.T) {
	for name, c := range map[string]struct {
		live  ReadLive
		took  time.Duration
		want  map[string]string
		error string
	}{
		"a queue": {live: func(context.Context, string, types.NamespacedName) (map[string]string, error) {
			return map[string]string{"messages": "3"}, nil
		}, want: map[string]string{"messages": "3"}},
		"a kind without any": {live: func(context.Context, string, types.NamespacedName) (map[string]string, error) { return nil, nil }},
		"AWS refuses": {live: func(context.Context, string, types.NamespacedName) (map[string]string, error) {
			return nil, errors.New("SQS: AccessDenied")
		}, error: "SQS: AccessDenied"},
		"a long error": {live: func(context.Context, string, types.NamespacedName) (map[string]string, error) {
			return nil, errors.New(strings.Repeat("ä", 2*longestError))
		}, error: strings.Repeat("ä", longestError) + "…"},
		"AWS is slow": {live: func(ctx context.Context, _ string, _ types.NamespacedName) (map[string]string, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, took: lookWait, error: errNotYet.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out operatorapi.Resource
				h, began := serve(memory{record("SQSQueue", "payments", "orders")}, c.live), time.Now()
				if status := get(t, h, operatorapi.ResourcePath("SQSQueue", "payments", "orders"),
					&out); status != 200 || out.Passes != 3 {
					t.Errorf("%d %+v", status, out)
				}
				if fmt.Sprint(out.Live) != fmt.Sprint(c.want) || out.LiveError != c.error ||
					time.Since(began) != c.took {
					t.Errorf("%v, %q after %s", out.Live, out.LiveError, time.Since(began))
				}
				time.Sleep(liveTimeout) // lets a slow read end, too
			})
		})
	}
}

func TestLooksAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		h := serve(memory{record("SQSQueue", "payments", "orders")},
			func(context.Context, string, types.NamespacedName) (map[string]string, error) {
				time.Sleep(500 * time.Millisecond)
				return map[string]string{"messages": fmt.Sprint(calls.Add(1))}, nil
			})
		for range 5 {
			go call(h, operatorapi.ResourcePath("SQSQueue", "payments", "orders"), "")
		}
		time.Sleep(time.Second)
		var out operatorapi.Resource
		if get(t, h, operatorapi.ResourcePath("SQSQueue", "payments", "orders"), &out); out.Live["messages"] != "1" ||
			calls.Load() != 1 {
			t.Errorf("%v after %d looks", out.Live, calls.Load())
		}
		time.Sleep(liveFor)
		if get(t, h, operatorapi.ResourcePath("SQSQueue", "payments", "orders"), &out); out.Live["messages"] != "2" {
			t.Errorf("%v after the values were old", out.Live)
		}
	})
}
