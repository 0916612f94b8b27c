package external

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// An object that is kept again before it has adopted its Secrets leaves them to the next one unchanged.
func TestSecretsFollowAnObjectThatIsKeptAgainAndAgain(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c := fake.NewClientBuilder().WithScheme(scheme).Build()
	secrets := Secrets{APIReader: c, Client: c}
	life := func(uid, keptFrom string) *v1alpha1.S3Bucket {
		return bucket(func(b *v1alpha1.S3Bucket) {
			b.UID, b.Annotations = types.UID(uid), map[string]string{v1alpha1.AnnotationKeptFrom: keptFrom}
		})
	}
	first, second, third := life("1", ""), life("2", "1"), life("3", "2")
	if err := secrets.Store(t.Context(), v1alpha1.KindS3Bucket, first, PurposeMaster,
		map[string]string{"password": "x"}); err != nil {
		t.Fatal(err)
	}
	for _, b := range []*v1alpha1.S3Bucket{first, second} {
		if err := secrets.LetGo(t.Context(), v1alpha1.KindS3Bucket, b); err != nil {
			t.Fatal(err)
		}
	}
	values, err := secrets.Load(t.Context(), v1alpha1.KindS3Bucket, third, PurposeMaster)
	if err != nil || values["password"] != "x" {
		t.Errorf("%v, %v", values, err)
	}
	secret := &corev1.Secret{}
	if err := c.Get(t.Context(),
		client.ObjectKey{Namespace: "n", Name: SecretName(v1alpha1.KindS3Bucket, third, PurposeMaster)},
		secret); err != nil || !metav1.IsControlledBy(secret, third) {
		t.Errorf("%+v, %v", secret.ObjectMeta, err)
	}
}
