package accessbinding

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/smithy-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// fakeAWS fakes one account, with at most one role and one association.
type fakeAWS struct {
	role        *iamtypes.Role
	policy      string // of the role; empty: none
	association *ekstypes.PodIdentityAssociation
	writes      []string
	lose        string // the write whose response is lost, once
	refuse      map[string]error
	now         time.Time
	id          string // of the account; default "111111111111"
}

func (f *fakeAWS) account() string { return cmp.Or(f.id, "111111111111") }

func code(c string) error { return &smithy.GenericAPIError{Code: c, Message: c} }

// write records a call and applies it, unless it is refused; its response may be lost.
func (f *fakeAWS) write(name string, do func()) error {
	if err := f.refuse[name]; err != nil {
		return err
	}
	f.writes = append(f.writes, name)
	do()
	if f.lose == name {
		f.lose = ""
		return errors.New("connection reset")
	}
	return nil
}

func (f *fakeAWS) GetRole(context.Context, *iam.GetRoleInput, ...iamOption) (*iam.GetRoleOutput, error) {
	if err := f.refuse["GetRole"]; err != nil {
		return nil, err
	}
	if f.role == nil {
		return nil, code("NoSuchEntity")
	}
	role := *f.role
	return &iam.GetRoleOutput{Role: &role}, nil
}

func (f *fakeAWS) CreateRole(_ context.Context, in *iam.CreateRoleInput, _ ...iamOption) (
	*iam.CreateRoleOutput, error,
) {
	if f.role != nil {
		return nil, code("EntityAlreadyExists")
	}
	err := f.write("CreateRole", func() {
		f.role = &iamtypes.Role{
			RoleName: in.RoleName, Path: in.Path,
			Arn: aws.String("arn:aws:iam::" + f.account() + ":role" + *in.Path + *in.RoleName), Tags: in.Tags,
			CreateDate:               aws.Time(f.now),
			AssumeRolePolicyDocument: aws.String(url.QueryEscape(*in.AssumeRolePolicyDocument)),
			PermissionsBoundary: &iamtypes.AttachedPermissionsBoundary{
				PermissionsBoundaryArn: in.PermissionsBoundary,
			},
		}
	})
	return &iam.CreateRoleOutput{Role: f.role}, err
}

func (f *fakeAWS) TagRole(_ context.Context, in *iam.TagRoleInput, _ ...iamOption) (*iam.TagRoleOutput, error) {
	return nil, f.write("TagRole", func() { f.role.Tags = in.Tags })
}

func (f *fakeAWS) UpdateAssumeRolePolicy(_ context.Context, in *iam.UpdateAssumeRolePolicyInput, _ ...iamOption) (
	*iam.UpdateAssumeRolePolicyOutput, error,
) {
	return nil, f.write("UpdateAssumeRolePolicy", func() {
		f.role.AssumeRolePolicyDocument = aws.String(url.QueryEscape(*in.PolicyDocument))
	})
}

func (f *fakeAWS) PutRolePermissionsBoundary(_ context.Context, in *iam.PutRolePermissionsBoundaryInput,
	_ ...iamOption,
) (*iam.PutRolePermissionsBoundaryOutput, error) {
	return nil, f.write("PutRolePermissionsBoundary", func() {
		f.role.PermissionsBoundary = &iamtypes.AttachedPermissionsBoundary{
			PermissionsBoundaryArn: in.PermissionsBoundary,
		}
	})
}

func (f *fakeAWS) GetRolePolicy(context.Context, *iam.GetRolePolicyInput, ...iamOption) (
	*iam.GetRolePolicyOutput, error,
) {
	if f.policy == "" {
		return nil, code("NoSuchEntity")
	}
	return &iam.GetRolePolicyOutput{PolicyDocument: aws.String(url.QueryEscape(f.policy))}, nil
}

func (f *fakeAWS) PutRolePolicy(_ context.Context, in *iam.PutRolePolicyInput, _ ...iamOption) (
	*iam.PutRolePolicyOutput, error,
) {
	return nil, f.write("PutRolePolicy", func() { f.policy = *in.PolicyDocument })
}

func (f *fakeAWS) DeleteRolePolicy(context.Context, *iam.DeleteRolePolicyInput, ...iamOption) (
	*iam.DeleteRolePolicyOutput, error,
) {
	return nil, f.write("DeleteRolePolicy", func() { f.policy = "" })
}

func (f *fakeAWS) DeleteRole(context.Context, *iam.DeleteRoleInput, ...iamOption) (*iam.DeleteRoleOutput, error) {
	if f.policy != "" {
		return nil, code("DeleteConflict")
	}
	return nil, f.write("DeleteRole", func() { f.role = nil })
}

func (f *fakeAWS) ListPodIdentityAssociations(context.Context, *eks.ListPodIdentityAssociationsInput, ...eksOption) (
	*eks.ListPodIdentityAssociationsOutput, error,
) {
	out := &eks.ListPodIdentityAssociationsOutput{}
	if f.association != nil {
		out.Associations = []ekstypes.PodIdentityAssociationSummary{{AssociationId: f.association.AssociationId}}
	}
	return out, f.refuse["ListPodIdentityAssociations"]
}

func (f *fakeAWS) DescribePodIdentityAssociation(context.Context, *eks.DescribePodIdentityAssociationInput,
	...eksOption,
) (*eks.DescribePodIdentityAssociationOutput, error) {
	a := *f.association
	return &eks.DescribePodIdentityAssociationOutput{Association: &a}, nil
}

func (f *fakeAWS) CreatePodIdentityAssociation(_ context.Context, in *eks.CreatePodIdentityAssociationInput,
	_ ...eksOption,
) (*eks.CreatePodIdentityAssociationOutput, error) {
	if f.association != nil {
		return nil, code("ResourceInUseException")
	}
	err := f.write("CreatePodIdentityAssociation", func() {
		f.association = &ekstypes.PodIdentityAssociation{
			AssociationId:  aws.String("a-1"),
			AssociationArn: aws.String("arn:aws:eks:eu-west-1:111111111111:podidentityassociation/main/a-1"),
			ClusterName:    in.ClusterName,
			Namespace:      in.Namespace, ServiceAccount: in.ServiceAccount, RoleArn: in.RoleArn,
			TargetRoleArn: in.TargetRoleArn, Policy: in.Policy, DisableSessionTags: in.DisableSessionTags,
			Tags: in.Tags, ModifiedAt: aws.Time(f.now),
		}
	})
	return &eks.CreatePodIdentityAssociationOutput{Association: f.association}, err
}

func (f *fakeAWS) UpdatePodIdentityAssociation(_ context.Context, in *eks.UpdatePodIdentityAssociationInput,
	_ ...eksOption,
) (*eks.UpdatePodIdentityAssociationOutput, error) {
	err := f.write("UpdatePodIdentityAssociation", func() {
		f.association.RoleArn, f.association.TargetRoleArn, f.association.Policy,
			f.association.DisableSessionTags = in.RoleArn, in.TargetRoleArn, in.Policy, in.DisableSessionTags
		f.association.ModifiedAt = aws.Time(f.now)
	})
	return &eks.UpdatePodIdentityAssociationOutput{Association: f.association}, err
}

func (f *fakeAWS) DeletePodIdentityAssociation(context.Context, *eks.DeletePodIdentityAssociationInput, ...eksOption) (
	*eks.DeletePodIdentityAssociationOutput, error,
) {
	return nil, f.write("DeletePodIdentityAssociation", func() { f.association = nil })
}

func (f *fakeAWS) TagResource(_ context.Context, in *eks.TagResourceInput, _ ...eksOption) (
	*eks.TagResourceOutput, error,
) {
	return nil, f.write("TagResource", func() {
		maps.Copy(f.association.Tags, in.Tags)
	})
}

// desk is one object, the account, and the clock.
type desk struct {
	*fakeAWS
	t         *testing.T
	obj       *v1alpha1.AccessBinding
	resources map[string]external.Object
	others    []v1alpha1.AccessBinding
	identity  *v1alpha1.WorkloadIdentity
	cluster   *clusterDesk                  // nil: the cluster is in the account of the resources
	account   *metav1.PartialObjectMetadata // the ServiceAccount; nil: it does not exist
	closed    string                        // why the account is closed to the namespace; empty: it is open
	saves     []string                      // the writes before each
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	there := v1alpha1.AWSStatus{
		LastSyncTime: &metav1.Time{Time: time.Unix(1, 0)},
		ARN:          "arn:aws:sqs:eu-west-1:111111111111:pay-orders", Region: "eu-west-1", AccountID: "111111111111",
	}
	queue := &v1alpha1.SQSQueue{Status: v1alpha1.SQSQueueStatus{AWSStatus: there}}
	queue.Spec.ProviderRef.Name = "main"
	obj := &v1alpha1.AccessBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "pay", Name: "worker", UID: "uid"}}
	obj.Spec = v1alpha1.AccessBindingSpec{
		ProviderRef: v1alpha1.LocalRef{Name: "main"}, ServiceAccountName: "worker",
		Resources: []v1alpha1.AccessBindingResource{{Kind: "SQSQueue", Name: "orders", Access: v1alpha1.AccessWrite}},
	}
	return &desk{
		account: &metav1.PartialObjectMetadata{},
		fakeAWS: &fakeAWS{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), refuse: map[string]error{}}, t: t, obj: obj, resources: map[string]external.Object{"orders": queue},
		identity: &v1alpha1.WorkloadIdentity{
			Mode: v1alpha1.WorkloadIdentityPodIdentity, ClusterName: "main",
			BoundaryARN: "arn:aws:iam::111111111111:policy/boundary",
		},
	}
}

// named makes the ServiceAccount name this role.
func (d *desk) named(role string) {
	d.account = &metav1.PartialObjectMetadata{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.AnnotationRoleARN: role}},
	}
}

func (d *desk) session() *cloud.Session {
	return &cloud.Session{
		Config: aws.Config{Region: "eu-west-1"}, AccountID: "111111111111", Partition: "aws",
		Identity: cloud.Identity{Cluster: "cluster", Kind: v1alpha1.KindAccessBinding, NamespaceUID: "ns"},
	}
}

func (d *desk) reconciler() Reconciler {
	session := d.session()
	return Reconciler{
		Connect: func(_ context.Context, obj *v1alpha1.AccessBinding) (*Account, error) {
			if d.closed != "" && obj.DeletionTimestamp.IsZero() {
				return nil, engine.Blocked(d.closed, "it is closed")
			}
			return &Account{
				Session: session, Roles: d.fakeAWS, Associations: d.fakeAWS, Identity: d.identity,
				Recheck: func(context.Context) error { return d.refuse["Recheck"] },
			}, nil
		},
		Resource: func(_ context.Context, _, _, name string) (external.Object, error) { return d.resources[name], nil },
		ServiceAccount: func(context.Context, string, string) (*metav1.PartialObjectMetadata, error) {
			return d.account, d.refuse["ServiceAccount"]
		},
		Cluster: d.openCluster,
		Others: func(context.Context, *v1alpha1.AccessBinding) ([]v1alpha1.AccessBinding, error) {
			return d.others, nil
		},
		Siblings: func(context.Context, *v1alpha1.AccessBinding) ([]v1alpha1.AccessBinding, error) {
			return append(slices.Clone(d.others), *d.obj), nil
		},
		Now: func() time.Time { return d.now }, Scaled: func(t time.Duration) time.Duration { return t },
	}
}

func (d *desk) pass() error {
	d.t.Helper()
	return d.reconciler().Reconcile(d.t.Context(), d.obj, engine.NewPass(func(context.Context) error {
		d.saves = append(d.saves, d.obj.Status.AccountID+" before "+last(d.writes))
		return nil
	}))
}

func last(all []string) string {
	if len(all) == 0 {
		return "all"
	}
	return all[len(all)-1]
}

// settle runs passes, with the clock advancing, until nothing is left to do.
func (d *desk) settle() error {
	d.t.Helper()
	var err error
	for range 6 {
		if err = d.pass(); err == nil {
			return nil
		}
		d.now = d.now.Add(holds)
	}
	return err
}

func (d *desk) finalize() error {
	d.t.Helper()
	d.obj.DeletionTimestamp = &metav1.Time{Time: d.now}
	return d.reconciler().Finalize(d.t.Context(), d.obj, engine.NewPass(nil))
}

// wrote fails unless these were the writes since the last call.
func (d *desk) wrote(want ...string) {
	d.t.Helper()
	if !slices.Equal(d.writes, want) {
		d.t.Errorf("wrote %v, want %v", d.writes, want)
	}
	d.writes = nil
}

func reasonOf(err error) string {
	if wait, ok := engine.AsWait(err); ok {
		return wait.Reason
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
