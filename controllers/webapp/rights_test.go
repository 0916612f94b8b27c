package webapp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/webapp"
)

const checksum = "portico.dev/aws-access-checksum"

// accessBinding returns the app's AccessBinding, nil if there is none.
func (l *life) accessBinding() *v1alpha1.AccessBinding {
	l.t.Helper()
	b := &v1alpha1.AccessBinding{}
	err := l.Others.Get(l.t.Context(), client.ObjectKeyFromObject(l.app), b)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return b
}

// answers sets the AccessBinding's status for its current generation.
func (l *life) answers(status v1alpha1.AccessBindingStatus, reason, text string) {
	l.t.Helper()
	b := l.accessBinding()
	before := b.DeepCopy()
	b.Status = status
	b.Status.Ready, b.Status.ObservedGeneration = reason == "InSync", b.Generation
	ready := metav1.ConditionFalse
	if b.Status.Ready {
		ready = metav1.ConditionTrue
	}
	b.Status.Conditions = []metav1.Condition{
		{Type: "Ready", Status: ready, Reason: reason, Message: text, LastTransitionTime: metav1.Now()},
	}
	if err := l.Others.Status().Patch(l.t.Context(), b, client.MergeFrom(before)); err != nil {
		l.t.Fatal(err)
	}
}

func bound(access v1alpha1.BindingAccess) app {
	return shop(func(s *v1alpha1.WebAppSpec) {
		s.Bindings = []v1alpha1.WebAppBinding{{Kind: "SNSTopic", Name: "news", Access: access}}
	})
}

var granted = v1alpha1.AccessBindingStatus{RoleARN: "arn:role", AssociationARN: "arn:a-1", Policy: "send"}

func TestPodsBeginWithTheirRights(t *testing.T) {
	l := begin(t, bound(v1alpha1.AccessWrite))
	l.is(l.sync(), "WaitingForAccess", "waiting until the Pods have their rights in AWS: they are not checked yet")
	if diff := cmp.Diff(v1alpha1.AccessBindingSpec{
		ProviderRef: v1alpha1.LocalRef{Name: "main"}, ServiceAccountName: "shop",
		Resources: []v1alpha1.AccessBindingResource{{Kind: "SNSTopic", Name: "news", Access: v1alpha1.AccessWrite}},
	}, l.accessBinding().Spec); diff != "" {
		t.Errorf("spec of the AccessBinding (-want +got):\n%s", diff)
	}
	l.answers(v1alpha1.AccessBindingStatus{}, "AccessDenied", "eks:CreatePodIdentityAssociation is missing")
	l.is(l.sync(), "WaitingForAccess", "waiting until the Pods have their rights in AWS: "+
		"eks:CreatePodIdentityAssociation is missing")
	if got := l.marked("AWSAccess"); !strings.HasPrefix(got, "False WaitingForAccess") {
		t.Errorf("AWSAccess is %q", got)
	}
	if err := l.Others.Get(t.Context(), client.ObjectKeyFromObject(l.app),
		deployment.DeepCopy()); !apierrors.IsNotFound(err) {
		t.Errorf("Pods began without: %v", err)
	}
	l.answers(granted, "InSync", "")
	l.is(l.sync(), "RollingOut", "0 of 1 replica updated")
	if got := l.marked("AWSAccess"); !strings.HasPrefix(got, "True Granted") ||
		l.deployment().Spec.Template.Annotations[checksum] == "" {
		t.Errorf("AWSAccess is %q, Pods %v", got, l.deployment().Spec.Template.Annotations)
	}
}

// Credentials have the rights from when they were created: Pods are replaced when the rights have changed, and not
// before.
func TestPodsAreReplacedWhenTheirRightsChange(t *testing.T) {
	l := begin(t, bound(v1alpha1.AccessWrite))
	_ = l.sync()
	l.answers(granted, "InSync", "")
	_ = l.sync()
	first := l.deployment().Spec.Template.Annotations[checksum]

	l.app.Spec.Bindings[0].Access = v1alpha1.AccessReadWrite
	_ = l.sync()
	if got := l.accessBinding().Spec.Resources[0].Access; got != v1alpha1.AccessReadWrite {
		t.Errorf("asks for %s", got)
	}
	changed := granted
	changed.Policy = "send and receive"
	l.answers(changed, "Propagating", "within seconds")
	l.is(l.sync(), "WaitingForAccess", "waiting until the Pods have their rights in AWS: within seconds")
	if got := l.deployment().Spec.Template.Annotations[checksum]; got != first {
		t.Error("Pods are replaced before the rights hold")
	}
	l.answers(changed, "InSync", "")
	_ = l.sync()
	if got := l.deployment().Spec.Template.Annotations[checksum]; got == first || got == "" {
		t.Errorf("Pods keep the rights of before: %q", got)
	}

	l.app.Spec.Image = "registry.example.com/shop:2.0.0" // a running application is not blocked
	l.answers(changed, "Throttled", "slow down")
	l.is(l.sync(), "RollingOut", "0 of 1 replica updated")
	if got := l.deployment().Spec.Template.Spec.Containers[0].Image; got != l.app.Spec.Image {
		t.Errorf("runs %s", got)
	}
}

// Rights are removed at once, whatever else is waited for.
func TestRightsGoWithTheBinding(t *testing.T) {
	l := begin(t, bound(""))
	_ = l.sync()
	l.app.Spec.Bindings, l.app.Spec.Expose = nil, &v1alpha1.WebAppExpose{Hostname: "shop"}
	rec := work(l.Cluster).(webapp.Reconciler)
	rec.Routes = routes(webapp.Address{Named: webapp.Named{Found: true, State: "pending"}})
	if err := l.with(rec); err == nil || l.accessBinding() != nil {
		t.Errorf("%v, left %v", err, l.accessBinding())
	}
	if got := l.marked("AWSAccess"); got != "" {
		t.Errorf("AWSAccess is %q", got)
	}
}

func TestRightsGoWhenTheAccountGivesNone(t *testing.T) {
	l := begin(t, bound(""))
	_ = l.sync()
	rec := work(l.Cluster).(webapp.Reconciler)
	rec.GivesRights = func(context.Context, string) (bool, error) { return false, nil }
	if l.is(l.with(rec), "RollingOut", "0 of 1 replica updated"); l.accessBinding() != nil {
		t.Error("left")
	}
	if got := l.marked("AWSAccess"); !strings.HasPrefix(got, "False NoIdentity") {
		t.Errorf("AWSAccess is %q", got)
	}
}

// Without EKS Pod Identity the ServiceAccount names the role before a Pod starts.
func TestAServiceAccountNamesTheRoleOfItsRights(t *testing.T) {
	l := begin(t, bound(""))
	_ = l.sync()
	l.answers(v1alpha1.AccessBindingStatus{Mode: v1alpha1.WorkloadIdentityIRSA, RoleARN: "arn:role/shop", Policy: "p"},
		"InSync", "")
	_ = l.sync()
	got := &corev1.ServiceAccount{}
	if err := l.Others.Get(t.Context(), client.ObjectKeyFromObject(l.app), got); err != nil ||
		got.Annotations[v1alpha1.AnnotationRoleARN] != "arn:role/shop" {
		t.Errorf("%v, annotations %v", err, got.Annotations)
	}
	l.app.Spec.Identity = &v1alpha1.WebAppIdentity{AWSRoleARN: "arn:aws:iam::111122223333:role/shop"}
	if _ = l.sync(); l.accessBinding() != nil {
		t.Error("a role of the spec, and rights by Portico beside")
	}
}

// Foreign changes to the AccessBinding are reverted, and somebody else's object of this name is left alone.
func TestTheRightsAreWhatTheBindingsSay(t *testing.T) {
	l := begin(t, bound(v1alpha1.AccessWrite))
	_ = l.sync()
	b := l.accessBinding()
	b.Spec.Resources = append(b.Spec.Resources, v1alpha1.AccessBindingResource{Kind: "S3Bucket", Name: "more"})
	b.Spec.Resources[0].Access = v1alpha1.AccessReadWrite
	if err := l.Others.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	_ = l.sync()
	if got := l.accessBinding().Spec.Resources; len(got) != 1 || got[0].Access != v1alpha1.AccessWrite {
		t.Errorf("asks for %+v", got)
	}

	other := begin(t, bound(v1alpha1.AccessWrite))
	theirs := &v1alpha1.AccessBinding{ObjectMeta: at("shop")}
	if err := other.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	other.is(other.sync(), "Conflict", "an AccessBinding shop exists already and is left alone: Portico did not make "+
		"it; delete or rename it, or request this WebApp under another name")
	if got := other.accessBinding(); len(got.Spec.Resources) != 0 {
		t.Errorf("theirs asks for %+v", got.Spec.Resources)
	}
	other.app.Spec.Bindings = nil
	if _ = other.sync(); other.accessBinding() == nil {
		t.Error("theirs is deleted")
	}
}

// A running application is blocked neither by somebody else's object of the same name nor by a paused one.
func TestWhatRunsIsNotHeldUpByItsRights(t *testing.T) {
	l := begin(t, bound(v1alpha1.AccessWrite))
	_ = l.sync()
	l.answers(granted, "InSync", "")
	_ = l.sync()
	b := l.accessBinding()
	b.Annotations = map[string]string{
		v1alpha1.AnnotationPaused: "true",
		"portico.dev/applied":     b.Annotations["portico.dev/applied"],
	}
	if err := l.Others.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	before := b.DeepCopy()
	b.Status.ObservedGeneration-- // not observed at its next generation
	if err := l.Others.Status().Patch(t.Context(), b, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	l.app.Spec.Bindings[0].Access, l.app.Spec.Image = v1alpha1.AccessReadWrite, "registry.example.com/shop:2.0.0"
	if l.is(l.sync(), "RollingOut",
		"0 of 1 replica updated"); l.deployment().Spec.Template.Spec.Containers[0].Image != l.app.Spec.Image {
		t.Error("a paused AccessBinding holds up the rollout")
	}
	if got := l.marked("AWSAccess"); !strings.Contains(got, "paused") {
		t.Errorf("AWSAccess is %q", got)
	}

	other := begin(t, bound(v1alpha1.AccessWrite))
	other.app.Status.Bindings = []v1alpha1.WebAppBound{{Kind: "SNSTopic", Name: "news"}}
	if err := other.Create(t.Context(), &v1alpha1.AccessBinding{ObjectMeta: at("shop")}); err != nil {
		t.Fatal(err)
	}
	if other.is(other.sync(), "RollingOut", "0 of 1 replica updated"); !strings.HasPrefix(
		other.marked("AWSAccess"), "False Conflict") {
		t.Errorf("AWSAccess is %q", other.marked("AWSAccess"))
	}
}
