package claim

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

func TestAClaimThatIsHeldStays(t *testing.T) {
	holder := &v1alpha1.GatewayHostnameRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "r", UID: "1"}}
	one := &v1alpha1.DomainClaim{
		Spec: v1alpha1.DomainClaimSpec{Holder: v1alpha1.ClaimHolder{Namespace: "a", Name: "r", UID: "1"}},
	}
	with, without := cluster(t, interceptor.Funcs{}, holder), cluster(t, interceptor.Funcs{})
	if err := (Reconciler{Reader: with, APIReader: with}).Reconcile(t.Context(), one, engine.NewPass(nil)); err != nil {
		t.Errorf("held: %v", err)
	}
	if err := (Reconciler{Reader: with, APIReader: with}).Finalize(t.Context(), one, engine.NewPass(nil)); reasonOf(
		err) != "Held" {
		t.Errorf("deleting it: %v", err)
	}
	if err := (Reconciler{Reader: without, APIReader: with}).Reconcile(
		t.Context(), one, engine.NewPass(nil)); err != nil {
		t.Errorf("with a cache that is behind: %v", err)
	}
	if err := (Reconciler{Reader: without, APIReader: without}).Reconcile(
		t.Context(), one, engine.NewPass(nil)); reasonOf(err) != "HolderGone" {
		t.Errorf("without its holder: %v", err)
	}
	if err := (Reconciler{Reader: without, APIReader: without}).Finalize(
		t.Context(), one, engine.NewPass(nil)); err != nil {
		t.Errorf("deleting what nobody holds: %v", err)
	}
	one.Spec.Holder.UID = "2"
	if err := (Reconciler{Reader: with, APIReader: with}).Reconcile(t.Context(), one, engine.NewPass(nil)); reasonOf(
		err) != "HolderGone" {
		t.Errorf("held by one of before of the same name: %v", err)
	}
	holder.Annotations = map[string]string{v1alpha1.AnnotationFormerUID: "2"}
	restored := cluster(t, interceptor.Funcs{}, holder)
	if err := (Reconciler{Reader: restored, APIReader: restored}).Reconcile(
		t.Context(), one, engine.NewPass(nil)); err != nil {
		t.Errorf("held by one of a lost cluster: %v", err)
	}
}
