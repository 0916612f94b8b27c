package provider

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/smithy-go"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
)

// fakeAccount returns the given numbers of roles and associations, or an error.
type fakeAccount struct {
	roles, quota int32
	associations int
	audiences    []string
	refuse       map[string]error
	calls        []string
}

func code(c string) error { return &smithy.GenericAPIError{Code: c, Message: c} }

func (f *fakeAccount) call(name string) error {
	f.calls = append(f.calls, name)
	return f.refuse[name]
}

func (f *fakeAccount) ListPodIdentityAssociations(_ context.Context, in *eks.ListPodIdentityAssociationsInput,
	_ ...func(*eks.Options),
) (*eks.ListPodIdentityAssociationsOutput, error) {
	if in.NextToken == nil {
		return &eks.ListPodIdentityAssociationsOutput{
				NextToken:    aws.String("rest"),
				Associations: make([]ekstypes.PodIdentityAssociationSummary, min(1, f.associations)),
			},
			f.call("ListPodIdentityAssociations")
	}
	return &eks.ListPodIdentityAssociationsOutput{
			Associations: make([]ekstypes.PodIdentityAssociationSummary, max(0, f.associations-1)),
		},
		f.call("rest of ListPodIdentityAssociations")
}

func (f *fakeAccount) GetPolicy(context.Context, *iam.GetPolicyInput, ...func(*iam.Options)) (
	*iam.GetPolicyOutput, error,
) {
	return nil, f.call("GetPolicy")
}

func (f *fakeAccount) GetOpenIDConnectProvider(context.Context, *iam.GetOpenIDConnectProviderInput, ...func(
	*iam.Options),
) (*iam.GetOpenIDConnectProviderOutput, error) {
	return &iam.GetOpenIDConnectProviderOutput{ClientIDList: f.audiences}, f.call("GetOpenIDConnectProvider")
}

func (f *fakeAccount) GetAccountSummary(context.Context, *iam.GetAccountSummaryInput, ...func(*iam.Options)) (
	*iam.GetAccountSummaryOutput, error,
) {
	return &iam.GetAccountSummaryOutput{SummaryMap: map[string]int32{"Roles": f.roles, "RolesQuota": f.quota}},
		f.call("GetAccountSummary")
}

// rightsDesk is a provider with workloadIdentity, a fake account and a clock.
type rightsDesk struct {
	*fakeAccount
	p    *v1alpha1.AWSProvider
	now  time.Time
	pass *engine.Pass
}

func newRightsDesk() *rightsDesk {
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	p.Spec.Region = "eu-west-1"
	p.Spec.WorkloadIdentity = &v1alpha1.WorkloadIdentity{
		Mode: v1alpha1.WorkloadIdentityPodIdentity, ClusterName: "main",
		BoundaryARN:     "arn:aws:iam::111111111111:policy/boundary",
		OIDCProviderARN: "arn:aws:iam::111111111111:oidc-provider/issuer",
	}
	return &rightsDesk{
		fakeAccount: &fakeAccount{
			roles: 10, quota: 1000, associations: 3, audiences: []string{"sts.amazonaws.com"},
			refuse: map[string]error{},
		}, p: p,
		now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

// check reconciles once and returns the calls made.
func (d *rightsDesk) check() []string {
	d.calls, d.pass = nil, engine.NewPass(nil)
	session := &cloud.Session{AccountID: "111111111111"}
	r := Reconciler{Account: func(*cloud.Session) Account { return d.fakeAccount }, Now: func() time.Time {
		return d.now
	}}
	r.checkRights(context.Background(), d.p, session, d.pass)
	return d.calls
}

func (d *rightsDesk) condition(kind string) metav1.Condition {
	if c := meta.FindStatusCondition(d.p.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func TestWhatRightsOfPodsNeedIsNamed(t *testing.T) {
	denied := code("AccessDenied")
	for name, row := range map[string]struct {
		change func(*rightsDesk)
		status metav1.ConditionStatus
		reason string
		says   []string
	}{
		"all is there":           {func(*rightsDesk) {}, "True", "Verified", []string{"what workloadIdentity names is there"}},
		"all is there, for IRSA": {func(d *rightsDesk) { d.p.Spec.WorkloadIdentity.Mode = v1alpha1.WorkloadIdentityIRSA }, "True", "Verified", nil},
		"no cluster": {
			func(d *rightsDesk) { d.refuse["ListPodIdentityAssociations"] = code("ResourceNotFoundException") },
			"False", "InvalidProvider",
			[]string{"no EKS cluster main in eu-west-1", "workloadIdentity.clusterName"},
		},
		"no boundary": {
			func(d *rightsDesk) { d.refuse["GetPolicy"] = code("NoSuchEntity") }, "False",
			"InvalidProvider",
			[]string{
				"no policy arn:aws:iam::111111111111:policy/boundary",
				"docs/iam/pods/boundary.json",
			},
		},
		"a permission is missing": {func(d *rightsDesk) { d.refuse["GetPolicy"] = denied }, "False", "AccessDenied", []string{"no permission for iam:GetPolicy: attach docs/iam/accessbinding.json"}},
		"all are missing": {
			func(d *rightsDesk) {
				d.refuse["ListPodIdentityAssociations"], d.refuse["GetPolicy"], d.refuse["GetAccountSummary"] = code(
					"AccessDeniedException"), denied, denied
			}, "False", "AccessDenied",
			[]string{"no permission for eks:ListPodIdentityAssociations, iam:GetPolicy, " +
				"iam:GetAccountSummary: attach"},
		},
		"a thing and a permission": {func(d *rightsDesk) {
			d.refuse["GetPolicy"], d.refuse["GetAccountSummary"] = code("NoSuchEntity"), denied
		}, "False", "InvalidProvider", []string{"no policy", "no permission for iam:GetAccountSummary"}},
		"no identity provider": {func(d *rightsDesk) {
			d.p.Spec.WorkloadIdentity.Mode, d.refuse["GetOpenIDConnectProvider"] = v1alpha1.WorkloadIdentityIRSA,
				code("NoSuchEntity")
		}, "False", "InvalidProvider", []string{"no identity provider arn:aws:iam::111111111111:oidc-provider/issuer"}},
		"one for something else": {func(d *rightsDesk) {
			d.p.Spec.WorkloadIdentity.Mode, d.audiences = v1alpha1.WorkloadIdentityIRSA, []string{"other"}
		}, "False", "InvalidProvider", []string{"add sts.amazonaws.com to its audiences"}},
		"not known": {func(d *rightsDesk) { d.refuse["GetPolicy"] = errors.New("reset") }, "Unknown", "Checking", nil},
		"the service is not offered": {func(d *rightsDesk) {
			d.refuse["GetPolicy"] = engine.Blocked(v1alpha1.ReasonServiceNotOffered, "the provider has no IAM")
		}, "False", "ServiceNotOffered", []string{"the provider has no IAM"}},
	} {
		d := newRightsDesk()
		row.change(d)
		d.check()
		got := d.condition(v1alpha1.ConditionWorkloadIdentityReady)
		if got.Status != row.status || got.Reason != row.reason {
			t.Errorf("%s: %+v", name, got)
		}
		for _, part := range row.says {
			if !strings.Contains(got.Message, part) {
				t.Errorf("%s: %q lacks %q", name, got.Message, part)
			}
		}
	}
}

// A Ready provider is checked once an hour. A failing or edited one is checked in every pass.
func TestAnAccountIsAskedOnceAnHour(t *testing.T) {
	d := newRightsDesk()
	all := []string{
		"ListPodIdentityAssociations", "rest of ListPodIdentityAssociations", "GetPolicy",
		"GetAccountSummary",
	}
	if got := d.check(); !slices.Equal(got, all) {
		t.Errorf("at first: %v", got)
	}
	for minutes := 5; minutes < 60; minutes += 5 {
		d.now = d.now.Add(5 * time.Minute)
		if got := d.check(); len(got) > 0 {
			t.Errorf("after %d minutes: %v", minutes, got)
		}
	}
	d.now = d.now.Add(5 * time.Minute)
	d.refuse["GetPolicy"] = code("AccessDenied")
	for range 2 {
		if got := d.check(); !slices.Equal(got, all) {
			t.Errorf("after an hour: %v", got)
		}
	}
	delete(d.refuse, "GetPolicy")
	d.check()
	d.p.Generation++
	if got := d.check(); !slices.Equal(got, all) {
		t.Errorf("after an edit: %v", got)
	}
	d.p.Spec.WorkloadIdentity.Mode = v1alpha1.WorkloadIdentityNone
	if got := d.check(); len(got) > 0 || d.p.Status.WorkloadIdentity != nil || len(d.p.Status.Conditions) > 0 {
		t.Errorf("without rights: %v, %+v", got, d.p.Status)
	}
}

// A temporary failure does not change what is known.
func TestALostAnswerTakesNothingFromWhatIsKnown(t *testing.T) {
	d := newRightsDesk()
	d.check()
	before := d.p.Status.DeepCopy()
	d.now = d.now.Add(time.Hour)
	d.refuse["GetAccountSummary"] = code("Throttling")
	d.check()
	if got := d.condition(v1alpha1.ConditionWorkloadIdentityReady); got != *meta.FindStatusCondition(
		before.Conditions, got.Type) || *d.p.Status.WorkloadIdentity.Roles != *before.WorkloadIdentity.Roles {
		t.Errorf("%+v", d.p.Status)
	}
}

func TestAQuotaThatIsNearlyFullIsToldOnce(t *testing.T) {
	d := newRightsDesk()
	for _, row := range []struct {
		roles        int32
		associations int
		reason, says string
		told         bool
	}{
		{799, 3999, "", "", false},
		{800, 3999, "QuotaNearlyFull", "800 of 1000 IAM roles", true},
		{801, 3999, "QuotaNearlyFull", "801 of 1000 IAM roles", false},
		{1000, 3999, "QuotaExceeded", "1000 of 1000 IAM roles", true},
		{10, 4000, "QuotaNearlyFull", "4000 of 5000 EKS Pod Identity associations", true},
		{10, 5000, "QuotaExceeded", "5000 of 5000", true},
		{10, 3, "", "", false},
	} {
		d.roles, d.associations = row.roles, row.associations
		d.check()
		got := d.condition(v1alpha1.ConditionQuotaNearlyFull)
		if got.Reason != row.reason || !strings.Contains(got.Message, row.says) ||
			(len(d.pass.Strings()) > 0) != row.told {
			t.Errorf("%+v: %+v, %v", row, got, d.pass.Strings())
		}
		if s := d.p.Status.WorkloadIdentity; s.Roles.Used != int64(row.roles) ||
			s.Associations.Used != int64(row.associations) || !s.ReadTime.Time.Equal(d.now) {
			t.Errorf("%+v: %+v", row, s)
		}
		d.now = d.now.Add(time.Hour)
	}
}
