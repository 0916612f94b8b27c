//go:build integration

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// stamp returns who last changed the spec and in which generation, as admission has recorded it.
func stamp(obj client.Object) string {
	a := obj.GetAnnotations()
	return a[v1alpha1.AnnotationChangedBy] + " " + a[v1alpha1.AnnotationChangedGeneration]
}

func TestWhoChangedASpecIsRecordedAndCannotBeForged(t *testing.T) {
	c, platform := asDeveloper(t), admin(t)
	b := newBucket("payments", unique("stamped"))
	b.Annotations = map[string]string{
		v1alpha1.AnnotationChangedBy:         "somebody-else",
		v1alpha1.AnnotationChangedGeneration: "7", v1alpha1.AnnotationPaused: "true",
	}
	remove(t, "payments", b.Name)
	if err := c.Create(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	const forged = `{"metadata":{"annotations":{"portico.dev/changed-by":"somebody-else","portico.dev/changed-generation":"99"}}}`
	for _, step := range []struct {
		what, patch, want string
		as                client.Client
	}{
		{"created with a forged stamp", `{}`, "oidc:payments-dev 1", c},
		{"a forged stamp alone", forged, "oidc:payments-dev 1", c},
		{"no stamp any more", `{"metadata":{"annotations":{"portico.dev/changed-by":null,"portico.dev/changed-generation":null}}}`, "oidc:payments-dev 1", c},
		{"no annotations any more", `{"metadata":{"annotations":null}}`, "oidc:payments-dev 1", c},
		{"another annotation, by an admin", `{"metadata":{"annotations":{"portico.dev/paused":"true"}}}`, "oidc:payments-dev 1", platform},
		{"a forged client", `{"metadata":{"annotations":{"portico.dev/changed-with":"x"}}}`, "oidc:payments-dev 1", c},
		{"the spec, by an admin", `{"spec":{"forceDestroy":true}}`, "portico-admin 2", platform},
		{"the spec, with a forged stamp", `{"metadata":{"annotations":{"portico.dev/changed-by":"x"}},"spec":{"forceDestroy":false}}`, "oidc:payments-dev 3", c},
	} {
		if err := step.as.Patch(t.Context(), b,
			client.RawPatch("application/merge-patch+json", []byte(step.patch))); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if with := b.Annotations[v1alpha1.AnnotationChangedWith]; with != "" {
			t.Errorf("%s: it was changed with %q, and nobody named a field manager", step.what, with)
		}
		got := stamp(b)
		if strings.HasPrefix(step.want, "portico-admin ") { // regardless of the stack's name for its admin
			got = "portico-admin " + b.Annotations[v1alpha1.AnnotationChangedGeneration]
			if by := b.Annotations[v1alpha1.AnnotationChangedBy]; by == "" || by == "oidc:payments-dev" {
				t.Errorf("%s: changed by %q", step.what, by)
			}
		}
		if got != step.want {
			t.Errorf("%s: %q, want %q", step.what, got, step.want)
		}
	}
	b.Status.BucketName = "a-name"
	if err := platform.Status().Update(t.Context(), b); err != nil || stamp(b) != "oidc:payments-dev 3" {
		t.Errorf("status written: %q, %v", stamp(b), err)
	}
}

func TestARollbackIsByWhoAskedForIt(t *testing.T) {
	c := asDeveloper(t)
	cfg, err := world.ServiceAccountConfig(t.Context(), stack.Namespace, "portico-operator")
	if err != nil {
		t.Fatal(err)
	}
	operator, err := client.New(cfg, client.Options{Scheme: scheme()})
	if err != nil {
		t.Fatal(err)
	}
	app := appOf("payments", unique("rolled"))
	discard(t, app.DeepCopy())
	if err := admin(t).Create(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		what, patch, want string
		as                client.Client
	}{
		{"asked for", `{"metadata":{"annotations":{"portico.dev/rollback":"1"}}}`, "oidc:payments-dev 2", c},
		{"carried out", `{"metadata":{"annotations":{"portico.dev/rollback":null}},"spec":{"image":"registry.example.com/shop:0.9"}}`, "oidc:payments-dev 2", operator},
		{"asked for again", `{"metadata":{"annotations":{"portico.dev/rollback":"7"}}}`, "oidc:payments-dev 3", c},
		{"impossible", `{"metadata":{"annotations":{"portico.dev/rollback":null}}}`, " ", operator},
	} {
		if err := step.as.Patch(t.Context(), app,
			client.RawPatch("application/merge-patch+json", []byte(step.patch))); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if got := stamp(app); got != step.want {
			t.Errorf("%s: %q, want %q", step.what, got, step.want)
		}
	}
}

// historyOf returns the records of an object by generation: who changed it, and how.
func historyOf(t *testing.T, c client.Client, obj client.Object) map[int64]string {
	t.Helper()
	all := &appsv1.ControllerRevisionList{}
	if err := c.List(t.Context(), all, client.InNamespace(obj.GetNamespace()), client.MatchingLabels{
		v1alpha1.LabelHistoryOf: string(obj.GetUID()),
	}); err != nil {
		t.Fatal(err)
	}
	out := map[int64]string{}
	for _, r := range all.Items {
		out[r.Revision] = r.Annotations[v1alpha1.AnnotationChangedBy] + " " +
			r.Annotations[v1alpha1.AnnotationChangedWith]
	}
	return out
}

func TestTheHistoryOfAnApplicationSaysWhoChangedIt(t *testing.T) {
	c, platform := asDeveloper(t), withOperator(t)
	app := appOf("payments", unique("past"))
	discard(t, app.DeepCopy())
	if err := c.Create(t.Context(), app, client.FieldOwner("kubectl-create")); err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		what string
		do   func() error
		want string
	}{
		{"requested", func() error { return nil }, "oidc:payments-dev kubectl-create"},
		{"changed", func() error {
			await(t, "the next second, for managed fields know no less", func() (bool, string) {
				return time.Now().Truncate(time.Second).After(app.CreationTimestamp.Time), ""
			})
			return c.Patch(t.Context(), app,
				client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"port":9090}}`)),
				client.FieldOwner("kubectl-edit"))
		}, "oidc:payments-dev kubectl-edit"},
		{"a field taken away", func() error {
			return c.Patch(t.Context(), app,
				client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"port":null}}`)),
				client.FieldOwner("kubectl-apply"))
		}, "oidc:payments-dev kubectl-apply"},
		{"scaled past the policy", func() error {
			size := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 2}}
			return c.SubResource("scale").Update(t.Context(), app, client.WithSubResourceBody(size), client.FieldOwner(
				"kubectl"))
		}, " "},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		generation := int64(i + 1)
		await(t, step.what+" to be recorded", func() (bool, string) {
			got := historyOf(t, platform, app)
			return got[generation] == step.want && len(got) == i+1, fmt.Sprint(got)
		})
	}
	if err := platform.Delete(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	await(t, "the history to go with the application", func() (bool, string) {
		got := historyOf(t, platform, app)
		return len(got) == 0, fmt.Sprint(got)
	})
}

func TestNobodyElseWritesAHistory(t *testing.T) {
	platform := admin(t)
	forged := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: unique("forged"), Labels: map[string]string{v1alpha1.LabelHistoryOf: "u"}},
		Data:       runtime.RawExtension{Raw: []byte(`{"spec":{}}`)}, Revision: 1,
	}
	if err := platform.Create(t.Context(), forged.DeepCopy()); !apierrors.IsForbidden(err) ||
		!strings.Contains(err.Error(), "only Portico's operator writes the history") {
		t.Errorf("made: %v", err)
	}
	other := forged.DeepCopy()
	// with the name of a second revision
	other.Labels, other.Name = nil, "portico-01234567-89ab-cdef-0123-456789abcdef-2"
	if err := platform.Create(t.Context(), other.DeepCopy()); !apierrors.IsForbidden(err) {
		t.Errorf("one that takes the name of ours: %v", err)
	}
	other.Name = forged.Name
	if err := platform.Create(t.Context(), other); err != nil {
		t.Fatalf("one that is no history of ours: %v", err)
	}
	t.Cleanup(func() { _ = platform.Delete(t.Context(), other) })
	other.Labels = forged.Labels
	if err := platform.Update(t.Context(), other); !apierrors.IsForbidden(err) {
		t.Errorf("one of others made ours: %v", err)
	}
}

func TestTheHistoryOverRESTNamesTheWay(t *testing.T) {
	withOperator(t)
	p := startPortal(t, "", sessionKeys(t))
	token := userToken(t, "payments-dev")
	name := unique("rest-past")
	remove(t, "payments", name)
	p.call(t, token, "POST", "/namespaces/payments/s3buckets", bucketBody(name, "")).want(t, http.StatusCreated)
	at := "/namespaces/payments/s3buckets/" + name
	await(t, "the request to be recorded", func() (bool, string) {
		got := fmt.Sprint(p.call(t, token, "GET", at+"/history", nil).want(t, http.StatusOK).body["items"])
		return strings.Contains(got, "changedBy:oidc:payments-dev changedWith:portico-api") &&
			strings.Contains(got, "generation:1"), got
	})
	p.call(t, userToken(t, "search-dev"), "GET", at+"/history", nil).want(t, http.StatusForbidden)
}
