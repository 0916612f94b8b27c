package feed

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"unsafe"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const cachedBucket = `{"apiVersion":"portico.dev/v1alpha1","kind":"S3Bucket","metadata":{"name":"b%d","namespace":"team-%d","labels":{"portico.dev/team":"a"},
"annotations":{"portico.dev/requested-by":"oidc:ann","portico.dev/changed-by":"oidc:ann","portico.dev/changed-with":"kubectl-create","portico.dev/changed-generation":"1"},
"managedFields":[{"manager":"kubectl"}],"finalizers":["portico.dev/release"],"uid":"0b3c9f66-0000-0000-0000-%012d","creationTimestamp":"2026-01-02T03:04:05Z"},
"spec":{"providerRef":{"name":"aws"},"deletionPolicy":"Delete","tags":{"a":"b"}},
"status":{"accountID":"123456789012","arn":"arn:aws:s3:::b%d","region":"eu-west-1","conditions":[
{"type":"Ready","status":"True","reason":"InSync","message":"everything is as the spec asks","lastTransitionTime":"2026-01-02T03:04:06Z","observedGeneration":1},
{"type":"Stalled","status":"False","reason":"InSync","message":"everything is as the spec asks","lastTransitionTime":"2026-01-02T03:04:06Z","observedGeneration":1}]}}`

func decoded(tb testing.TB, i int) *unstructured.Unstructured {
	tb.Helper()
	obj := &unstructured.Unstructured{}
	if err := json.Unmarshal(fmt.Appendf(nil, cachedBucket, i, i%200, i, i), &obj.Object); err != nil {
		tb.Fatal(err)
	}
	return obj
}

// keys collects the addresses of the field names' bytes.
func keys(v any, to map[string]map[*byte]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, one := range v {
			if to[key] == nil {
				to[key] = map[*byte]bool{}
			}
			to[key][unsafe.StringData(key)] = true
			keys(one, to)
		}
	case []any:
		for _, one := range v {
			keys(one, to)
		}
	}
}

func TestObjectsShareTheNamesOfTheirFields(t *testing.T) {
	all, seen := &texts{}, map[string]map[*byte]bool{}
	for i := range 3 {
		obj, want := decoded(t, i), decoded(t, i)
		if _, err := all.strip(obj); err != nil {
			t.Fatal(err)
		}
		want.SetManagedFields(nil)
		if !reflect.DeepEqual(obj, want) {
			t.Errorf("it is another object: %v, want %v", obj, want)
		}
		keys(obj.Object, seen)
	}
	for key, places := range seen {
		if len(places) != 1 {
			t.Errorf("%s is there %d times", key, len(places))
		}
	}
	for i := range 3 * maxTexts {
		all.one(fmt.Sprint("x", i))
	}
	if len(all.known) > maxTexts {
		t.Errorf("%d texts are known", len(all.known))
	}
}

// BenchmarkCachedObjects measures the memory of a cached object.
func BenchmarkCachedObjects(b *testing.B) {
	for name, transform := range map[string]func(any) (any, error){"alone": Strip, "shared": (&texts{}).strip} {
		b.Run(name, func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			kept := make([]*unstructured.Unstructured, 0, b.N)
			for i := range b.N {
				obj := decoded(b, i)
				_, _ = transform(obj)
				kept = append(kept, obj)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(b.N), "heap-B/object")
			runtime.KeepAlive(kept)
		})
	}
}
