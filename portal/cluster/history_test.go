package cluster

import (
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
)

// recorded returns a ControllerRevision that the operator recorded at ten, of a change at minutes after nine.
func recorded(owner types.UID, generation int64, minutes int) *appsv1.ControllerRevision {
	nine := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "payments", Name: fmt.Sprintf("portico-%s-%d", owner, generation), Labels: map[string]string{
				v1alpha1.LabelHistoryOf: "u",
			},
			CreationTimestamp: metav1.Time{Time: nine.Add(time.Hour)},
			OwnerReferences:   []metav1.OwnerReference{{UID: owner, Controller: new(true)}},
			Annotations: map[string]string{
				v1alpha1.AnnotationChangedBy: "oidc:jane", v1alpha1.AnnotationChangedWith: "kubectl-edit",
				v1alpha1.AnnotationChangedAt: nine.Add(time.Duration(minutes) * time.Minute).Format(time.RFC3339),
			},
		},
		Data: runtime.RawExtension{Raw: fmt.Appendf(nil, `{"spec":{"days":%d}}`, generation)}, Revision: generation,
	}
}

func TestAHistoryIsOfOneObjectAndNewestFirst(t *testing.T) {
	k, _ := catalogtest.Kinds(t).ByName("S3Bucket")
	j, a, _ := clustertest.NewRights()
	client := fake.NewClientset(recorded("u", 9, 1), recorded("u", 10, 5), recorded("u", 12, 5),
		recorded("forged", 11, 3))
	c := &operatorPart{rights: a, client: client}
	obj := &unstructured.Unstructured{}
	obj.SetUID("u")
	ref := catalog.Ref{Kind: k, Namespace: "payments", Name: "logs"}
	all, err := c.History(t.Context(), kubetest.Dev, ref, obj)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, v := range all {
		got += fmt.Sprintf("%d %s %q %s %v; ", v.Generation, v.By, v.With, v.At.Format(time.TimeOnly),
			v.Spec["days"].(int64))
	}
	// No field manager owns the removal in version 12, so it has the time at which it was recorded.
	const want = `12 oidc:jane "" 10:00:00 12; 10 oidc:jane "kubectl-edit" 09:05:00 10; 9 oidc:jane "kubectl-edit" 09:01:00 9; `
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	noted := recorded("u", 13, 5)
	noted.Annotations[v1alpha1.AnnotationChangedGeneration] = "13"
	if _, err := client.AppsV1().ControllerRevisions("payments").Create(
		t.Context(), noted, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if all, err := c.History(t.Context(), kubetest.Dev, ref, obj); err != nil || all[0].With != "kubectl-edit" ||
		all[0].At != all[0].recorded {
		t.Errorf("admission has seen who took a field away: %+v, %v", all, err)
	}
	client.PrependReactor("list", "controllerrevisions", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("no route")
	})
	if _, err := c.History(t.Context(), kubetest.Dev, ref, obj); !errors.As(err, new(*failure.UnavailableError)) {
		t.Errorf("what cannot be read: %v", err)
	}
	client.ClearActions()
	j.Allow = func(r authorizationv1.SubjectAccessReviewSpec) bool {
		return r.ResourceAttributes.Namespace == "search"
	}
	ref.Namespace = "refunds"
	if _, err := c.History(t.Context(), kubetest.Dev, ref, obj); !errors.As(err, new(*failure.ForbiddenError)) ||
		len(client.Actions()) != 0 {
		t.Errorf("without the right: %v, and %v", err, client.Actions())
	}
}
