package form

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
)

func kindOf(t *testing.T, name string) catalog.Kind {
	t.Helper()
	k, ok := catalogtest.Kinds(t).ByName(name)
	if !ok {
		t.Fatalf("no kind %s", name)
	}
	return k
}

type spec = map[string]any

func ref(name string) spec { return spec{"name": name} }

func TestTheWayBackKeepsWhatCannotChange(t *testing.T) {
	for reason, row := range map[string]struct {
		kind            string
		now, then, want spec
		stays           string
	}{
		"all of it can change": {
			"S3Bucket",
			spec{"providerRef": ref("a"), "versioning": "Enabled"},
			spec{"providerRef": ref("a"), "versioning": "Suspended"},
			spec{"providerRef": ref("a"), "versioning": "Suspended"},
			"",
		},
		"an account": {
			"S3Bucket",
			spec{"providerRef": ref("a")},
			spec{"providerRef": ref("b"), "forceDestroy": true},
			spec{"providerRef": ref("a"), "forceDestroy": true},
			"(a). It cannot be changed: the resource would stay behind in the old account.",
		},
		"a name that was never given": {
			"S3Bucket",
			spec{"providerRef": ref("a")},
			spec{"providerRef": ref("a"), "bucketName": "x"},
			spec{"providerRef": ref("a")},
			"Bucket name keeps its value (not set).",
		},
		"a name that was given": {
			"S3Bucket",
			spec{"providerRef": ref("a"), "bucketName": "x"},
			spec{"providerRef": ref("a")},
			spec{"providerRef": ref("a"), "bucketName": "x"},
			"Bucket name keeps its value (x).",
		},
	} {
		k := kindOf(t, row.kind)
		now := &unstructured.Unstructured{
			Object: spec{
				"apiVersion": "portico.dev/v1alpha1", "kind": row.kind,
				"metadata": spec{"name": "x", "namespace": "n"}, "spec": row.now,
			},
		}
		d, stays, err := Back(k, row.then,
			Facts{Namespace: "n", Edit: &Edit{Name: "x", ETag: `"e"`, Object: now, Made: []string{"accountID"}}})
		if err != nil {
			t.Fatalf("%s: %v", reason, err)
		}
		if got := strings.Join(stays, " "); !strings.Contains(got, row.stays) || (row.stays == "") != (got == "") {
			t.Errorf("%s: stays %q, want %q", reason, got, row.stays)
		}
		if got := fmt.Sprint(d.Object.Object["spec"]); got != fmt.Sprint(row.want) {
			t.Errorf("%s: %s, want %v", reason, got, row.want)
		}
	}
}

// TestTheWayBackIsFreeUntilSomethingIsMade restores another name of a bucket that does not exist in AWS yet.
func TestTheWayBackIsFreeUntilSomethingIsMade(t *testing.T) {
	k := kindOf(t, "S3Bucket")
	now := &unstructured.Unstructured{Object: spec{
		"apiVersion": "portico.dev/v1alpha1", "kind": "S3Bucket", "metadata": spec{"name": "x", "namespace": "n"},
		"spec": spec{"providerRef": ref("a"), "bucketName": "x"}, "status": spec{},
	}}
	edit := &Edit{Name: "x", ETag: `"e"`, Object: now, Made: k.Made(now)}
	d, stays, err := Back(k, spec{"providerRef": ref("b"), "bucketName": "y"}, Facts{Namespace: "n", Edit: edit})
	if got := fmt.Sprint(d.Object.Object["spec"]); err != nil || len(stays) > 0 ||
		got != fmt.Sprint(spec{"providerRef": ref("b"), "bucketName": "y"}) {
		t.Errorf("%s, %v stays, %v", got, stays, err)
	}
	now.Object["status"] = spec{"accountID": "123456789012", "arn": "arn:aws:s3:::x"}
	if made := k.Made(now); fmt.Sprint(made) != "[accountID]" { // the only field in bucket rules
		t.Errorf("made: %v", made)
	}
}

func TestChangesAreNamedAsTheFormNamesThem(t *testing.T) {
	type spec = map[string]any
	k := kindOf(t, "WebApp")
	was := spec{"image": "shop:1", "env": []any{spec{"name": "LOG_LEVEL", "value": "info"}}}
	is := spec{"image": "shop:2", "replicas": int64(3), "env": []any{spec{"name": "LOG_LEVEL", "value": "debug"}}}
	var got []string
	for _, v := range Changes(k, was, is) {
		got = append(got, v.Label+": "+v.Began+" → "+v.Theirs)
	}
	want := "Environment variables, LOG_LEVEL, Value: info → debug; Image: shop:1 → shop:2; Replicas: not set → 3"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
	if same := Changes(k, was, was); len(same) != 0 {
		t.Errorf("nothing changed, and yet %v", same)
	}
}
