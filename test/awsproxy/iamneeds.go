package awsproxy

import (
	"context"
	"slices"
	"strings"
)

// boundaryKept are the calls on a role whose permission may depend on the role's boundary.
var boundaryKept = map[string]bool{
	"PutRolePolicy": true, "DeleteRolePolicy": true, "AttachRolePolicy": true, "DetachRolePolicy": true,
	"DeleteRolePermissionsBoundary": true,
}

// sameRoleActions are the calls on a role for which the Service Authorization Reference has no conditions other than
// those on the role.
var sameRoleActions = map[string]bool{
	"GetRole": true, "ListRoleTags": true, "GetRolePolicy": true, "ListRolePolicies": true,
	"ListAttachedRolePolicies": true, "DeleteRole": true,
	"UpdateAssumeRolePolicy": true, "UpdateRole": true, "TagRole": true, "UntagRole": true,
	"PutRolePermissionsBoundary": true,
}

// needs returns the permissions of a call to IAM: the one named like the operation, and to tag, if a role is created
// with tags.
func (s *iamService) needs(ctx context.Context, x *exchange) ([]need, error) {
	action := "iam:" + x.call.Operation
	switch x.call.Operation {
	case "GetInstanceProfile":
		return plainNeed(action, x.globalARN("iam", x.call.Account, "instance-profile/"+
			x.form.Get("InstanceProfileName"))), nil
	case "GetAccountSummary":
		return plainNeed(action, "*"), nil
	case "GetPolicy":
		return plainNeed(action, x.form.Get("PolicyArn")), nil
	case "GetOpenIDConnectProvider":
		return plainNeed(action, x.form.Get("OpenIDConnectProviderArn")), nil
	case "CreateRole":
		return createRoleNeeds(x), nil
	}
	if !sameRoleActions[x.call.Operation] && !boundaryKept[x.call.Operation] {
		return nil, unknownOperation(x)
	}
	role, err := s.book.named(ctx, namedRole(x))
	if err != nil {
		return nil, err
	}
	n := need{
		action: action, resource: x.globalARN("iam", x.call.Account, "role/"+x.form.Get("RoleName")),
		facts: facts{},
	}
	n.tags = func(context.Context) (map[string]string, bool, error) { return nil, role != nil, nil }
	if role != nil {
		n.resource = role.arn
		for key, value := range role.tags {
			n.facts.with("aws:ResourceTag/"+key, value).with("iam:ResourceTag/"+key, value)
		}
		if role.boundary != "" && boundaryKept[x.call.Operation] {
			n.facts.with("iam:PermissionsBoundary", role.boundary)
		}
	}
	switch x.call.Operation {
	case "TagRole":
		n.facts.tagged(formTags(x.form, "Tags.member."))
	case "UntagRole":
		n.facts.untagging(slices.Values(formList(x.form, "TagKeys.member.")))
	case "PutRolePermissionsBoundary":
		n.facts.with("iam:PermissionsBoundary", x.form.Get("PermissionsBoundary"))
	}
	return []need{n}, nil
}

// createRoleNeeds returns the permission to create a role, and to tag it.
func createRoleNeeds(x *exchange) []need {
	path := strings.Trim(x.form.Get("Path"), "/")
	if path != "" {
		path += "/"
	}
	tags := formTags(x.form, "Tags.member.")
	n := need{
		action:   "iam:CreateRole",
		resource: x.globalARN("iam", x.call.Account, "role/"+path+x.form.Get("RoleName")), facts: facts{},
	}
	n.facts.tagged(tags)
	if boundary := x.form.Get("PermissionsBoundary"); boundary != "" {
		n.facts.with("iam:PermissionsBoundary", boundary)
	}
	if len(tags) == 0 {
		return []need{n}
	}
	tagging := need{action: "iam:TagRole", resource: n.resource, facts: facts{}.tagged(tags)}
	return []need{n, tagging}
}
