package eks

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/portico-platform/portico/test/awsproxy/iam"
	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// PodService is the principal that assumes the roles of associations.
var PodService = iampolicy.Principal{Kind: "Service", Name: "pods.eks.amazonaws.com"}

// sessionPolicyText matches the characters that a session policy may have, by the same references.
var sessionPolicyText = regexp.MustCompile(`^[\x{9}\x{A}\x{D}\x{20}-\x{FF}]+$`)

// refuseInvalid refuses the call; nil if why is empty.
func refuseInvalid(x *wire.Exchange, why string) *wire.Reply {
	if why == "" {
		return nil
	}
	return x.Fail(http.StatusBadRequest, "InvalidParameterException", why)
}

func noAssociation(x *wire.Exchange, id string) *wire.Reply {
	return x.Fail(http.StatusNotFound, "ResourceNotFoundException", "No pod identity association found for ID: "+id+".")
}

var (
	namespaceName      = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	serviceAccountName = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$`)
)

// invalid returns what is wrong with the parts that only a creation has; "" if nothing is.
func (r associationRequest) invalid() string {
	switch {
	case !namespaceName.MatchString(r.Namespace):
		return "namespace is required, and the name of a namespace: " + r.Namespace
	case !serviceAccountName.MatchString(r.ServiceAccount):
		return "serviceAccount is required, and the name of a service account: " + r.ServiceAccount
	case r.RoleARN == nil:
		return "roleArn can't be null or empty."
	default:
		return invalidTags(r.Tags)
	}
}

// invalidTags returns what is wrong with the tags of an association; "" if nothing is.
func invalidTags(tags map[string]string) string {
	if len(tags) > 50 {
		return "There may be at most 50 tags."
	}
	for key, value := range tags {
		if n := utf8.RuneCountInString(key); n < 1 || n > 128 || utf8.RuneCountInString(value) > 256 {
			return "Tag keys have 1 to 128 characters, and values at most 256: " + key
		}
		if strings.HasPrefix(strings.ToLower(key), "aws:") {
			return "Tag keys must not begin with aws:, which is reserved: " + key
		}
	}
	return ""
}

// invalid returns what is wrong with an association; "" if nothing is.
func (a *Association) invalid() string {
	if _, ok := iam.ReadRoleARN(a.RoleARN); !ok {
		return "Invalid Role ARN: " + a.RoleARN
	}
	if _, ok := iam.ReadRoleARN(a.TargetRoleARN); a.TargetRoleARN != "" && !ok {
		return "Invalid target Role ARN: " + a.TargetRoleARN
	}
	if a.Policy == "" {
		return ""
	}
	if utf8.RuneCountInString(a.Policy) > permit.SessionPolicyLimit {
		return "The policy must have at most 2048 characters."
	}
	if !sessionPolicyText.MatchString(a.Policy) {
		return "The policy contains characters that are not valid."
	}
	if !a.DisableSessionTags {
		return "PackedPolicyTooLarge: disableSessionTags must be true when a policy is provided."
	}
	if _, err := permit.ParsePolicy([]byte(a.Policy)); err != nil {
		return "The policy is not a valid IAM policy: " + err.Error()
	}
	return ""
}

// invalidRole returns why an association cannot have the role; "" if it can. The conditions of its trust policy
// matter only when it is assumed.
func (s *Service) invalidRole(ctx context.Context, x *wire.Exchange, arn string) (string, error) {
	id, _ := iam.ReadRoleARN(arn)
	if id.Account != x.Call.Account || id.Partition != wire.Partition(x.Call.Region) {
		return "The role must be in the account of the cluster: " + arn, nil
	}
	role, err := s.roles.Role(ctx, arn)
	if err != nil {
		return "", err
	}
	if role == nil || s.lag.Hides(iam.NewRoleKey(arn)) {
		return "Role provided in the request does not exist.", nil
	}
	trust, err := iam.ParseTrust(role.Trust)
	if err != nil || !trust.Mentions("sts:AssumeRole", PodService) || !trust.Mentions("sts:TagSession", PodService) {
		return "Trust policy of the role provided is invalid. Follow the official documentation to resolve the issue.", nil //nolint:nilerr // EKS says no more
	}
	return "", nil
}
