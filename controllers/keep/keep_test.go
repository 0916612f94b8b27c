package keep

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

var buckets = schema.GroupResource{Group: "portico.dev", Resource: "s3buckets"}

// leaving returns the API server's error for a namespace that is being deleted.
func leaving() error {
	err := apierrors.NewForbidden(buckets, "docs", errors.New("the namespace is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

func TestARequestIsRecordedOnlyIfItCouldBeMadeAgain(t *testing.T) {
	for name, row := range map[string]struct {
		answer   error
		recorded bool
		reason   string // of the WaitError
	}{
		"only the name is taken": {apierrors.NewAlreadyExists(buckets, "docs"), true, ""},
		"a policy refuses it":    {apierrors.NewForbidden(buckets, "docs", errors.New("no more buckets")), false, "KeepRefused"},
		"the namespace leaves":   {leaving(), false, ""},
	} {
		s := runtime.NewScheme()
		if err := errors.Join(v1alpha1.AddToScheme(s), corev1.AddToScheme(s)); err != nil {
			t.Fatal(err)
		}
		inner := fake.NewClientBuilder().WithScheme(s).Build()
		c := interceptor.NewClient(inner, interceptor.Funcs{
			Create: func(ctx context.Context, w client.WithWatch, obj client.Object,
				opts ...client.CreateOption,
			) error {
				if _, record := obj.(*corev1.ConfigMap); !record {
					return row.answer
				}
				return w.Create(ctx, obj, opts...)
			},
		})
		b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "docs", UID: "u-1"}}
		err := Keeper{Client: c, APIReader: c, Namespace: "portico-system"}.Record(t.Context(), "S3Bucket", b)
		if wait, _ := engine.AsWait(err); (wait != nil) != (row.reason != "") ||
			wait != nil && wait.Reason != row.reason {
			t.Errorf("%s: %v", name, err)
		}
		if (name == "the namespace leaves") != errors.Is(err, external.ErrNamespaceLeaves) {
			t.Errorf("%s: %v", name, err)
		}
		found, err := engine.Find(t.Context(), c, client.ObjectKey{Namespace: "portico-system", Name: Prefix + "u-1"},
			&corev1.ConfigMap{})
		if err != nil || found != row.recorded {
			t.Errorf("%s: recorded %v, %v", name, found, err)
		}
	}
}

func TestWhatIsMadeAgainIsWhatUsersWrote(t *testing.T) {
	b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{
		Namespace: "payments", Name: "docs", UID: "u-1", ResourceVersion: "7", Finalizers: []string{"example.com/wait"},
		OwnerReferences: []metav1.OwnerReference{{Name: "x"}}, Labels: map[string]string{"cost": "42"},
		Annotations: map[string]string{
			"example.com/note": "ours", v1alpha1.AnnotationRequestedBy: "oidc:jane", v1alpha1.AnnotationKeep: "true",
			v1alpha1.AnnotationConfirmDeletion: "docs", v1alpha1.AnnotationRotatePassword: "1",
			v1alpha1.AnnotationAcknowledgeRecreate: "1",
		},
	}}
	b.Spec.ForceDestroy, b.Status.Ready = true, true
	got, err := requestOf("S3Bucket", b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{
		v1alpha1.AnnotationKeptFrom: "u-1", v1alpha1.AnnotationRequestedBy: "oidc:jane", "example.com/note": "ours",
	}, got.GetAnnotations()); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if id := string(got.GetUID()) + got.GetResourceVersion(); id != "" || got.Object["status"] != nil {
		t.Errorf("UID and version = %q, status = %v; want none", id, got.Object["status"])
	}
	if got.GetFinalizers() != nil || got.GetOwnerReferences() != nil {
		t.Errorf("finalizers = %v, owners = %v; want none", got.GetFinalizers(), got.GetOwnerReferences())
	}
	if got.GetLabels()["cost"] != "42" || got.Object["spec"].(map[string]any)["forceDestroy"] != true {
		t.Errorf("less than users wrote: %v", got.Object)
	}
}
