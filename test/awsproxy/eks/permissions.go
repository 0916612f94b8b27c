package eks

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Needs returns the permissions of a call to EKS, by the Service Authorization Reference: on the cluster for creating
// and listing associations, otherwise on the association; to tag, if one is created with tags; and to pass the roles.
func (s *Service) Needs(_ context.Context, x *wire.Exchange) ([]permit.Need, error) {
	name := clusterOf(x.Path)
	n := permit.Need{Action: "eks:" + x.Call.Operation, Resource: x.ARN("eks", "cluster/"+name), Facts: permit.Facts{}}
	switch x.Call.Operation {
	case "ListPodIdentityAssociations":
		return []permit.Need{n}, nil
	case "CreatePodIdentityAssociation":
		var in associationRequest
		_ = json.Unmarshal(x.Body, &in) // create refuses invalid JSON
		n.Facts.Tagged(in.Tags)
		all := []permit.Need{n}
		if len(in.Tags) > 0 {
			all = append(all, permit.Need{
				Action:   "eks:TagResource",
				Resource: x.ARN("eks", "podidentityassociation/"+name+"/*"), Facts: n.Facts,
			})
		}
		return append(all, podPassNeeds(in, Association{})...), nil
	}
	if strings.HasPrefix(x.Path, tagsPath) {
		return s.tagNeeds(x), nil
	}
	n.Resource = x.ARN("eks", "podidentityassociation/"+name+"/"+associationOf(x.Path))
	var have Association
	found := false
	if c := s.cluster(x); c != nil {
		var refusal *wire.Reply
		have, refusal = s.find(x, c)
		found = refusal == nil
	}
	n.Tags = func(context.Context) (map[string]string, bool, error) { return have.Tags, found, nil }
	switch x.Call.Operation {
	case "DescribePodIdentityAssociation", "DeletePodIdentityAssociation":
		return []permit.Need{n}, nil
	case "UpdatePodIdentityAssociation":
		var in associationRequest
		_ = json.Unmarshal(x.Body, &in) // update refuses invalid JSON
		return append([]permit.Need{n}, podPassNeeds(in, have)...), nil
	}
	return nil, permit.UnknownOperation(x)
}

// tagNeeds returns the permission for a call about the tags of an association.
func (s *Service) tagNeeds(x *wire.Exchange) []permit.Need {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := map[string]string{}
	a := s.state(taggedARN(x))
	if a != nil {
		have = a.now.Tags
	}
	n := permit.Need{Action: "eks:" + x.Call.Operation, Resource: taggedARN(x), Facts: permit.Facts{}}
	n.Tags = func(context.Context) (map[string]string, bool, error) { return have, a != nil, nil }
	switch x.Call.Operation {
	case "TagResource":
		n.Facts.Tagged(wire.JSONTexts(x.JSON["tags"]))
	case "UntagResource":
		n.Facts.Untagging(slices.Values(x.Query["tagKeys"]))
	}
	return []permit.Need{n}
}

// podPassNeeds returns the permissions to pass to EKS the roles that an association will have: EKS reads the role
// with the caller's permissions, too.
func podPassNeeds(in associationRequest, have Association) []permit.Need {
	have.change(in)
	var all []permit.Need
	for _, arn := range []string{have.RoleARN, have.TargetRoleARN} {
		if !strings.HasPrefix(arn, "arn:") {
			continue // not given, or refused as invalid
		}
		if arn == have.RoleARN {
			all = append(all, permit.Need{Action: "iam:GetRole", Resource: arn})
		}
		all = append(all, permit.Need{
			Action: "iam:PassRole", Resource: arn,
			Facts: permit.Facts{}.With("iam:PassedToService", PodService.Name),
		})
	}
	return all
}
