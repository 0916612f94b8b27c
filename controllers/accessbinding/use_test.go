package accessbinding

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// used sets when AWS says that the role was last used.
func (d *desk) used(at time.Time, region string) {
	d.role.RoleLastUsed = &iamtypes.RoleLastUsed{LastUsedDate: &at, Region: &region}
}

// The status follows AWS once a day, and the first use at once.
func TestTheStatusSaysWhenTheRoleWasLastUsed(t *testing.T) {
	d := newDesk(t)
	if err := d.settle(); err != nil {
		t.Fatal(err)
	}
	says := func(when string, read, used time.Time, region string) {
		t.Helper()
		if err := d.pass(); err != nil {
			t.Fatal(err)
		}
		u := d.obj.Status.RoleUse
		if u == nil {
			t.Fatalf("%s: RoleUse = nil", when)
		}
		want := v1alpha1.RoleUse{ReadTime: metav1.NewTime(read), LastUsedRegion: region}
		if !used.IsZero() {
			want.LastUsedTime = new(metav1.NewTime(used))
		}
		if diff := cmp.Diff(want, *u); diff != "" {
			t.Errorf("%s: RoleUse (-want +got):\n%s", when, diff)
		}
	}
	made := d.obj.Status.RoleUse.ReadTime.Time
	d.now = made.Add(time.Hour)
	says("never used", made, time.Time{}, "")
	first := d.now
	d.used(first, "eu-west-1")
	says("used", first, first, "eu-west-1")
	d.now = first.Add(23 * time.Hour)
	d.used(d.now, "us-east-1")
	says("the same day", first, first, "eu-west-1")
	d.now = first.Add(24 * time.Hour)
	later := d.now
	d.used(later, "us-east-1")
	says("a day later", later, later, "us-east-1")
	d.role.RoleLastUsed = &iamtypes.RoleLastUsed{}
	d.now = later.Add(400 * 24 * time.Hour)
	says("forgotten by AWS", d.now, time.Time{}, "")
	d.identity = nil
	if got := reasonOf(d.pass()); got != "NoWorkloadIdentity" || d.obj.Status.RoleUse != nil {
		t.Errorf("%s: %+v", got, d.obj.Status.RoleUse)
	}
}

// A full quota is named, with who can do what.
func TestAFullQuotaIsNamed(t *testing.T) {
	full := func(code, message string) error { return &smithy.GenericAPIError{Code: code, Message: message} }
	for call, row := range map[string]struct {
		err  error
		says []string
	}{
		"CreateRole": {
			full("LimitExceeded", "Cannot exceed quota for RolesPerAccount: 1000"),
			[]string{
				"RolesPerAccount: 1000", "Roles per account of IAM, in Service Quotas",
				"status.workloadIdentity",
			},
		},
		"CreatePodIdentityAssociation": {full("ResourceLimitExceededException", "5000"), []string{"the EKS cluster main has no room", "AWS does not raise this limit", "IRSA"}},
	} {
		d := newDesk(t)
		d.refuse[call] = row.err
		err := d.settle()
		if reasonOf(err) != v1alpha1.ReasonQuotaExceeded {
			t.Errorf("%s: %v", call, err)
			continue
		}
		for _, part := range row.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q lacks %q", call, err, part)
			}
		}
		delete(d.refuse, call)
		if err := d.settle(); err != nil || aws.ToString(d.association.RoleArn) == "" {
			t.Errorf("%s, with room: %v", call, err)
		}
	}
}
