package accessbinding

import (
	"context"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

type iamOption = func(*iam.Options)

// rolePolicies are the calls for inline policies of roles.
type rolePolicies interface {
	GetRolePolicy(context.Context, *iam.GetRolePolicyInput, ...iamOption) (*iam.GetRolePolicyOutput, error)
	PutRolePolicy(context.Context, *iam.PutRolePolicyInput, ...iamOption) (*iam.PutRolePolicyOutput, error)
	DeleteRolePolicy(context.Context, *iam.DeleteRolePolicyInput, ...iamOption) (*iam.DeleteRolePolicyOutput, error)
}

// roles is the part of the IAM client that is used; docs/iam is checked against it.
type roles interface {
	rolePolicies
	GetRole(context.Context, *iam.GetRoleInput, ...iamOption) (*iam.GetRoleOutput, error)
	CreateRole(context.Context, *iam.CreateRoleInput, ...iamOption) (*iam.CreateRoleOutput, error)
	UpdateAssumeRolePolicy(context.Context, *iam.UpdateAssumeRolePolicyInput, ...iamOption) (
		*iam.UpdateAssumeRolePolicyOutput, error)
	PutRolePermissionsBoundary(context.Context, *iam.PutRolePermissionsBoundaryInput, ...iamOption) (
		*iam.PutRolePermissionsBoundaryOutput, error)
	TagRole(context.Context, *iam.TagRoleInput, ...iamOption) (*iam.TagRoleOutput, error)
	DeleteRole(context.Context, *iam.DeleteRoleInput, ...iamOption) (*iam.DeleteRoleOutput, error)
}

var _ roles = (*iam.Client)(nil)

// noSuchEntity is IAM's not-found code. IAM hides nothing in the account behind it, so it proves absence.
const noSuchEntity = "NoSuchEntity"

// wantedRole is the wanted state of a role in an account.
type wantedRole struct {
	account                                      *Account
	name, path, purpose, trust, policy, boundary string
	tags                                         map[string]string
}

// arn returns the ARN that the role has or will have.
func (w wantedRole) arn() string {
	s := w.account.Session
	return "arn:" + s.Partition + ":iam::" + s.AccountID + ":role" + w.path + w.name
}

// readRole returns the role; nil if it does not exist.
func readRole(ctx context.Context, want wantedRole) (*iamtypes.Role, error) {
	out, err := want.account.Roles.GetRole(ctx, &iam.GetRoleInput{RoleName: &want.name})
	switch {
	case cloud.HasCode(err, noSuchEntity):
		return nil, nil
	case err != nil:
		return nil, cloud.Explain(err)
	}
	return out.Role, nil
}

// longestRolePolicy is IAM's limit for the policies in a role, in characters.
const longestRolePolicy = 10_240

// ensureRole makes sure that the roles exist in their wanted state. Several objects may do so concurrently: each call
// writes the whole state.
func (r *reconciliation) ensureRole(ctx context.Context) (string, error) {
	wanted := r.wantedRoles()
	if pods := wanted[0]; len(pods.policy) > longestRolePolicy {
		return "", tooLong(pods.policy, "IAM", longestRolePolicy)
	}
	if err := r.checkAssociation(ctx); err != nil {
		return "", err
	}
	for i, want := range wanted {
		have, err := r.keepRole(ctx, want)
		if err != nil {
			return "", err
		}
		if made := aws.ToTime(have.CreateDate); made.After(r.roleMade) {
			r.roleMade = made
		}
		if i == 0 {
			r.obj.Status.RoleARN = aws.ToString(have.Arn)
			r.noteUse(have)
		} else {
			r.obj.Status.ClusterAccount.RoleARN = aws.ToString(have.Arn)
		}
	}
	return "the Pods act as " + wanted[0].name, nil
}

// keepRole makes sure that a role exists in its wanted state.
func (r *reconciliation) keepRole(ctx context.Context, want wantedRole) (*iamtypes.Role, error) {
	have, err := readRole(ctx, want)
	if err != nil {
		return nil, err
	}
	fresh := have == nil
	if fresh {
		if have, fresh, err = r.createRole(ctx, want); err != nil {
			return nil, err
		}
	}
	if have, err = r.takeOver(ctx, want, have); err != nil {
		return nil, err
	}
	if r.obj.Status.AccountID == "" { // without an account in the status nothing could be found again
		if err := r.reserve(ctx); err != nil {
			return nil, err
		}
	}
	if !fresh {
		if err := alignRole(ctx, want, have); err != nil {
			return nil, err
		}
	}
	return have, r.alignPolicy(ctx, want, fresh)
}

// takeOver returns the role if it is ours; a role of an earlier object of this name gets our tags first.
func (r *reconciliation) takeOver(ctx context.Context, want wantedRole, have *iamtypes.Role) (*iamtypes.Role, error) {
	switch r.ownerOf(have, want.tags) {
	case external.Ours:
		return have, nil
	case external.Earlier:
		if err := r.reserve(ctx); err != nil {
			return nil, err
		}
		_, err := want.account.Roles.TagRole(ctx, &iam.TagRoleInput{RoleName: &want.name, Tags: tagList(want.tags)})
		return have, cloud.Explain(err)
	default:
		return nil, engine.Blocked(v1alpha1.ReasonAlreadyExists, "there is a role %s in account %s that does not "+
			"carry Portico's marks of this %s; nothing was changed. Ask a platform admin to remove or rename it",
			want.name, want.account.Session.AccountID, whose(r.byToken()))
	}
}

func whose(byToken bool) string {
	if byToken {
		return "object"
	}
	return "namespace"
}

// ownerOf returns the owner according to the role's tags.
func (r *reconciliation) ownerOf(role *iamtypes.Role, marks map[string]string) external.Owner {
	tags := cloud.TagMap(role.Tags, func(t iamtypes.Tag) (key, value *string) { return t.Key, t.Value })
	if r.byToken() {
		return r.account.Session.Identity.Owner(r.obj, tags)
	}
	for key, value := range marks {
		if tags[key] != value {
			return external.Foreign
		}
	}
	return external.Ours
}

func tagList(tags map[string]string) []iamtypes.Tag {
	return cloud.TagList(tags, func(key, value *string) iamtypes.Tag { return iamtypes.Tag{Key: key, Value: value} })
}

// createRole creates the role; fresh is false if another object of the namespace was faster.
func (r *reconciliation) createRole(ctx context.Context, want wantedRole) (role *iamtypes.Role, fresh bool, err error) {
	if err := r.reserve(ctx); err != nil {
		return nil, false, err
	}
	out, err := want.account.Roles.CreateRole(ctx, &iam.CreateRoleInput{
		RoleName: &want.name, Path: &want.path, AssumeRolePolicyDocument: &want.trust,
		PermissionsBoundary: &want.boundary,
		Description:         aws.String(want.purpose + ". Kept by Portico."), Tags: tagList(want.tags),
	})
	if cloud.HasCode(err, "EntityAlreadyExists") {
		role, err = readRole(ctx, want)
		if err == nil && role == nil {
			err = engine.Wait(v1alpha1.ReasonSettling, settles, "the role %s was created a moment ago and is not "+
				"visible yet", want.name)
		}
		return role, false, err
	}
	if err != nil {
		return nil, false, explainRole(err, want)
	}
	r.pass.Normal(v1alpha1.ReasonCreated, "CreateRole", "the role %s", want.name)
	made := *out.Role
	made.Tags = tagList(want.tags) // a response may omit them
	return &made, true, nil
}

// explainRole explains IAM's errors for a role whose boundary may not exist.
func explainRole(err error, want wantedRole) error {
	if cloud.HasCode(err, "LimitExceeded") {
		return engine.Blocked(v1alpha1.ReasonQuotaExceeded, "%w. That quota is Roles per account of IAM, in Service "+
			"Quotas; status.workloadIdentity of the AWSProvider %s shows its use. Portico tries again by itself, at "+
			"least every 5 minutes",
			cloud.Explain(err), want.account.Session.Provider)
	}
	if cloud.HasCode(err, noSuchEntity) {
		return engine.Blocked(v1alpha1.ReasonInvalidProvider, "%w. Ask a platform admin to make the policy %s, which "+
			"workloadIdentity.boundaryARN of the AWSProvider %s names", cloud.Explain(err), want.boundary,
			want.account.Session.Provider)
	}
	return cloud.Explain(err)
}

// alignRole corrects differences of the role itself.
func alignRole(ctx context.Context, want wantedRole, have *iamtypes.Role) error {
	if text, err := url.QueryUnescape(aws.ToString(have.AssumeRolePolicyDocument)); err != nil ||
		!same(text, want.trust) {
		if _, err := want.account.Roles.UpdateAssumeRolePolicy(
			ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: &want.name, PolicyDocument: &want.trust}); err != nil {
			return cloud.Explain(err)
		}
	}
	if have.PermissionsBoundary == nil ||
		aws.ToString(have.PermissionsBoundary.PermissionsBoundaryArn) != want.boundary {
		if _, err := want.account.Roles.PutRolePermissionsBoundary(ctx, &iam.PutRolePermissionsBoundaryInput{
			RoleName: &want.name, PermissionsBoundary: &want.boundary,
		}); err != nil {
			return explainRole(err, want)
		}
	}
	return nil
}

// alignPolicy corrects the role's inline policy; a fresh role has none.
func (r *reconciliation) alignPolicy(ctx context.Context, want wantedRole, fresh bool) error {
	if !fresh {
		out, err := want.account.Roles.GetRolePolicy(
			ctx, &iam.GetRolePolicyInput{RoleName: &want.name, PolicyName: aws.String(policyName)})
		if err != nil && !cloud.HasCode(err, noSuchEntity) {
			return cloud.Explain(err)
		}
		if err == nil {
			if text, escaped := url.QueryUnescape(aws.ToString(out.PolicyDocument)); escaped == nil &&
				same(text, want.policy) {
				return nil
			}
		}
	}
	_, err := want.account.Roles.PutRolePolicy(
		ctx, &iam.PutRolePolicyInput{
			RoleName: &want.name, PolicyName: aws.String(policyName),
			PolicyDocument: &want.policy,
		})
	if err == nil && r.byToken() {
		r.pass.Normal(v1alpha1.ReasonUpdated, "PutRolePolicy", "the rights of the ServiceAccount %s follow what it "+
			"is bound to", r.obj.Spec.ServiceAccountName)
	}
	return cloud.Explain(err)
}

// useAge is how old the role's last use in the status may be: each update is a write of every object.
const useAge = 24 * time.Hour

// noteUse records when the role was last used. AWS returns that with the role, without an extra call.
func (r *reconciliation) noteUse(have *iamtypes.Role) {
	s, now := &r.obj.Status, r.Now()
	use := v1alpha1.RoleUse{ReadTime: metav1.Time{Time: now}}
	if u := have.RoleLastUsed; u != nil && u.LastUsedDate != nil {
		use.LastUsedTime, use.LastUsedRegion = &metav1.Time{Time: *u.LastUsedDate}, aws.ToString(u.Region)
	}
	first := s.RoleUse != nil && s.RoleUse.LastUsedTime == nil && use.LastUsedTime != nil
	if s.RoleUse == nil || first || now.Sub(s.RoleUse.ReadTime.Time).Abs() >= useAge {
		s.RoleUse = &use
	}
}
