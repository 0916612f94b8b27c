//go:build integration

package integration

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/test/stack"
)

// writesIn lists the writes in a namespace, each as the method and the path after the namespace's name.
func (c *calls) writesIn(namespace string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for _, one := range c.all {
		if _, rest, found := strings.Cut(one.path, "/namespaces/"+namespace+"/"); found &&
			one.method != http.MethodGet {
			all = append(all, one.method+" "+rest)
		}
	}
	return all
}

// settledIn returns writesIn once there are no more writes.
func (c *calls) settledIn(t *testing.T, namespace string) []string {
	t.Helper()
	seen, since := 0, time.Now()
	await(t, "the writes to end", func() (bool, string) {
		if n := len(c.writesIn(namespace)); n != seen {
			seen, since = n, time.Now()
		}
		return time.Since(since) > quiet, "writing"
	})
	return c.writesIn(namespace)
}

// applyServerSide does what kubectl apply --server-side does.
func applyServerSide(t *testing.T, c client.Client, b *v1alpha1.S3Bucket) {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(b)
	if err != nil {
		t.Fatal(err)
	}
	delete(fields, "status")
	o := &unstructured.Unstructured{Object: fields}
	o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("S3Bucket"))
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o),
		client.FieldOwner("kubectl")); err != nil {
		t.Fatal(err)
	}
}

// From its creation to Ready, a bucket causes these writes to the API server, no matter who created it and how. One is
// a revision for the history, one for each change of the spec; the first write of the status saves what must be known
// before the bucket is created in AWS.
func TestNameOnlyBucketKeepsItsBudgetOfWrites(t *testing.T) {
	calm(t)
	c := admin(t)
	cfg, err := world.ServiceAccountConfig(t.Context(), stack.Namespace, "portico-operator")
	if err != nil {
		t.Fatal(err)
	}
	sent := &calls{}
	cfg.Wrap(sent.noting)
	startOperatorAs(t, cfg, operatorOptions{})
	// otherwise waiting for it is counted
	ready(t, c, &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: stack.Provider}})
	created, applied := bucketOf(team(t, c), "plain"), bucketOf(team(t, c), "plain")
	create(t, c, created)
	applyServerSide(t, c, applied)
	want := []string{
		"POST controllerrevisions", "PATCH s3buckets/plain/status", "POST secrets",
		"PATCH s3buckets/plain/status",
	}
	for _, b := range []*v1alpha1.S3Bucket{created, applied} {
		ready(t, c, b)
		if got := sent.settledIn(t, b.Namespace); !slices.Equal(got, want) {
			t.Errorf("writes %q, want %q", got, want)
		}
		if !slices.Equal(b.Finalizers, []string{engine.Finalizer}) {
			t.Errorf("finalizers %v", b.Finalizers)
		}
	}

	// Applying the same object or a changed one does not remove the finalizer, and the change is reported as an event.
	again := bucketOf(applied.Namespace, applied.Name)
	applyServerSide(t, c, again)
	again.Spec.Tags = v1alpha1.Tags{"team": "payments"}
	applyServerSide(t, c, again)
	awaitEvent(t, c, applied, "Updated", "team")
	ready(t, c, applied)
	if !slices.Equal(applied.Finalizers, []string{engine.Finalizer}) {
		t.Errorf("applied again: finalizers %v", applied.Finalizers)
	}
}

// Applying an object without finalizers that an earlier apply set removes only those, and so does replacing the list
// while the bucket is not being deleted: without Portico's finalizer the object would be deleted immediately, and its
// bucket left in AWS.
func TestTheFinalizerStays(t *testing.T) {
	c := admin(t)
	applied := bucketOf(team(t, c), "kept")
	applied.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	with := applied.DeepCopy()
	with.Finalizers = []string{"team.example/keep"}
	applyServerSide(t, c, with)
	applyServerSide(t, c, applied.DeepCopy())
	is := func(want ...string) {
		t.Helper()
		b := &v1alpha1.S3Bucket{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(applied), b); err != nil ||
			!slices.Equal(b.Finalizers, want) {
			t.Errorf("finalizers %v, %v; want %v", b.Finalizers, err, want)
		}
	}
	is(engine.Finalizer)
	for _, list := range []string{`null`, `[]`, `["team.example/keep"]`} {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":`+list+`}}`))
		if err := c.Patch(t.Context(), applied.DeepCopy(), patch); err != nil {
			t.Fatal(list, err)
		}
	}
	is("team.example/keep", engine.Finalizer)
	if err := erase(t, c, applied.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	none := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	if err := c.Patch(t.Context(), applied.DeepCopy(), none); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, c, applied)
}
