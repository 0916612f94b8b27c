package hostname

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Deleting hostnames and requesting them again uses up the namespace's own rate, not the account's quota.
func TestANamespacesCertificatesArePaced(t *testing.T) {
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	grant := func(ns string) *v1alpha1.HostnameGrant {
		g := &v1alpha1.HostnameGrant{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: v1alpha1.HostnameGrantName}}
		g.Spec.MaxHostnames = 3
		return g
	}
	c := fake.NewClientBuilder().WithScheme(s).WithObjects(grant("payments"), grant("search")).WithStatusSubresource(
		&v1alpha1.HostnameGrant{}).Build()
	p := CertificateLimiter{Client: c, APIReader: c}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	take := func(ns string) error { return p.Allow(t.Context(), ns, now) }
	for range 3 {
		if err := take("payments"); err != nil {
			t.Fatal(err)
		}
	}
	wait, ok := engine.AsWait(take("payments"))
	if !ok || wait.Reason != "CertificatesPaced" || wait.After != certificateEvery {
		t.Fatalf("the fourth: %+v, want CertificatesPaced, again after %s", wait, certificateEvery)
	}
	if want := "is requested at 2026-01-02 15:04 UTC"; !strings.Contains(wait.Error(), want) {
		t.Errorf("the fourth: %v, want %q in it", wait, want)
	}
	if err := take("search"); err != nil {
		t.Errorf("another namespace: %v", err)
	}
	now = now.Add(certificateEvery)
	if err := take("payments"); err != nil {
		t.Errorf("half a day later: %v", err)
	}
	if _, ok := engine.AsWait(take("payments")); !ok {
		t.Error("and one more")
	}
	now = now.Add(100 * certificateEvery)
	for range 3 {
		if err := take("payments"); err != nil {
			t.Errorf("after a long rest: %v", err)
		}
	}
	if _, ok := engine.AsWait(take("payments")); !ok {
		t.Error("a rest saves up more than maxHostnames")
	}
	if err := take("without-a-grant"); err != nil {
		t.Errorf("what was claimed under a grant that is gone: %v", err)
	}
}

func TestACertificateThatCannotBeCountedIsNotRequested(t *testing.T) {
	boom := errors.New("boom")
	c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return boom
		},
	}).Build()
	if err := (CertificateLimiter{Client: c, APIReader: c}).Allow(t.Context(), "payments", time.Unix(1, 0)); !errors.Is(
		err, boom) {
		t.Error(err)
	}
}
