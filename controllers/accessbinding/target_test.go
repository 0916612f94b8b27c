package accessbinding

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
)

// clusterDesk fakes the account of the cluster, if it is another one.
type clusterDesk struct {
	fakeAWS
	identity  *v1alpha1.WorkloadIdentity
	region    string // of the AWSProvider
	partition string
	err       error
}

const clusterAccount = "222222222222"

// newTargetDesk puts the cluster into another account than the resources.
func newTargetDesk(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	d.identity.ClusterName, d.identity.ClusterProviderRef = "", &v1alpha1.LocalRef{Name: "platform"}
	d.cluster = &clusterDesk{
		fakeAWS: fakeAWS{now: d.now, refuse: map[string]error{}, id: clusterAccount},
		identity: &v1alpha1.WorkloadIdentity{
			Mode: v1alpha1.WorkloadIdentityPodIdentity, ClusterName: "main",
			BoundaryARN: "arn:aws:iam::222222222222:policy/boundary",
		},
		region: "eu-north-1", partition: "aws",
	}
	return d
}

// left returns the roles and associations that exist in both accounts.
func (d *desk) left() string {
	var all []string
	if d.role != nil {
		all = append(all, "the role")
	}
	if d.cluster.role != nil {
		all = append(all, "the role of the cluster")
	}
	if d.cluster.association != nil {
		all = append(all, "the association")
	}
	return strings.Join(all, ", ")
}

func (d *desk) openCluster(_ context.Context, obj *v1alpha1.AccessBinding) (*Account, error) {
	if obj.Status.ClusterAccount.Provider != "platform" {
		return nil, errors.New("another provider is asked for")
	}
	session := d.session()
	session.AccountID, session.Provider, session.Partition, session.Config.Region = clusterAccount, "platform",
		d.cluster.partition, cmp.Or(obj.Status.ClusterAccount.Region, d.cluster.region)
	d.cluster.now = d.now
	return &Account{
			Session: session, Roles: d.cluster, Associations: d.cluster, Identity: d.cluster.identity,
			Region: d.cluster.region, Recheck: func(context.Context) error { return d.cluster.refuse["Recheck"] },
		},
		d.cluster.err
}

func TestTheClusterIsInAnotherAccount(t *testing.T) {
	d := newTargetDesk(t)
	if err := d.settle(); err != nil {
		t.Fatal(err)
	}
	d.wrote("CreateRole", "PutRolePolicy")
	if got := strings.Join(d.cluster.writes, " "); got != "CreateRole PutRolePolicy CreatePodIdentityAssociation" ||
		d.association != nil {
		t.Errorf("in the account of the cluster: %s; beside it %v", got, d.association)
	}
	if len(d.saves) != 1 || d.saves[0] != "111111111111 before all" {
		t.Errorf("saved %q", d.saves)
	}
	s, a := d.obj.Status, d.cluster.association
	at := s.ClusterAccount
	if at == nil {
		t.Fatal("ClusterAccount = nil")
	}
	got := []string{at.AccountID, at.Region, at.Provider, at.RoleARN, s.RoleARN, s.ClusterName}
	want := []string{clusterAccount, "eu-north-1", "platform", *d.cluster.role.Arn, *d.role.Arn, "main"}
	if !slices.Equal(got, want) {
		t.Errorf("AccountID, Region, Provider, RoleARN of the cluster, RoleARN, ClusterName = %q, want %q", got, want)
	}
	if *a.RoleArn != at.RoleARN || aws.ToString(a.TargetRoleArn) != s.RoleARN || *a.Policy != s.Policy {
		t.Errorf("association %+v", a)
	}
	if *d.cluster.role.PermissionsBoundary.PermissionsBoundaryArn != d.cluster.identity.BoundaryARN ||
		*d.role.PermissionsBoundary.PermissionsBoundaryArn != d.identity.BoundaryARN {
		t.Errorf("boundaries %v, %v", d.cluster.role.PermissionsBoundary, d.role.PermissionsBoundary)
	}
	text, _ := url.QueryUnescape(*d.role.AssumeRolePolicyDocument)
	for _, want := range []string{`"AWS":"arn:aws:iam::222222222222:root"`, `"aws:PrincipalArn":["` + at.RoleARN +
		`"]`} {
		if !strings.Contains(text, want) {
			t.Errorf("the trust of the Pods' role %s lacks %s", text, want)
		}
	}
	if !strings.Contains(d.cluster.policy, s.RoleARN) || strings.Contains(d.cluster.policy, "*") {
		t.Errorf("the role of the association may do %s", d.cluster.policy)
	}
	if trust, _ := url.QueryUnescape(*d.cluster.role.AssumeRolePolicyDocument); !strings.Contains(
		trust, "arn:aws:eks:eu-north-1:222222222222:cluster/main") {
		t.Errorf("the trust of the association's role %s", trust)
	}

	d.cluster.writes = nil
	d.obj.Spec.Resources = nil
	_ = d.settle()
	if got := strings.Join(d.cluster.writes, " "); got != "UpdatePodIdentityAssociation" ||
		aws.ToString(d.cluster.association.TargetRoleArn) != s.RoleARN {
		t.Errorf("a change wrote %s: %+v", got, d.cluster.association)
	}
	d.wrote()
	if err := d.finalize(); err != nil {
		t.Error(err)
	}
	if left := d.left(); left != "" {
		t.Errorf("left %s, want nothing", left)
	}
}

// Each response may be lost, in both accounts: nothing is created twice, and nothing is left behind.
func TestLostAnswersOfTwoAccounts(t *testing.T) {
	for _, call := range []string{
		"CreateRole", "PutRolePolicy", "CreatePodIdentityAssociation",
		"DeletePodIdentityAssociation", "DeleteRolePolicy", "DeleteRole",
	} {
		d := newTargetDesk(t)
		d.cluster.lose = call
		for range 2 {
			_ = d.settle()
		}
		if err := d.settle(); err != nil {
			t.Errorf("%s: %v", call, err)
		}
		if err := d.finalize(); (err != nil) != strings.HasPrefix(call, "Delete") {
			t.Errorf("%s: %v at the end", call, err)
		}
		if err := d.finalize(); err != nil {
			t.Errorf("%s: %v", call, err)
		}
		if left := d.left(); left != "" {
			t.Errorf("%s: left %s, want nothing", call, left)
		}
	}
}

// The configuration of the cluster may be wrong, or change.
func TestTheClusterCannotBeUsed(t *testing.T) {
	boom := errors.New("boom")
	for want, change := range map[string]func(*desk){
		"InvalidProvider: the AWSProvider platform, which": func(d *desk) { d.cluster.identity = nil },
		"InvalidProvider: the AWSProvider platform":        func(d *desk) { d.cluster.identity.ClusterName = "" },
		"InvalidProvider: the cluster is in the AWS part":  func(d *desk) { d.cluster.partition = "aws-cn" },
		"InvalidProvider: there is no EKS cluster main in eu-north-1 of account 222222222222; ask a platform admin " +
			"to correct workloadIdentity.clusterName of the AWSProvider platform": func(d *desk) {
			d.cluster.refuse["ListPodIdentityAssociations"] = code("ResourceNotFoundException")
		},
		"boom: boom":  func(d *desk) { d.cluster.err = boom },
		"boom: boom ": func(d *desk) { d.cluster.refuse["Recheck"] = boom },
		"AWS: boom":   func(d *desk) { d.cluster.refuse["GetRole"] = boom },
	} {
		d := newTargetDesk(t)
		change(d)
		err := d.pass()
		if err == nil || !strings.Contains(reasonOf(err)+": "+err.Error(), strings.TrimRight(want, " ")) {
			t.Errorf("%s: %v", want, err)
		}
		if len(d.cluster.writes) > 0 || d.association != nil {
			t.Errorf("%s: wrote %v", want, d.cluster.writes)
		}
	}
}

// Rights move to where the AWSProvider configures them.
func TestTheClusterMovesToAnotherAccount(t *testing.T) {
	d := newTargetDesk(t)
	_ = d.settle()
	d.writes, d.cluster.writes = nil, nil
	d.identity.ClusterName, d.identity.ClusterProviderRef = "main", nil
	if err := d.settle(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(d.cluster.writes, " "); got != "DeletePodIdentityAssociation DeleteRolePolicy DeleteRole" {
		t.Errorf("in the account of the cluster: %s", got)
	}
	if d.association == nil || d.association.TargetRoleArn != nil || d.obj.Status.ClusterAccount != nil {
		t.Errorf("association %+v, status %+v", d.association, d.obj.Status)
	}
	d.cluster.writes = nil
	d.identity.ClusterName, d.identity.ClusterProviderRef = "", &v1alpha1.LocalRef{Name: "platform"}
	if err := d.settle(); err != nil || d.association != nil || d.cluster.association == nil {
		t.Errorf("back: %v, %v %v", err, d.association, d.cluster.association)
	}
	d.cluster.writes = nil
	d.cluster.identity.ClusterName = "second"
	if err := d.settle(); err != nil || *d.cluster.association.ClusterName != "second" ||
		d.obj.Status.ClusterAccount == nil {
		t.Errorf("another cluster: %v, %+v", err, d.cluster.association)
	}
	if got := d.cluster.writes[0]; got != "DeletePodIdentityAssociation" {
		t.Errorf("wrote %v", d.cluster.writes)
	}
}

// The roles are deleted with the last object that needs them; objects with another mode, and objects that may soon use
// this one, are distinguished.
func TestTheRoleOnTheWayGoesWithTheLastThatTakesIt(t *testing.T) {
	d := newTargetDesk(t)
	_ = d.settle()
	elsewhere := v1alpha1.AccessBinding{
		Status: v1alpha1.AccessBindingStatus{AccountID: "111111111111", Mode: v1alpha1.WorkloadIdentityPodIdentity},
	}
	d.others = []v1alpha1.AccessBinding{elsewhere, {Status: d.obj.Status}}
	if err := d.finalize(); err != nil || d.cluster.role == nil || d.role == nil {
		t.Errorf("another takes it, too: %v, %v %v", err, d.cluster.role, d.role)
	}
	d.others[1] = v1alpha1.AccessBinding{}
	if err := d.finalize(); err != nil || d.cluster.role == nil || d.role == nil {
		t.Errorf("another may be about to: %v, %v %v", err, d.cluster.role, d.role)
	}
	d.others = d.others[:1]
	if err := d.finalize(); err != nil || d.cluster.role != nil || d.role == nil {
		t.Errorf("none does: %v, %v %v", err, d.cluster.role, d.role)
	}
}

// After a mode change all objects leave concurrently, and each still sees the others: none may leave the roles to
// another.
func TestAWayThatIsOverLeavesNoRoles(t *testing.T) {
	for name, row := range map[string]struct {
		change         func(*desk)
		role, onTheWay bool // they are kept
	}{
		"to another account": {func(d *desk) { d.identity.ClusterName, d.identity.ClusterProviderRef = "main", nil }, true, false},
		"no rights any more": {func(d *desk) { d.identity.Mode = v1alpha1.WorkloadIdentityNone }, false, false},
		"by token": {func(d *desk) {
			d.identity.Mode, d.identity.OIDCProviderARN, d.identity.ClusterProviderRef = v1alpha1.WorkloadIdentityIRSA,
				oidcProvider, nil
		}, true, false}, // has its own role
	} {
		d := newTargetDesk(t)
		_ = d.settle()
		d.others = []v1alpha1.AccessBinding{{Status: d.obj.Status}, {}}
		row.change(d)
		_ = d.settle()
		if (d.role != nil) != row.role || (d.cluster.role != nil) != row.onTheWay || d.cluster.association != nil {
			t.Errorf("%s: left %v, on the way %v %v", name, d.role, d.cluster.role, d.cluster.association)
		}
	}
}

// If an admin switches rights off in the cluster's account, the rights through it are removed.
func TestTheClustersAccountGivesNoRightsAnyMore(t *testing.T) {
	d := newTargetDesk(t)
	_ = d.settle()
	d.cluster.identity = nil
	if got := reasonOf(d.settle()); got != "InvalidProvider" || d.obj.Status.AccountID != "" {
		t.Errorf("reason %s, status %+v; want InvalidProvider and no account", got, d.obj.Status)
	}
	if left := d.left(); left != "" {
		t.Errorf("made %s, want nothing", left)
	}
	d.identity = nil
	if got := reasonOf(d.pass()); got != "NoWorkloadIdentity" || d.obj.Status.ClusterAccount != nil ||
		d.obj.Status.Mode != "" {
		t.Errorf("%s: status %+v", got, d.obj.Status)
	}
}

// A cluster may move to another region of its account.
func TestTheClusterMovesToAnotherRegion(t *testing.T) {
	d := newTargetDesk(t)
	_ = d.settle()
	d.cluster.writes, d.cluster.region = nil, "eu-west-3"
	if err := d.settle(); err != nil || d.obj.Status.ClusterAccount.Region != "eu-west-3" ||
		d.cluster.writes[0] != "DeletePodIdentityAssociation" {
		t.Errorf("%v, %v, status %+v", err, d.cluster.writes, d.obj.Status.ClusterAccount)
	}
	trust, _ := url.QueryUnescape(*d.cluster.role.AssumeRolePolicyDocument)
	if !strings.Contains(trust, "arn:aws:eks:eu-west-3:222222222222:cluster/main") {
		t.Errorf("the trust of the association's role %s", trust)
	}
}

// An association with an unwanted target role is created again: AWS does not document how an update removes it.
func TestATargetThatIsNotMeant(t *testing.T) {
	d := newDesk(t)
	_ = d.settle()
	d.writes, d.association.TargetRoleArn = nil, aws.String("arn:aws:iam::222222222222:role/other")
	if err := d.settle(); err != nil {
		t.Fatal(err)
	}
	d.wrote("DeletePodIdentityAssociation", "CreatePodIdentityAssociation")
}

func TestNamesOfRolesOnTheWay(t *testing.T) {
	session := &cloud.Session{Provider: "platform", Identity: cloud.Identity{Cluster: "cluster"}}
	names := map[string]bool{}
	for _, name := range []string{
		associationRoleName(session, "pay", "data"), associationRoleName(session, "pay", "data-2"),
		associationRoleName(session, "pay-2", "data"),
		roleName(session, "pay", "to-data"), roleName(session, "pay", ""),
		associationRoleName(session, "pay", strings.Repeat("x", 253)),
	} {
		if names[name] || len(name) > longestRoleName || !strings.HasPrefix(name, "portico-pods-pay") {
			t.Errorf("the name %s", name)
		}
		names[name] = true
	}
}
