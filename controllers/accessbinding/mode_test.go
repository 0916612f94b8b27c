package accessbinding

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/v1alpha1"
)

const otherRole = "arn:aws:iam::111111111111:role/other"

func TestAServiceAccountWithAnotherRoleIsRefused(t *testing.T) {
	for name, mode := range map[string]v1alpha1.WorkloadIdentityMode{
		"associated": v1alpha1.WorkloadIdentityPodIdentity,
		"named":      v1alpha1.WorkloadIdentityIRSA,
	} {
		d := newDesk(t)
		d.identity.Mode, d.identity.OIDCProviderARN = mode, oidcProvider
		d.named(otherRole)
		err := d.pass()
		if reasonOf(err) != "ServiceAccountHasRole" || !strings.Contains(err.Error(), otherRole) {
			t.Errorf("%s: %v", name, err)
		}
		d.wrote()
		boom := errors.New("boom")
		d.account, d.refuse["ServiceAccount"] = nil, boom
		if err := d.pass(); !errors.Is(err, boom) {
			t.Errorf("%s: %v", name, err)
		}
		d.wrote()
	}
}

const oidcProvider = "arn:aws:iam::111111111111:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/0123"

func TestARoleOfItsOwn(t *testing.T) {
	d := newDesk(t)
	d.identity = &v1alpha1.WorkloadIdentity{
		Mode: v1alpha1.WorkloadIdentityIRSA, OIDCProviderARN: oidcProvider,
		BoundaryARN: d.identity.BoundaryARN,
	}
	err := d.settle()
	if reasonOf(err) != "WaitingForServiceAccount" ||
		!strings.Contains(err.Error(), "kubectl annotate serviceaccount --namespace pay worker "+
			"eks.amazonaws.com/role-arn="+*d.role.Arn) {
		t.Errorf("not named yet: %v", err)
	}
	d.wrote("CreateRole", "PutRolePolicy")
	trust, _ := url.QueryUnescape(*d.role.AssumeRolePolicyDocument)
	for _, part := range []string{
		`"oidc.eks.eu-west-1.amazonaws.com/id/0123:sub":["system:serviceaccount:pay:worker"]`,
		`/id/0123:aud":["sts.amazonaws.com"]`, `"Federated":"` + oidcProvider + `"`,
	} {
		if !strings.Contains(trust, part) {
			t.Errorf("trust %s has not %s", trust, part)
		}
	}
	d.named(*d.role.Arn)
	if err := d.settle(); err != nil || d.policy != d.obj.Status.Policy ||
		!strings.Contains(d.policy, "sqs:SendMessage") {
		t.Errorf("%v, policy %s", err, d.policy)
	}
	d.wrote()
	d.obj.Spec.Resources = nil
	_ = d.pass()
	if !same(d.policy, denyAll) {
		t.Errorf("bound to nothing: %s", d.policy)
	}
	d.wrote("PutRolePolicy")
	d.others = []v1alpha1.AccessBinding{{}} // has a role of its own
	if err := d.finalize(); err != nil || d.role != nil {
		t.Errorf("%v, role %v", err, d.role)
	}
}

func TestTheRoleOfAnEarlierObjectIsTakenOver(t *testing.T) {
	d := newDesk(t)
	d.identity.Mode, d.identity.OIDCProviderARN = v1alpha1.WorkloadIdentityIRSA, oidcProvider
	_ = d.settle()
	d.writes, d.obj.UID, d.obj.Status = nil, "later", v1alpha1.AccessBindingStatus{}
	_ = d.settle()
	d.wrote("TagRole")
	d.obj.DeletionTimestamp = nil
	if err := d.finalize(); err != nil || d.role != nil {
		t.Errorf("%v, role %v", err, d.role)
	}
}

// Rights given in one mode are removed before they are given in another, or not at all.
func TestAnotherWay(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*desk)
		reason string
		writes []string
	}{
		"by token": {func(d *desk) {
			d.identity.Mode, d.identity.OIDCProviderARN = v1alpha1.WorkloadIdentityIRSA, oidcProvider
		}, "WaitingForServiceAccount", []string{
			"DeletePodIdentityAssociation", "DeleteRolePolicy", "DeleteRole",
			"CreateRole", "PutRolePolicy",
		}},
		"another cluster": {
			func(d *desk) { d.identity.ClusterName = "other" }, "",
			[]string{
				"DeletePodIdentityAssociation", "DeleteRolePolicy", "DeleteRole", "CreateRole", "PutRolePolicy",
				"CreatePodIdentityAssociation",
			},
		},
		"none": {
			func(d *desk) { d.identity = &v1alpha1.WorkloadIdentity{Mode: v1alpha1.WorkloadIdentityNone} },
			"NoWorkloadIdentity",
			[]string{"DeletePodIdentityAssociation", "DeleteRolePolicy", "DeleteRole"},
		},
		"said no more": {func(d *desk) { d.identity = nil }, "NoWorkloadIdentity", []string{"DeletePodIdentityAssociation", "DeleteRolePolicy", "DeleteRole"}},
	} {
		d := newDesk(t)
		_ = d.settle()
		d.writes = nil
		row.change(d)
		if got := reasonOf(d.settle()); got != row.reason {
			t.Errorf("%s: %s", name, got)
		}
		d.wrote(row.writes...)
		if got := d.obj.Status.AccountID != ""; got != d.identity.GivesRights() {
			t.Errorf("%s: status %+v", name, d.obj.Status)
		}
	}
}

// A cluster that does not exist has no associations: the deletion is not blocked, and nothing is created for it.
func TestAClusterThatIsNotThere(t *testing.T) {
	d := newDesk(t)
	d.refuse["ListPodIdentityAssociations"] = code("ResourceNotFoundException")
	if err := d.pass(); reasonOf(err) != "InvalidProvider" || !strings.Contains(err.Error(), "no EKS cluster main") {
		t.Error(err)
	}
	d.wrote()
	d = newDesk(t)
	_ = d.settle()
	d.refuse["ListPodIdentityAssociations"] = code("ResourceNotFoundException")
	if err := d.finalize(); err != nil || d.role != nil {
		t.Errorf("%v, role %v", err, d.role)
	}
}

// An association of an earlier object of the name is saved in the status before it is tagged, so that the deletion
// finds it.
func TestTheAssociationOfAnEarlierObjectIsTakenOver(t *testing.T) {
	d := newDesk(t)
	_ = d.settle()
	d.writes, d.saves, d.obj.UID, d.obj.Status = nil, nil, "later", v1alpha1.AccessBindingStatus{}
	if err := d.settle(); err != nil {
		t.Error(err)
	}
	d.wrote("TagResource")
	if !slices.Equal(d.saves, []string{"111111111111 before all"}) {
		t.Errorf("saved %v", d.saves)
	}
	if err := d.finalize(); err != nil || d.role != nil || d.association != nil {
		t.Errorf("%v, left %v %v", err, d.role, d.association)
	}
}

// Nothing is created for a namespace that has been replaced.
func TestTheNamespaceIsLookedAtBeforeAnythingIsMade(t *testing.T) {
	d := newDesk(t)
	boom := errors.New("another namespace")
	d.refuse["Recheck"] = boom
	if err := d.pass(); !errors.Is(err, boom) {
		t.Error(err)
	}
	d.wrote()
}

// A resource that an object only observed, or lost, is foreign, whatever its spec says now.
func TestRightsAreToWhatIsTheObjectsOwn(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.SQSQueue){
		"only ever observed": func(q *v1alpha1.SQSQueue) { q.Status.LastSyncTime = nil },
		"not its own": func(q *v1alpha1.SQSQueue) {
			q.Status.Conditions = []metav1.Condition{
				{Type: "Ready", Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonAlreadyExists},
			}
		},
		"not its own any more": func(q *v1alpha1.SQSQueue) {
			q.Status.Conditions = []metav1.Condition{
				{Type: "Ready", Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonOwnershipTagsLost},
			}
		},
	} {
		d := newDesk(t)
		_ = d.settle()
		change(d.resources["orders"].(*v1alpha1.SQSQueue))
		if got := reasonOf(d.settle()); got != "NotAllowed" || !same(*d.association.Policy, denyAll) {
			t.Errorf("%s: %s, policy %s", name, got, *d.association.Policy)
		}
	}
}

// A ServiceAccount that later names another role does not prevent the removal of rights.
func TestRightsFollowTheListWhateverTheServiceAccountNames(t *testing.T) {
	d := newDesk(t)
	_ = d.settle()
	d.named(otherRole)
	d.obj.Spec.Resources = nil
	if got := reasonOf(d.settle()); got != "ServiceAccountHasRole" || !same(*d.association.Policy, denyAll) {
		t.Errorf("%s, policy %s", got, *d.association.Policy)
	}
}

func TestWhoSharesTheRole(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	of := func(name, namespace, provider string, mode v1alpha1.WorkloadIdentityMode) *v1alpha1.AccessBinding {
		b := &v1alpha1.AccessBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name)},
		}
		b.Spec.ProviderRef.Name, b.Status.Mode = provider, mode
		return b
	}
	going := of("going", "pay", "main", v1alpha1.WorkloadIdentityPodIdentity)
	going.DeletionTimestamp, going.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{"portico.dev/release"}
	me := of("me", "pay", "main", v1alpha1.WorkloadIdentityPodIdentity)
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(me, going, of("new", "pay", "main", ""),
		of("other", "pay", "main", v1alpha1.WorkloadIdentityPodIdentity),
		of("token", "pay", "main", v1alpha1.WorkloadIdentityIRSA),
		of("account", "pay", "second", v1alpha1.WorkloadIdentityPodIdentity),
		of("away", "search", "main", v1alpha1.WorkloadIdentityPodIdentity)).Build()
	others, err := othersAt(reader)(t.Context(), me)
	var got []string
	for _, o := range others {
		got = append(got, o.Name)
	}
	if slices.Sort(got); err != nil || !slices.Equal(got, []string{"new", "other"}) {
		t.Errorf("%v, %v", got, err)
	}
}
