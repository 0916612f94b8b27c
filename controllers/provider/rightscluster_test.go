package provider

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
)

// The cluster may be in the account of another AWSProvider, whose session is then used.
func TestTheClusterOfAnotherAccountIsAskedFor(t *testing.T) {
	for name, row := range map[string]struct {
		change func(cluster *v1alpha1.AWSProvider, at *fakeAccount)
		err    error
		status metav1.ConditionStatus
		reason string
		says   string
	}{
		"all is there": {nil, nil, "True", "Verified", "what workloadIdentity names is there"},
		"no provider":  {func(c *v1alpha1.AWSProvider, _ *fakeAccount) { c.Name = "" }, nil, "False", "InvalidProvider", "there is no AWSProvider platform"},
		"which gives no rights": {
			func(c *v1alpha1.AWSProvider, _ *fakeAccount) { c.Spec.WorkloadIdentity = nil }, nil,
			"False", "InvalidProvider", "the AWSProvider platform has no workloadIdentity of mode PodIdentity with a " +
				"clusterName",
		},
		"which names another in turn": {func(c *v1alpha1.AWSProvider, _ *fakeAccount) {
			c.Spec.WorkloadIdentity.ClusterName, c.Spec.WorkloadIdentity.ClusterProviderRef = "",
				&v1alpha1.LocalRef{Name: "third"}
		}, nil, "False", "InvalidProvider", "the AWSProvider platform has no workloadIdentity"},
		"of another partition": {func(c *v1alpha1.AWSProvider, _ *fakeAccount) { c.Spec.Region = "cn-north-1" }, nil, "False", "InvalidProvider", "of the AWS partition aws-cn, and this one of aws"},
		"no cluster": {func(_ *v1alpha1.AWSProvider, at *fakeAccount) {
			at.refuse["ListPodIdentityAssociations"] = code("ResourceNotFoundException")
		}, nil, "False", "InvalidProvider", "no EKS cluster shared in eu-north-1 of account 222222222222: correct " +
			"workloadIdentity.clusterName of the AWSProvider platform"},
		"which may not look": {func(_ *v1alpha1.AWSProvider, at *fakeAccount) {
			at.refuse["ListPodIdentityAssociations"] = code("AccessDeniedException")
		}, nil, "False", "AccessDenied", "eks:ListPodIdentityAssociations (the identity of the AWSProvider platform)"},
		"whose credentials are refused": {
			nil, engine.Blocked(v1alpha1.ReasonCredentialsRejected, "the keys are wrong"),
			"False", "CredentialsRejected", "the AWSProvider platform, which workloadIdentity.clusterProviderRef " +
				"names, does not work: the keys are wrong",
		},
		"that does not answer": {nil, errors.New("timeout"), "Unknown", "Checking", "timeout"},
	} {
		d, at := newRightsDesk(), &fakeAccount{associations: 4500, refuse: map[string]error{}}
		cluster := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "platform"}}
		cluster.Spec.Region = "eu-north-1"
		cluster.Spec.WorkloadIdentity = &v1alpha1.WorkloadIdentity{
			Mode: v1alpha1.WorkloadIdentityPodIdentity, ClusterName: "shared",
		}
		d.p.Spec.WorkloadIdentity.ClusterName, d.p.Spec.WorkloadIdentity.ClusterProviderRef = "",
			&v1alpha1.LocalRef{Name: "platform"}
		if row.change != nil {
			row.change(cluster, at)
		}
		r := Reconciler{
			Account: func(s *cloud.Session) Account {
				if s.AccountID == "222222222222" {
					return at
				}
				return d.fakeAccount
			},
			Cluster: func(_ context.Context, name string) (*v1alpha1.AWSProvider, *cloud.Session, error) {
				if row.err != nil || cluster.Name != name {
					return nil, nil, row.err
				}
				partition := "aws"
				if strings.HasPrefix(cluster.Spec.Region, "cn-") {
					partition = "aws-cn"
				}
				return cluster, &cloud.Session{AccountID: "222222222222", Partition: partition}, nil
			},
			Now: func() time.Time { return d.now },
		}
		r.checkRights(t.Context(), d.p, &cloud.Session{AccountID: "111111111111", Partition: "aws"},
			engine.NewPass(nil))
		got := d.condition(v1alpha1.ConditionWorkloadIdentityReady)
		if got.Status != row.status || got.Reason != row.reason || !strings.Contains(got.Message, row.says) {
			t.Errorf("%s: %s %s: %s", name, got.Status, got.Reason, got.Message)
		}
		if slices.Contains(d.calls, "ListPodIdentityAssociations") {
			t.Errorf("%s: the account of the resources is asked for the cluster", name)
		}
		if full := d.condition(v1alpha1.ConditionQuotaNearlyFull); name == "all is there" &&
			(d.p.Status.WorkloadIdentity.Associations.Used != 4500 ||
				!strings.Contains(full.Message, "the cluster shared has 4500 of 5000")) {
			t.Errorf("status %+v, condition %+v", d.p.Status.WorkloadIdentity, full)
		}
	}
}
