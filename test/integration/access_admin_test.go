//go:build integration

package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
)

// said waits until a condition of the provider has the reason; "" means no condition.
func (a *rightsAccount) said(t *testing.T, c client.Client, kind, reason string) (got metav1.Condition) {
	t.Helper()
	await(t, kind+" to be "+reason, func() (bool, string) {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(a.provider), a.provider); err != nil {
			return false, err.Error()
		}
		got = metav1.Condition{}
		if found := meta.FindStatusCondition(a.provider.Status.Conditions, kind); found != nil {
			got = *found
		}
		return got.Reason == reason && (reason == "" || got.ObservedGeneration == a.provider.Generation), got.Reason +
			": " + got.Message
	})
	return got
}

// edited changes the workload identity settings, which makes the operator check the account again.
func (a *rightsAccount) edited(t *testing.T, c client.Client, change func(*v1alpha1.WorkloadIdentity)) {
	t.Helper()
	edit(t, c, a.provider, func(p *v1alpha1.AWSProvider) { change(p.Spec.WorkloadIdentity) })
}

// TestAProviderNamesWhatRightsOfPodsLack removes the prerequisites of Pods' permissions one by one. The provider
// stays Ready: buckets and queues need none of them.
func TestAProviderNamesWhatRightsOfPodsLack(t *testing.T) {
	calm(t)
	c := withOperator(t)
	for account, mode := range map[string]v1alpha1.WorkloadIdentityMode{
		"230000000120": v1alpha1.WorkloadIdentityPodIdentity, "230000000121": v1alpha1.WorkloadIdentityIRSA,
	} {
		a := newRightsAccount(t, c, account, mode)
		a.said(t, c, v1alpha1.ConditionWorkloadIdentityReady, "Verified")
		first, asks := "eks:ListPodIdentityAssociations", "EKS cluster absent"
		if mode == v1alpha1.WorkloadIdentityIRSA {
			first, asks = "iam:GetOpenIDConnectProvider", "identity provider arn:aws:iam::"+account+
				":oidc-provider/absent"
		}
		a.edited(t, c, func(w *v1alpha1.WorkloadIdentity) {
			w.ClusterName, w.OIDCProviderARN = "absent", "arn:aws:iam::"+account+":oidc-provider/absent"
		})
		if got := a.said(t, c, v1alpha1.ConditionWorkloadIdentityReady, "InvalidProvider"); !strings.Contains(
			got.Message, asks) {
			t.Errorf("%s: %s", mode, got.Message)
		}
		l := newLadder(t, c, v1alpha1.KindAccessBinding, stack.RoleARN(account))
		a.edited(t, c, func(w *v1alpha1.WorkloadIdentity) {
			w.ClusterName, w.OIDCProviderARN = stack.ClusterName, stack.OIDCProviderARN(account)
		})
		want := "no permission for " + first + ", iam:GetPolicy, iam:GetAccountSummary: attach " +
			"docs/iam/accessbinding.json"
		if got := a.said(t, c, v1alpha1.ConditionWorkloadIdentityReady, "AccessDenied"); !strings.Contains(
			got.Message, want) {
			t.Errorf("%s: %s", mode, got.Message)
		}
		if !a.provider.Status.Ready {
			t.Errorf("%s: the provider is not Ready: %+v", mode, a.provider.Status.Conditions)
		}
		l.granted = []string{first, "iam:GetPolicy", "iam:GetAccountSummary"}
		l.attach()
		wakeNow(t, c, a.provider) // no edit is needed
		a.said(t, c, v1alpha1.ConditionWorkloadIdentityReady, "Verified")
		a.edited(t, c, func(w *v1alpha1.WorkloadIdentity) {
			w.BoundaryARN = strings.Replace(w.BoundaryARN, "boundary", "boundary-absent", 1)
		})
		// the policy allows reading only the boundary of its own name
		a.said(t, c, v1alpha1.ConditionWorkloadIdentityReady, "AccessDenied")
	}
}

// TestQuotasOfRightsAreReadAndTold fills an account with roles.
func TestQuotasOfRightsAreReadAndTold(t *testing.T) {
	calm(t)
	c := withOperator(t)
	a := newRightsAccount(t, c, "230000000122", v1alpha1.WorkloadIdentityPodIdentity)
	ns := team(t, c)
	a.things(t, c, ns, "bound")
	a.said(t, c, v1alpha1.ConditionWorkloadIdentityReady, "Verified")
	s := a.provider.Status.WorkloadIdentity
	if s == nil {
		t.Fatal("WorkloadIdentity = nil")
	}
	if s.Roles.Quota != 1000 || s.Associations.Quota != 5000 || s.Associations.Used != 0 {
		t.Fatalf("quotas = %+v, want 1000 roles and 5000 associations, none used", s)
	}
	world.Proxy.SetRolesQuota(int(s.Roles.Used) + 1)
	t.Cleanup(func() { world.Proxy.SetRolesQuota(0) })
	role, err := a.iam().CreateRole(
		t.Context(), &iam.CreateRoleInput{RoleName: aws.String("another"), AssumeRolePolicyDocument: aws.String(
			`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	a.edited(t, c, func(w *v1alpha1.WorkloadIdentity) { w.OIDCProviderARN = "" })
	if got := a.said(t, c, v1alpha1.ConditionQuotaNearlyFull, "QuotaExceeded"); !strings.Contains(
		got.Message, "IAM roles: raise the quota") {
		t.Errorf("%s", got.Message)
	}
	hands(t, c, ns, "worker")
	worker := a.worker(ns)
	create(t, c, worker)
	if got := reason(t, c, worker, "QuotaExceeded"); !strings.Contains(got.Message, "RolesPerAccount") ||
		!strings.Contains(got.Message, "Service Quotas") {
		t.Errorf("%s", got.Message)
	}
	if _, err := a.iam().DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: role.Role.RoleName}); err != nil {
		t.Fatal(err)
	}
	wakeNow(t, c, worker)
	ready(t, c, worker)
	world.Proxy.SetRolesQuota(0)
	a.edited(t, c, func(w *v1alpha1.WorkloadIdentity) { w.OIDCProviderARN = stack.OIDCProviderARN(a.id) })
	a.said(t, c, v1alpha1.ConditionQuotaNearlyFull, "")
	if got := a.provider.Status.WorkloadIdentity.Associations.Used; got != 1 {
		t.Errorf("%d associations", got)
	}
}

// TestAProviderAtRestAsksNothingMore counts the calls of passes between two checks.
func TestAProviderAtRestAsksNothingMore(t *testing.T) {
	calm(t)
	c := withOperator(t)
	a := newRightsAccount(t, c, "230000000123", v1alpha1.WorkloadIdentityPodIdentity)
	a.said(t, c, v1alpha1.ConditionWorkloadIdentityReady, "Verified")
	const passes = 5
	mark, of := world.Proxy.Mark(), func(call awsproxy.Call) bool { return call.Account == a.id }
	for i := range passes {
		wakeNow(t, c, a.provider)
		await(t, "the pass", func() (bool, string) {
			return len(world.Proxy.CallsSince(mark, awsproxy.To("sts", "GetCallerIdentity"), of)) > i, "not yet"
		})
	}
	ready(t, c, a.provider)
	all := called(world.Proxy.CallsSince(mark, of))
	for _, name := range all {
		if name != "GetCallerIdentity" && name != "AssumeRole" {
			t.Errorf("it called %v", all)
			break
		}
	}
	t.Logf("%d calls in %d passes", len(all), passes)
}

// TestTheLastUseOfRightsIsShown has a Pod use its permissions, after the status has reported that nobody has.
func TestTheLastUseOfRightsIsShown(t *testing.T) {
	calm(t)
	c := withOperator(t)
	a := newRightsAccount(t, c, "230000000124", v1alpha1.WorkloadIdentityPodIdentity)
	ns := team(t, c)
	bound := a.things(t, c, ns, "bound")
	create(t, c, &corev1.ServiceAccount{ObjectMeta: meta1(ns, "worker")})
	worker := a.worker(ns)
	createReady(t, c, worker)
	if u := worker.Status.RoleUse; u == nil || u.ReadTime.IsZero() || u.LastUsedTime != nil {
		t.Fatalf("at first: %+v", u)
	}
	mark := world.Proxy.Mark()
	wakeNow(t, c, worker)
	ready(t, c, worker)
	await(t, "the pass", func() (bool, string) {
		return len(world.Proxy.CallsSince(mark, awsproxy.To("iam", "GetRole"))) > 0, "not yet"
	})
	if err := bound.calls(a.pod(t, c, workerPod(t, c, ns)))["receive"](t.Context()); err != nil {
		t.Fatal(err)
	}
	wakeNow(t, c, worker)
	await(t, "the use to be told", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(worker), worker)
		u := worker.Status.RoleUse
		return err == nil && u.LastUsedTime != nil && time.Since(u.LastUsedTime.Time).Abs() < time.Minute &&
			u.LastUsedRegion == stack.Region, "never used"
	})
}
