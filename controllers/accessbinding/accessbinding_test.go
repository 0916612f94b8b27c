package accessbinding

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/access"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/cloud/cloudtest"
	"github.com/portico-platform/portico/controllers/provider"
)

func TestAServiceAccountGetsItsRights(t *testing.T) {
	d := newDesk(t)
	if got := reasonOf(d.pass()); got != "Propagating" {
		t.Errorf("at first: %s", got)
	}
	d.wrote("CreateRole", "PutRolePolicy", "CreatePodIdentityAssociation")
	if len(d.saves) != 1 || d.saves[0] != "111111111111 before all" {
		t.Errorf("saved %q: where it will be is noted once, before anything is made", d.saves)
	}
	if err := d.settle(); err != nil {
		t.Error(err)
	}
	d.wrote()
	a, s := d.association, d.obj.Status
	got := v1alpha1.AccessBindingStatus{
		Policy: s.Policy, RoleARN: s.RoleARN, AssociationARN: s.AssociationARN, ClusterName: s.ClusterName,
	}
	if diff := cmp.Diff(v1alpha1.AccessBindingStatus{
		Policy: *a.Policy, RoleARN: *a.RoleArn, AssociationARN: *a.AssociationArn, ClusterName: "main",
	}, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if !strings.Contains(s.Policy, "sqs:SendMessage") || !*a.DisableSessionTags {
		t.Errorf("policy %s, DisableSessionTags = %v; want sqs:SendMessage and true", s.Policy, *a.DisableSessionTags)
	}
	if *d.role.PermissionsBoundary.PermissionsBoundaryArn != d.identity.BoundaryARN ||
		*d.role.Path != "/portico/pay/" || len(*d.role.RoleName) > longestRoleName {
		t.Errorf("role %+v", d.role)
	}
}

func TestRightsFollowWhatIsBound(t *testing.T) {
	d := newDesk(t)
	_ = d.settle()
	d.writes = nil
	d.obj.Spec.Resources[0].Access = v1alpha1.AccessRead
	_ = d.pass()
	d.wrote("UpdatePodIdentityAssociation")
	if strings.Contains(*d.association.Policy, "SendMessage") {
		t.Errorf("policy %s", *d.association.Policy)
	}
	d.resources = nil
	if got := reasonOf(d.settle()); got != "BindingNotFound" {
		t.Errorf("a resource that is gone: %s", got)
	}
	d.wrote("UpdatePodIdentityAssociation")
	if !same(*d.association.Policy, denyAll) {
		t.Errorf("policy %s", *d.association.Policy)
	}
}

func TestWhatSomebodyChangesIsPutRight(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*desk)
		want   string
	}{
		"the trust":          {func(d *desk) { *d.role.AssumeRolePolicyDocument = "%7B%7D" }, "UpdateAssumeRolePolicy"},
		"the boundary":       {func(d *desk) { d.role.PermissionsBoundary = nil }, "PutRolePermissionsBoundary"},
		"the role's rights":  {func(d *desk) { d.policy = "{}" }, "PutRolePolicy"},
		"the rights":         {func(d *desk) { *d.association.Policy = "{}" }, "UpdatePodIdentityAssociation"},
		"the session's tags": {func(d *desk) { *d.association.DisableSessionTags = false }, "UpdatePodIdentityAssociation"},
	} {
		d := newDesk(t)
		_ = d.settle()
		d.writes = nil
		row.change(d)
		if err := d.settle(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		d.wrote(row.want)
	}
}

func TestWhatIsSomebodyElsesIsNotTouched(t *testing.T) {
	for name, change := range map[string]func(*desk){
		"a role":           func(d *desk) { d.role.Tags = []iamtypes.Tag{} },
		"an association":   func(d *desk) { d.association.Tags = nil },
		"another object's": func(d *desk) { d.association.Tags["portico.dev/name"] = "other" },
	} {
		d := newDesk(t)
		_ = d.settle()
		d.writes = nil
		change(d)
		d.obj.Spec.Resources = nil
		if got := reasonOf(d.pass()); got != "AlreadyExists" {
			t.Errorf("%s: %s", name, got)
		}
		d.wrote()
		if err := d.finalize(); err != nil {
			t.Errorf("%s: deleted, %v", name, err)
		}
		there := d.association != nil
		if name == "a role" {
			there = d.role != nil
		}
		if !there {
			t.Errorf("%s was deleted", name)
		}
	}
}

// A lost response does not change the outcome, and nothing is created twice.
func TestLostAnswersAreFoundAgain(t *testing.T) {
	for _, call := range []string{"CreateRole", "PutRolePolicy", "CreatePodIdentityAssociation"} {
		d := newDesk(t)
		d.lose = call
		if err := d.pass(); err == nil {
			t.Errorf("%s: the error is lost, too", call)
		}
		if err := d.settle(); err != nil {
			t.Errorf("%s: %v", call, err)
		}
		d.wrote("CreateRole", "PutRolePolicy", "CreatePodIdentityAssociation")
	}
	for _, call := range []string{"DeletePodIdentityAssociation", "DeleteRolePolicy", "DeleteRole"} {
		d := newDesk(t)
		_ = d.settle()
		d.lose = call
		if err := d.finalize(); err == nil {
			t.Errorf("%s: the error is lost, too", call)
		}
		if err := d.finalize(); err != nil || d.role != nil || d.association != nil {
			t.Errorf("%s: %v, left %v %v", call, err, d.role, d.association)
		}
	}
}

func TestTheRoleGoesWithTheLastOfTheNamespace(t *testing.T) {
	d := newDesk(t)
	_ = d.settle()
	d.others = []v1alpha1.AccessBinding{{}}
	if err := d.finalize(); err != nil || d.association != nil || d.role == nil {
		t.Errorf("with another one: %v, %v %v", err, d.association, d.role)
	}
	d.others = nil
	if err := d.finalize(); err != nil || d.role != nil {
		t.Errorf("the last one: %v, %v", err, d.role)
	}
	never := newDesk(t)
	if err := never.finalize(); err != nil {
		t.Error(err)
	}
	never.wrote()
}

// An error never counts as absence, and a refusal leaves a consistent status.
func TestErrorsAreNotAbsence(t *testing.T) {
	boom := errors.New("boom")
	for _, call := range []string{"GetRole", "ListPodIdentityAssociations"} {
		d := newDesk(t)
		_ = d.settle()
		d.writes, d.refuse[call] = nil, boom
		if err := d.pass(); !errors.Is(err, boom) {
			t.Errorf("%s: %v", call, err)
		}
		if err := d.finalize(); !errors.Is(err, boom) || d.role == nil {
			t.Errorf("%s: %v at the end, role %v", call, err, d.role)
		}
	}
}

// A missing boundary is for an admin to create.
func TestABoundaryThatIsNotThereIsNamed(t *testing.T) {
	d := newDesk(t)
	d.refuse["CreateRole"] = code("NoSuchEntity")
	if err := d.pass(); reasonOf(err) != "InvalidProvider" || !strings.Contains(err.Error(), d.identity.BoundaryARN) {
		t.Error(err)
	}
	d.wrote()
}

func TestWhatGivesNoRights(t *testing.T) {
	for want, change := range map[string]func(*desk){
		"NoWorkloadIdentity": func(d *desk) { d.identity = nil },
		"NotAllowed": func(d *desk) {
			d.resources["orders"].(*v1alpha1.SQSQueue).Spec.ManagementPolicy = v1alpha1.ManagementObserve
		},
		"AccountMismatch": func(d *desk) {
			d.resources["orders"].(*v1alpha1.SQSQueue).Spec.ProviderRef.Name = "other"
		},
		"WaitingForBinding": func(d *desk) { d.resources["orders"].(*v1alpha1.SQSQueue).Status.ARN = "" },
		"PolicyTooLong": func(d *desk) {
			d.resources["orders"].(*v1alpha1.SQSQueue).Status.ARN += strings.Repeat("x", longestPolicy)
		},
	} {
		d := newDesk(t)
		change(d)
		if got := reasonOf(d.settle()); got != want {
			t.Errorf("%s: %s", want, got)
		}
		if d.association != nil && strings.Contains(*d.association.Policy, "sqs:") {
			t.Errorf("%s: rights %s", want, *d.association.Policy)
		}
	}
}

// calls are all calls made to IAM and EKS, including those of the AWSProvider's check.
type calls interface {
	roles
	associations
	provider.Account
}

func TestThePolicyInTheDocsIsThatOfTheCalls(t *testing.T) {
	named := map[string][]string{"": {"iam:PassRole"}}
	for _, of := range []reflect.Type{reflect.TypeFor[roles](), reflect.TypeFor[provider.Account]()} {
		for method := range of.Methods() {
			named[method.Name] = []string{"iam:" + method.Name}
		}
	}
	delete(named, "ListPodIdentityAssociations") // an EKS call
	cloudtest.Policy(t, "../../docs/iam/accessbinding.json", "eks", reflect.TypeFor[calls](), named)
}

// The boundary allows Pods all that any access gives, and to assume their role in another account; nothing else.
func TestTheBoundaryIsAllThatAnyAccessGives(t *testing.T) {
	text, err := os.ReadFile("../../docs/iam/pods/boundary.json")
	if err != nil {
		t.Fatal(err)
	}
	of := func(text string) (all []string) {
		var read struct{ Statement []struct{ Action []string } }
		if err := json.Unmarshal([]byte(text), &read); err != nil {
			t.Fatal(err)
		}
		for _, s := range read.Statement {
			all = append(all, s.Action...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	var grants []access.Grant
	for _, kind := range []string{v1alpha1.KindS3Bucket, v1alpha1.KindSNSTopic, v1alpha1.KindSQSQueue} {
		grants = append(grants, access.Grant{
			Kind: kind, ARN: "arn:aws:s3:eu-west-1:111111111111:x", Key: "1234",
			Region: "eu-west-1", Account: "111111111111",
		})
	}
	policy, err := access.Policy(grants)
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	session := d.session()
	given := of(policy)
	if got := of(rolePolicy(session, "pay")); !slices.Equal(got, given) {
		t.Errorf("the role allows %v, and accesses give %v", got, given)
	}
	if got, want := of(string(text)), slices.Concat(given, assume); !slices.Equal(got, want) {
		t.Errorf("the boundary allows %v, and needs to allow %v", got, want)
	}
}

// The role of a namespace identifies buckets by their names; that of a ServiceAccount has its own policy.
func TestABucketOfAnotherName(t *testing.T) {
	bucket := func(name string) *v1alpha1.S3Bucket {
		b := &v1alpha1.S3Bucket{}
		b.Spec.ProviderRef.Name, b.Status.ARN, b.Status.LastSyncTime = "main", "arn:aws:s3:::"+name,
			&metav1.Time{Time: time.Unix(1, 0)}
		return b
	}
	for name, row := range map[string]struct {
		bucket string
		mode   v1alpha1.WorkloadIdentityMode
		want   string
	}{
		"chosen":           {"pay-files", v1alpha1.WorkloadIdentityPodIdentity, ""},
		"another":          {"legacy-files", v1alpha1.WorkloadIdentityPodIdentity, "NotAllowed"},
		"another, by IRSA": {"legacy-files", v1alpha1.WorkloadIdentityIRSA, "WaitingForServiceAccount"},
	} {
		d := newDesk(t)
		d.identity.Mode, d.identity.OIDCProviderARN = row.mode, oidcProvider
		d.resources["orders"] = bucket(row.bucket)
		d.obj.Spec.Resources[0].Kind = "S3Bucket"
		if got := reasonOf(d.settle()); got != row.want {
			t.Errorf("%s: %s", name, got)
		}
		if has := strings.Contains(d.obj.Status.Policy, row.bucket); has != (row.want != "NotAllowed") {
			t.Errorf("%s: policy %s", name, d.obj.Status.Policy)
		}
	}
}

func TestNamesOfRoles(t *testing.T) {
	of := func(cluster, provider, namespace, account string) string {
		return roleName(&cloud.Session{Provider: provider, Identity: cloud.Identity{Cluster: cluster}}, namespace,
			account)
	}
	long := of("cluster", "main", strings.Repeat("n", 63), "")
	if len(long) > longestRoleName || !strings.HasPrefix(long, "portico-pods-") {
		t.Errorf("%s, %d characters", long, len(long))
	}
	all := []string{
		long, of("cluster", "main", strings.Repeat("n", 62)+"m", ""), of("one", "main", "pay", ""),
		of("two", "main", "pay", ""), of("one", "other", "pay", ""), of("one", "main", "pay", "a"),
		of("one", "main", "pay-a", ""),
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 7 {
		t.Errorf("some are equal: %v", all)
	}
}

// A change takes effect for new Pods after some seconds; its time is EKS's, and our clock may differ.
func TestAClockThatIsBehindWaitsNoLonger(t *testing.T) {
	d := newDesk(t)
	_ = d.settle()
	d.now = d.now.Add(-time.Hour)
	if err := d.pass(); err != nil {
		t.Error(err)
	}
}
