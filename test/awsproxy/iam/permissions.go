package iam

import (
	"context"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
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

// Needs returns the permissions of a call to IAM: the one named like the operation, and to tag, if a role is created
// with tags.
func (s *Service) Needs(ctx context.Context, x *wire.Exchange) ([]permit.Need, error) {
	action := "iam:" + x.Call.Operation
	switch x.Call.Operation {
	case "GetInstanceProfile":
		return permit.Plain(action, x.GlobalARN("iam", x.Call.Account, "instance-profile/"+
			x.Form.Get("InstanceProfileName"))), nil
	case "GetAccountSummary":
		return permit.Plain(action, "*"), nil
	case "GetPolicy":
		return permit.Plain(action, x.Form.Get("PolicyArn")), nil
	case "GetOpenIDConnectProvider":
		return permit.Plain(action, x.Form.Get("OpenIDConnectProviderArn")), nil
	case "CreateRole":
		return createRoleNeeds(x), nil
	}
	if !sameRoleActions[x.Call.Operation] && !boundaryKept[x.Call.Operation] {
		return nil, permit.UnknownOperation(x)
	}
	role, err := s.book.named(ctx, namedRole(x))
	if err != nil {
		return nil, err
	}
	n := permit.Need{
		Action: action, Resource: x.GlobalARN("iam", x.Call.Account, "role/"+x.Form.Get("RoleName")),
		Facts: permit.Facts{},
	}
	n.Tags = func(context.Context) (map[string]string, bool, error) { return nil, role != nil, nil }
	if role != nil {
		n.Resource = role.ARN
		for key, value := range role.tags {
			n.Facts.With("aws:ResourceTag/"+key, value).With("iam:ResourceTag/"+key, value)
		}
		if role.boundary != "" && boundaryKept[x.Call.Operation] {
			n.Facts.With("iam:PermissionsBoundary", role.boundary)
		}
	}
	switch x.Call.Operation {
	case "TagRole":
		n.Facts.Tagged(wire.FormTags(x.Form, "Tags.member."))
	case "UntagRole":
		n.Facts.Untagging(slices.Values(wire.FormList(x.Form, "TagKeys.member.")))
	case "PutRolePermissionsBoundary":
		n.Facts.With("iam:PermissionsBoundary", x.Form.Get("PermissionsBoundary"))
	}
	return []permit.Need{n}, nil
}

// createRoleNeeds returns the permission to create a role, and to tag it.
func createRoleNeeds(x *wire.Exchange) []permit.Need {
	path := strings.Trim(x.Form.Get("Path"), "/")
	if path != "" {
		path += "/"
	}
	tags := wire.FormTags(x.Form, "Tags.member.")
	n := permit.Need{
		Action:   "iam:CreateRole",
		Resource: x.GlobalARN("iam", x.Call.Account, "role/"+path+x.Form.Get("RoleName")), Facts: permit.Facts{},
	}
	n.Facts.Tagged(tags)
	if boundary := x.Form.Get("PermissionsBoundary"); boundary != "" {
		n.Facts.With("iam:PermissionsBoundary", boundary)
	}
	if len(tags) == 0 {
		return []permit.Need{n}
	}
	tagging := permit.Need{Action: "iam:TagRole", Resource: n.Resource, Facts: permit.Facts{}.Tagged(tags)}
	return []permit.Need{n, tagging}
}
