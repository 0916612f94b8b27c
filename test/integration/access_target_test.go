//go:build integration

package integration

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/tiers"
)

// left returns what two accounts still have for a namespace; "" if nothing.
func left(t *testing.T, ns string, accounts ...*rightsAccount) string {
	t.Helper()
	var found []string
	for _, a := range accounts {
		found = append(found, a.roles(t, ns)...)
		for _, association := range a.associations(t, ns) {
			found = append(found, *association.AssociationArn)
		}
	}
	return strings.Join(found, " ")
}

// TestAnApplicationUsesWhatIsInAnotherAccount has the cluster in one account, and the bucket and the queue in
// another: the Pods get there through a role that allows nothing else, and can use what the application is bound to.
func TestAnApplicationUsesWhatIsInAnotherAccount(t *testing.T) {
	calm(t)
	c := withOperator(t)
	cluster := newRightsAccount(t, c, "230000000111", v1alpha1.WorkloadIdentityPodIdentity)
	edit(t, c, cluster.provider, func(p *v1alpha1.AWSProvider) { p.Spec.AllowedNamespaces = nil })
	ready(t, c, cluster.provider)
	a := newTargetAccount(t, c, "230000000112", cluster)
	if got := meta.FindStatusCondition(
		a.provider.Status.Conditions, v1alpha1.ConditionWorkloadIdentityReady); got == nil || got.Reason != "Verified" {
		t.Errorf("%+v", got)
	}
	ns, others := team(t, c), team(t, c)
	bound, beside, theirs := a.things(t, c, ns, "bound"), a.things(t, c, ns, "beside"), a.things(t, c, others, "theirs")
	app := appOf(ns, "shop")
	app.Spec.Bindings = []v1alpha1.WebAppBinding{
		{Kind: "S3Bucket", Name: "bound", Access: v1alpha1.AccessRead},
		{Kind: "SQSQueue", Name: "bound", Access: v1alpha1.AccessWrite, Prefix: "QUEUE"},
	}
	mark := world.Proxy.Mark()
	createReady(t, c, app)
	t.Logf("calls for the application's rights: %v",
		called(slices.Concat(world.Proxy.CallsSince(mark, awsproxy.To("iam")),
			world.Proxy.CallsSince(mark, awsproxy.To("eks")))))
	here, there := a.roles(t, ns), cluster.roles(t, ns)
	if len(here) != 1 || len(there) != 1 {
		t.Errorf("roles %v, in the account of the cluster %v; want one each", here, there)
	}
	if in, out := cluster.associations(t, ns), a.associations(t, ns); len(in) != 1 || len(out) != 0 {
		t.Errorf("associations of the cluster %v, others %v; want one, none", in, out)
	}

	pod := podOf(t, c, app)
	cfg := a.pod(t, c, pod)
	credentials, err := cfg.Credentials.Retrieve(t.Context())
	if err != nil || credentials.AccountID != a.id {
		t.Fatalf("credentials of account %s: %v", credentials.AccountID, err)
	}
	refused := bound.mayOnly(t, "the application", cfg, "list", "get", "send")
	refused += beside.mayOnly(t, "the application, with what is beside,", cfg)
	refused += theirs.mayOnly(t, "the application, with what is another team's,", cfg)
	t.Logf("%d attempts were refused", refused)

	if err := c.Delete(t.Context(), cluster.provider); err != nil {
		t.Fatal(err)
	}
	reason(t, c, cluster.provider, "InUse")
	edit(t, c, app, func(app *v1alpha1.WebApp) { app.Spec.Bindings = nil })
	await(t, "the rights to go with the last binding", func() (bool, string) {
		found := left(t, ns, a, cluster)
		return found == "", found
	})
	awaitGone(t, c, &v1alpha1.AccessBinding{ObjectMeta: app.ObjectMeta})
	awaitGone(t, c, cluster.provider)
}

// TestRightsInAnotherAccountSurviveLostAnswers loses the response of each write in either account, once.
func TestRightsInAnotherAccountSurviveLostAnswers(t *testing.T) {
	tiers.Long(t)
	c := withOperator(t)
	cluster := newRightsAccount(t, c, "230000000113", v1alpha1.WorkloadIdentityPodIdentity)
	a := newTargetAccount(t, c, "230000000114", cluster)
	ns := team(t, c)
	a.things(t, c, ns, "bound")
	roles := []string{"CreateRole", "PutRolePolicy", "DeleteRolePolicy", "DeleteRole"}
	for at, operations := range map[*rightsAccount][]string{
		a: roles, cluster: append(slices.Clone(roles), "CreatePodIdentityAssociation", "UpdatePodIdentityAssociation",
			"DeletePodIdentityAssociation"),
	} {
		for _, operation := range operations {
			a.loses(t, c, ns, awsproxy.Fault{Account: at.id, Operation: operation, Kind: awsproxy.LostReply, Times: 1},
				cluster)
		}
	}
}

// loses gives permissions, changes them and removes them during a fault, which must leave nothing behind.
func (a *rightsAccount) loses(t *testing.T, c client.Client, ns string, fault awsproxy.Fault, cluster *rightsAccount) {
	t.Helper()
	mark := world.Proxy.Mark()
	defer world.Proxy.Inject(fault)()
	hands(t, c, ns, "worker")
	worker := a.worker(ns)
	create(t, c, worker)
	settle(t, c, worker)
	edit(t, c, worker, func(w *v1alpha1.AccessBinding) { w.Spec.Resources = w.Spec.Resources[:1] })
	settle(t, c, worker)
	here, there, bound := a.roles(t, ns), cluster.roles(t, ns), cluster.associations(t, ns)
	if len(here) != 1 || len(there) != 1 || len(bound) != 1 {
		t.Errorf("%s of %s: roles %v and %v, associations %v; want one each", fault.Operation, fault.Account, here,
			there, bound)
	}
	if policy := worker.Status.Policy; strings.Contains(policy, "s3:") {
		t.Errorf("%s of %s: policy %s, want no s3:", fault.Operation, fault.Account, policy)
	}
	if err := c.Delete(t.Context(), worker); err != nil {
		t.Fatal(err)
	}
	awaitAway(t, c, worker)
	if found := left(t, ns, a, cluster); found != "" {
		t.Errorf("%s of %s: left behind: %s", fault.Operation, fault.Account, found)
	}
	if !slices.ContainsFunc(world.Proxy.CallsSince(mark), func(call awsproxy.Call) bool {
		return call.Account == fault.Account && call.Operation == fault.Operation && call.Fault == string(fault.Kind)
	}) {
		t.Errorf("%s of %s never lost its answer", fault.Operation, fault.Account)
	}
}
