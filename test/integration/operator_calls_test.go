//go:build integration

package integration

import (
	"path"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/transport"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/test/bench/fakeaws"
	"github.com/portico-platform/portico/test/stack"
)

// TestWhatABucketCosts checks that a new bucket with only a name costs six requests to the API server until it is
// Ready, and its deletion two. The fake AWS shows every change at once.
func TestWhatABucketCosts(t *testing.T) {
	c := admin(t)
	aws, err := fakeaws.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = aws.Close() })
	namespace := team(t, c)
	at := &v1alpha1.AWSProvider{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: stack.Provider}, at); err != nil {
		t.Fatal(err)
	}
	at = &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "fake-" + namespace}, Spec: at.Spec}
	at.Spec.Endpoint, at.Spec.AssumeRoleARN, at.Spec.AccountID = aws.URL, "", fakeaws.AccountID
	at.Spec.AllowedNamespaces = &metav1.LabelSelector{
		MatchLabels: map[string]string{corev1.LabelMetadataName: namespace},
	}
	create(t, c, at)
	t.Cleanup(func() { _ = client.IgnoreNotFound(c.Delete(t.Context(), at)) })
	cfg, err := world.ServiceAccountConfig(t.Context(), stack.Namespace, "portico-operator")
	if err != nil {
		t.Fatal(err)
	}
	all := &calls{}
	cfg.WrapTransport = transport.Wrappers(cfg.WrapTransport, all.noting)
	startOperatorAs(t, cfg, operatorOptions{endpoints: cloud.Endpoints{aws.URL}})
	bucket := func(name string) *v1alpha1.S3Bucket {
		b := newBucket(namespace, unique(name))
		b.Spec.ProviderRef.Name = at.Name
		return b
	}
	first := bucket("first") // so that the provider has been checked and the namespace read
	create(t, c, first)
	ready(t, c, first)
	b := bucket("costs")
	requests := func(of string, most int, do func()) {
		t.Helper()
		asked(t, all)
		do()
		got := asked(t, all)
		for i, one := range got {
			got[i].path = strings.NewReplacer(b.Name, "NAME", namespace, "NAMESPACE").Replace(one.path)
		}
		if len(got) > most {
			t.Errorf("%s costs %d requests, and not %d at most: %v", of, len(got), most, got)
		}
	}
	requests("a new bucket", 6, func() {
		if err := c.Create(t.Context(), b, client.FieldOwner("kubectl-create")); err != nil {
			t.Fatal(err)
		}
		ready(t, c, b)
	})
	requests("a second look", 0, func() {})
	requests("its deletion", 2, func() {
		if err := erase(t, c, b); err != nil {
			t.Fatal(err)
		}
		awaitGone(t, c, b)
	})
}

// asked waits until there has been no request for two seconds, and returns the requests until then, without watches and
// leases.
func asked(t *testing.T, all *calls) (got []call) {
	t.Helper()
	for last := time.Now(); time.Since(last) < 2*time.Second; time.Sleep(50 * time.Millisecond) {
		for _, one := range all.take() {
			if !one.isWatch() && path.Base(path.Dir(one.path)) != "leases" {
				got, last = append(got, one), time.Now()
			}
		}
	}
	return got
}
