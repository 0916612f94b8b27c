package upgrade

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/operatorapi"
)

// root is the repository.
const root = "../.."

func TestTheBaselineIsOneCommit(t *testing.T) {
	const hash = "3d0aa6befaca72931aac8bec8385c26a85b473a1"
	for text, want := range map[string]string{
		"# why\n" + hash + "\n":  hash,
		hash:                     hash,
		"":                       "",
		"v0.1.0\n":               "",
		hash[:12]:                "",
		hash + "\n" + hash:       "",
		strings.ToUpper(hash):    "",
		"# " + hash + "\n# more": "",
	} {
		got, err := parseBaseline(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, baselineFile))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseBaseline(string(text)); err != nil {
		t.Error(err)
	}
}

var account = map[string]string{"PUBLIC_ZONE": "ZPUBLIC", "PRIVATE_ZONE": "ZPRIVATE", "SUBNET": "subnet-1"}

// TestOneOfEveryKindIsRequested checks that requests has every kind, except those that others create.
func TestOneOfEveryKindIsRequested(t *testing.T) {
	files := os.DirFS(root)
	kinds, err := kindsOf(files)
	if err != nil {
		t.Fatal(err)
	}
	all, err := requests(files, account)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range slices.Concat(byOthers, absent) {
		if kinds[kind] == "" {
			t.Errorf("there is no kind %s any more", kind)
		}
		delete(kinds, kind)
	}
	for _, o := range all {
		delete(kinds, o.GetKind())
		if o.GetNamespace() == "" {
			t.Errorf("%s %s is in no namespace", o.GetKind(), o.GetName())
		}
		text, err := o.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range []string{"aws-prod", `"zoneId":"Z0`, `"zoneId":""`} {
			if strings.Contains(string(text), wrong) {
				t.Errorf("%s has %s, which does not fit the stack", text, wrong)
			}
		}
	}
	if len(kinds) > 0 {
		t.Errorf("nothing is requested of %v", kinds)
	}
}

func TestAKindWithoutASampleFails(t *testing.T) {
	crd := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}, spec: {names: {kind: Novel, plural: novels}}}`
	_, err := requests(fstest.MapFS{"config/crd/bases/x.yaml": {Data: []byte(crd)}}, account)
	if err == nil || !strings.Contains(err.Error(), "the sample of Novel") {
		t.Errorf("%v", err)
	}
	if _, err := countsOf(nil, map[string]string{"Novel": "novels"}); err == nil ||
		!strings.Contains(err.Error(), "no object of Novel") {
		t.Errorf("%v", err)
	}
}

func objectOf(uid, note, spec string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": object{"name": "a", "uid": uid, "resourceVersion": uid + note, "annotations": object{"portico.dev/reconcile-requested-at": note, "mine": "1"}},
		"data":     object{"password": spec, "user": "u"}, "status": object{"seen": note},
	}}
}

func TestWhatUsersHaveIsCompared(t *testing.T) {
	before := snapshot{
		"Secret a/a": objectOf("1", "x", "p"), "Secret a/b": objectOf("2", "x", "p"),
		"Secret a/c": objectOf("3", "x", "p"), "Secret a/d": objectOf("4", "x", "p"),
	}
	now := snapshot{
		"Secret a/a": objectOf("1", "y", "p"), "Secret a/b": objectOf("2", "x", "secret"),
		"Secret a/c": objectOf("9", "x", "p"), "Secret a/e": objectOf("5", "x", "p"),
	}
	want := []string{
		"Secret a/b changed in .data.password", "Secret a/c was replaced", "Secret a/d was deleted",
		"Secret a/e was created",
	}
	if got := before.changed(now); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	fresh := objectOf("1", "", "p")
	fresh.SetAnnotations(map[string]string{"mine": "1"})
	if got := (snapshot{"s": fresh}).changed(snapshot{"s": objectOf("1", "y", "p")}); len(got) > 0 {
		t.Errorf("a request for a look counts: %q", got)
	}
}

func TestALookCountsOnceTheOperatorIsContent(t *testing.T) {
	asked := time.Unix(1_000_000, 0)
	record := func(after time.Duration, reason string, failures int64) map[string]operatorapi.Record {
		return map[string]operatorapi.Record{
			"1": {UID: "1", LastChecked: asked.Add(after), Reason: reason, Failures: failures},
		}
	}
	for name, c := range map[string]struct {
		records map[string]operatorapi.Record
		says    string
	}{
		"content":     {record(time.Second, inSync, 0), ""},
		"never":       {nil, "has not been looked at"},
		"before":      {record(-time.Second, inSync, 0), "has not been looked at"},
		"not content": {record(time.Second, "AccessDenied", 0), "is AccessDenied"},
		"failed":      {record(time.Second, inSync, 1), "is InSync"},
	} {
		err := content(objectOf("1", "", ""), c.records, asked)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAStepFailsForWhatMustNotBe(t *testing.T) {
	if err := (row{phase: "upgrade", reads: 9, replaced: 4, visits: 100}).verdict(); err != nil {
		t.Error(err)
	}
	for says, r := range map[string]row{
		"1 writes in AWS":                       {writes: []string{"s3 PutBucketTagging"}},
		"1 steps that the operator found":       {planned: []string{"S3Bucket a/b: PutBucketTagging"}},
		"1 changes of what users have":          {changed: []string{"Secret a/b was deleted"}},
		"1 requests to the portal lost":         {lost: []string{"EOF"}},
		"s3 PutBucketTagging":                   {writes: []string{"s3 PutBucketTagging"}},
		"2 requests to the portal lost:\n  a\n": {lost: []string{"a", "b"}},
	} {
		if err := r.verdict(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
