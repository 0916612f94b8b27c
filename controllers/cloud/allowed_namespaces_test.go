package cloud

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// A namespace that is not allowed to use a provider gets the same error as for a name that does not exist, whatever the
// provider's state.
func TestANamespaceThatIsNotAllowedLearnsNothing(t *testing.T) {
	now := metav1.Time{Time: time.Unix(1, 0)}
	secret := func(p *v1alpha1.AWSProvider) {
		p.Status.Conditions[0].Status, p.Status.Conditions[0].Message = metav1.ConditionFalse,
			"the Secret payroll-root does not exist"
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var first string
	for name, p := range map[string]*v1alpha1.AWSProvider{
		"there is none": nil, "it works": provider(), "it is broken": provider(secret), "it is not checked": provider(
			func(p *v1alpha1.AWSProvider) { p.Generation = 3 }),
		"it is going": provider(func(p *v1alpha1.AWSProvider) {
			p.DeletionTimestamp, p.Finalizers = &now, []string{"x/y"}
		}),
		"its selector is no good": provider(badSelector),
	} {
		b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
		if p != nil {
			b = b.WithObjects(p)
		}
		_, err := Connector{Reader: b.Build()}.OpenFor(
			t.Context(), ProviderUse{Kind: "S3Bucket", Namespace: "n", Provider: "aws", Region: "us-east-1"})
		if err == nil {
			t.Fatalf("%s: it may use it", name)
		}
		if first == "" {
			first = err.Error()
		}
		if err.Error() != first {
			t.Errorf("%s: %q, and before %q", name, err, first)
		}
	}
}
