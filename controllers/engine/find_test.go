package engine

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestAnErrorIsNotAbsence(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	reader := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object,
			o ...client.GetOption,
		) error {
			if key.Name == "broken" {
				return errors.New("etcd")
			}
			return c.Get(ctx, key, obj, o...)
		},
	}).Build()
	if found, err := Find(t.Context(), reader, client.ObjectKey{Name: "none"}, &v1alpha1.AWSProvider{}); found ||
		err != nil {
		t.Errorf("%t, %v", found, err)
	}
	if _, err := Find(t.Context(), reader, client.ObjectKey{Name: "broken"}, &v1alpha1.AWSProvider{}); err == nil ||
		err.Error() != "read the AWSProvider broken: etcd" {
		t.Errorf("%v", err)
	}
}
