//go:build integration

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/tiers"
)

// TestRightsSurviveEveryFault lets each write for an AccessBinding lose its response, and be denied, once; in make
// test-all it also fails and is throttled:
// no role and no association is created twice, and none is left behind.
func TestRightsSurviveEveryFault(t *testing.T) {
	tiers.Long(t)
	c := withOperator(t)
	a := newRightsAccount(t, c, "230000000105", v1alpha1.WorkloadIdentityPodIdentity)
	ns := team(t, c)
	a.things(t, c, ns, "bound")
	hands(t, c, ns, "worker")
	kinds := []awsproxy.FaultKind{awsproxy.LostReply, awsproxy.Denied}
	if tiers.EveryCase() {
		kinds = append(kinds, awsproxy.ServerError, awsproxy.Throttle)
	}
	for _, operation := range []string{
		"CreateRole", "PutRolePolicy", "CreatePodIdentityAssociation", "UpdatePodIdentityAssociation",
		"DeletePodIdentityAssociation", "DeleteRolePolicy", "DeleteRole",
	} {
		for _, kind := range kinds {
			mark := world.Proxy.Mark()
			remove := world.Proxy.Inject(awsproxy.Fault{Account: a.id, Operation: operation, Kind: kind, Times: 1})
			worker := a.worker(ns)
			create(t, c, worker)
			settle(t, c, worker)
			edit(t, c, worker, func(w *v1alpha1.AccessBinding) { w.Spec.Resources = w.Spec.Resources[:1] })
			settle(t, c, worker)
			if roles, got := a.roles(t, ns), a.associations(t, ns); len(roles) != 1 || len(got) != 1 ||
				strings.Contains(worker.Status.Policy, "s3:") {
				t.Errorf("%s %s: roles %v, %d associations, policy %s", operation, kind, roles, len(got),
					worker.Status.Policy)
			}
			if err := c.Delete(t.Context(), worker); err != nil {
				t.Fatal(err)
			}
			awaitAway(t, c, worker)
			if roles, got := a.roles(t, ns), a.associations(t, ns); len(roles) > 0 || len(got) > 0 {
				t.Errorf("%s %s: left behind: roles %v, %d associations", operation, kind, roles, len(got))
			}
			remove()
			if !slices.ContainsFunc(world.Proxy.CallsSince(mark), func(call awsproxy.Call) bool {
				return call.Account == a.id && call.Operation == operation && call.Fault == string(kind)
			}) {
				t.Errorf("%s never met %s", operation, kind)
			}
		}
	}
}

// settle waits until the permissions are given.
func settle(t *testing.T, c client.Client, worker *v1alpha1.AccessBinding) {
	t.Helper()
	await(t, "the rights to be given", func() (bool, string) {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(worker), worker); err != nil {
			return false, err.Error()
		}
		return worker.Status.Ready && worker.Status.ObservedGeneration == worker.Generation, hurry(t, c, worker)
	})
}

// awaitAway waits until the permissions are removed.
func awaitAway(t *testing.T, c client.Client, worker *v1alpha1.AccessBinding) {
	t.Helper()
	await(t, "the rights to be taken away", func() (bool, string) {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(worker), worker); err != nil {
			return apierrors.IsNotFound(err), err.Error()
		}
		return false, hurry(t, c, worker)
	})
}

// hurry triggers one pass of an object that was denied, which would retry only after a long time, and returns its
// message.
func hurry(t *testing.T, c client.Client, worker *v1alpha1.AccessBinding) string {
	t.Helper()
	said := meta.FindStatusCondition(worker.Status.Conditions, v1alpha1.ConditionReady)
	if said == nil {
		return "nothing is said"
	}
	if said.Reason == v1alpha1.ReasonAccessDenied && worker.Annotations[v1alpha1.AnnotationReconcileRequestedAt] == "" {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"%d"}}}`, v1alpha1.AnnotationReconcileRequestedAt,
			counter.Add(1))
		if err := c.Patch(t.Context(), worker, client.RawPatch(
			types.MergePatchType, []byte(patch))); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	}
	return said.Reason + ": " + said.Message
}
