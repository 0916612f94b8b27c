package cloud

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

func provider(change ...func(*v1alpha1.AWSProvider)) *v1alpha1.AWSProvider {
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "aws", Generation: 2}}
	p.Spec.Region, p.Spec.AllowedNamespaces = "eu-west-1", &metav1.LabelSelector{
		MatchLabels: map[string]string{"aws": "yes"},
	}
	p.Status.ObservedGeneration = 2
	p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionAuthenticated, Status: metav1.ConditionTrue}}
	for _, c := range change {
		c(p)
	}
	return p
}

func TestAdmissible(t *testing.T) {
	now := metav1.Time{Time: time.Unix(1, 0)}
	dying := func(b *v1alpha1.S3Bucket) { b.DeletionTimestamp = &now }
	holding := func(b *v1alpha1.S3Bucket) { b.Status.AccountID = "111122223333" }
	for _, x := range []struct {
		name     string
		provider *v1alpha1.AWSProvider
		labels   map[string]string
		region   string
		obj      func(*v1alpha1.S3Bucket)
		reason   string
	}{
		{"allowed", provider(), yes, "eu-west-1", nil, ""},
		{"not allowed", provider(), nil, "eu-west-1", nil, "ProviderNotFound"},
		{"not allowed any more", provider(), nil, "eu-west-1", holding, "ProviderNotAllowed"},
		{"no selector allows nobody", provider(func(p *v1alpha1.AWSProvider) { p.Spec.AllowedNamespaces = nil }), yes, "eu-west-1", nil, "ProviderNotFound"},
		{"an empty selector allows all", provider(func(p *v1alpha1.AWSProvider) { p.Spec.AllowedNamespaces = &metav1.LabelSelector{} }), nil, "eu-west-1", nil, ""},
		{"a bad selector allows nobody", provider(badSelector), yes, "eu-west-1", nil, "ProviderNotFound"},
		{"and tells who has something there", provider(badSelector), yes, "eu-west-1", holding, "InvalidProvider"},
		{"not yet checked", provider(func(p *v1alpha1.AWSProvider) { p.Status.Conditions = nil }), yes, "eu-west-1", nil, "ProviderNotReady"},
		{"changed since it was checked", provider(func(p *v1alpha1.AWSProvider) { p.Generation = 3 }), yes, "eu-west-1", nil, "ProviderNotReady"},
		{"credentials rejected", provider(func(p *v1alpha1.AWSProvider) { p.Status.Conditions[0].Status = metav1.ConditionFalse }), yes, "eu-west-1", nil, "ProviderNotReady"},
		{"another region", provider(), yes, "us-east-1", nil, "RegionNotAllowed"},
		{"an allowed region", provider(func(p *v1alpha1.AWSProvider) { p.Spec.AllowedRegions = []string{"us-east-1"} }), yes, "us-east-1", nil, ""},
		{"a provider that is going takes nothing new", provider(func(p *v1alpha1.AWSProvider) { p.DeletionTimestamp = &now }), yes, "eu-west-1", nil, "ProviderDeleting"},
		{"but keeps what it has", provider(func(p *v1alpha1.AWSProvider) { p.DeletionTimestamp = &now }), yes, "eu-west-1", func(b *v1alpha1.S3Bucket) { b.Status.ARN = "arn" }, ""},
		{"deletion goes on when the namespace is not allowed any more", provider(), nil, "eu-west-1", dying, ""},
		{"deletion too needs credentials", provider(func(p *v1alpha1.AWSProvider) { p.Status.Conditions = nil }), yes, "eu-west-1", dying, "ProviderNotReady"},
	} {
		t.Run(x.name, func(t *testing.T) {
			obj := object()
			if x.obj != nil {
				x.obj(obj)
			}
			u := useOf("S3Bucket", obj)
			u.Region = x.region
			err := checkUse(x.provider, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: x.labels}},
				u)
			wait, _ := engine.AsWait(err)
			if got := reason(wait); got != x.reason {
				t.Errorf("got %q (%v), want %q", got, err, x.reason)
			}
		})
	}
}

var yes = map[string]string{"aws": "yes"}

func badSelector(p *v1alpha1.AWSProvider) {
	p.Spec.AllowedNamespaces = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "a", Operator: "Near"},
	}}
}

// The provider is deleted just before a creation, and the cache does not show it yet.
func TestNothingIsMadeWithAProviderThatIsGoing(t *testing.T) {
	now := metav1.Time{Time: time.Unix(1, 0)}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "uid", Annotations: map[string]string{
		v1alpha1.AnnotationFormerUID: "f1, f2",
	}}}
	withdrawn := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "uid"}}
	for name, row := range map[string]struct {
		live   []client.Object
		reason string
	}{
		"it stays":    {[]client.Object{ns, provider()}, ""},
		"it is going": {[]client.Object{ns, provider(func(p *v1alpha1.AWSProvider) { p.DeletionTimestamp, p.Finalizers = &now, []string{"x/y"} })}, "ProviderDeleting"},
		"the namespace is not what it was any more": {[]client.Object{withdrawn, provider()}, "Settling"},
		"it has gone":            {[]client.Object{ns}, "ProviderDeleting"},
		"its rules have changed": {[]client.Object{ns, provider(func(p *v1alpha1.AWSProvider) { p.Generation = 3 })}, "Settling"},
	} {
		c := Connector{APIReader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(row.live...).Build()}
		err := c.Recheck(t.Context(), &Session{
			Provider: "aws", ProviderGeneration: 2,
			Identity: Identity{NamespaceUID: "uid", FormerNamespaceUIDs: []string{"f1", "f2"}},
		}, "n")
		wait, _ := engine.AsWait(err)
		if got := reason(wait); got != row.reason || (err != nil) != (row.reason != "") {
			t.Errorf("%s: %q (%v), want %q", name, got, err, row.reason)
		}
	}
}

func reason(p *engine.WaitError) string {
	if p == nil {
		return ""
	}
	return p.Reason
}

func TestPinned(t *testing.T) {
	pinned := provider(func(p *v1alpha1.AWSProvider) { p.Status.AccountID = "111122223333" })
	if err := CheckAccount(pinned, &Session{AccountID: "111122223333"}); err != nil {
		t.Error(err)
	}
	err := CheckAccount(pinned, &Session{AccountID: "444455556666"})
	if wait, ok := engine.AsWait(err); !ok || wait.Reason != "AccountMismatch" ||
		!strings.Contains(err.Error(), "444455556666") {
		t.Errorf("got %v", err)
	}
	declared := provider(func(p *v1alpha1.AWSProvider) { p.Spec.AccountID = "111122223333" })
	if CheckAccount(declared, &Session{AccountID: "444455556666"}) == nil {
		t.Error("spec.accountID does not bind")
	}
	if err := CheckAccount(provider(), &Session{AccountID: "444455556666"}); err != nil {
		t.Error("nothing is pinned yet:", err)
	}
}
