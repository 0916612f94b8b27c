package engine

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the statuses that test/monitoring judges")

const statusesFile = "../../test/monitoring/testdata/statuses.yaml"

// A situation is the history of an object: passes with these outcomes, and then changes.
type situation struct {
	name    string
	passes  []error
	changes []func(*v1alpha1.S3Bucket)
	after   []error // a pass after each change
}

func paused(b *v1alpha1.S3Bucket) {
	b.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
}

func resumed(b *v1alpha1.S3Bucket) { b.Annotations = nil }

func deleted(b *v1alpha1.S3Bucket) { b.DeletionTimestamp = &metav1.Time{Time: noon} }

func edited(b *v1alpha1.S3Bucket) { b.Generation++ }

var (
	creating = Wait("Creating", time.Minute, "AWS is making it")
	blocked  = Blocked("AccessDenied", "S3 CreateBucket: AccessDenied: no. The provider's identity lacks this "+
		"permission")
)

var situations = []situation{
	{name: "fresh"},
	{name: "being-made", passes: []error{creating}},
	{name: "ready", passes: []error{nil}},
	{name: "modifying", passes: []error{nil, Wait("Modifying", time.Minute, "AWS is changing it")}},
	{name: "blocked", passes: []error{blocked}},
	{name: "blocked-later", passes: []error{nil, blocked}},
	{name: "failed", passes: []error{errors.New("connection reset")}},
	{name: "failed-later", passes: []error{nil, errors.New("connection reset")}},
	{name: "edited", passes: []error{nil}, changes: []func(*v1alpha1.S3Bucket){edited}},
	{name: "blocked-and-edited", passes: []error{blocked}, changes: []func(*v1alpha1.S3Bucket){edited}},
	{name: "paused-fresh", changes: []func(*v1alpha1.S3Bucket){paused}, after: []error{nil}},
	{name: "paused-while-ready", passes: []error{nil}, changes: []func(*v1alpha1.S3Bucket){paused}, after: []error{nil}},
	{name: "paused-while-blocked", passes: []error{blocked}, changes: []func(*v1alpha1.S3Bucket){paused}, after: []error{nil}},
	{name: "resumed", passes: []error{nil}, changes: []func(*v1alpha1.S3Bucket){paused, resumed}, after: []error{nil, nil}},
	{name: "deleting", passes: []error{nil}, changes: []func(*v1alpha1.S3Bucket){deleted}, after: []error{Wait("Deleting", time.Minute, "AWS is deleting it")}},
	{name: "deletion-blocked", passes: []error{nil}, changes: []func(*v1alpha1.S3Bucket){deleted}, after: []error{Blocked("BucketNotEmpty", "the bucket holds objects")}},
}

// play returns the object as the engine leaves it.
func (s situation) play(t *testing.T) *v1alpha1.S3Bucket {
	t.Helper()
	b := newBench(t, func(b *v1alpha1.S3Bucket) { b.Status.ObservedGeneration = -1 }) // the CRD's default
	for _, outcome := range s.passes {
		b.work.sync = outcome
		_, _ = b.loop.Reconcile(t.Context(), b.read())
	}
	obj := b.read()
	for i, change := range s.changes {
		change(obj)
		gone := obj.DeletionTimestamp
		if gone == nil { // the fake client accepts no object that is being deleted
			if err := b.client.Update(t.Context(), obj); err != nil {
				t.Fatal(err)
			}
		}
		if i < len(s.after) {
			b.work.sync, b.work.release = s.after[i], s.after[i]
			_, _ = b.loop.Reconcile(t.Context(), obj)
			obj = b.read()
		}
		obj.DeletionTimestamp = gone
	}
	return obj
}

// TestStatusesForTools checks that the statuses which test/monitoring shows to Argo CD's health check and to kstatus
// are those that the engine writes.
func TestStatusesForTools(t *testing.T) {
	all := map[string]any{}
	for _, s := range situations {
		o := s.play(t)
		metadata := map[string]any{"name": o.Name, "namespace": o.Namespace, "generation": o.Generation}
		if o.Annotations != nil {
			metadata["annotations"] = o.Annotations
		}
		if o.DeletionTimestamp != nil {
			metadata["deletionTimestamp"] = o.DeletionTimestamp
		}
		all[s.name] = map[string]any{
			"apiVersion": v1alpha1.GroupVersion.String(), "kind": "S3Bucket", "metadata": metadata,
			"status": o.Status.CommonStatus,
		}
	}
	text, err := yaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	text = append([]byte("# Written by go test ./controllers/engine -run TestStatusesForTools -update: what the "+
		"engine makes of each situation.\n"), text...)
	if *update {
		if err := os.WriteFile(statusesFile, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	is, err := os.ReadFile(statusesFile)
	if err != nil || !bytes.Equal(is, text) {
		t.Errorf("%s is not what the engine writes (%v): see its first line", statusesFile, err)
	}
}
