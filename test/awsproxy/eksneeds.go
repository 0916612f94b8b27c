package awsproxy

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// needs returns the permissions of a call to EKS, by the Service Authorization Reference: on the cluster for creating
// and listing associations, otherwise on the association; to tag, if one is created with tags; and to pass the roles.
func (s *eksService) needs(_ context.Context, x *exchange) ([]need, error) {
	name := clusterOf(x.path)
	n := need{action: "eks:" + x.call.Operation, resource: x.arn("eks", "cluster/"+name), facts: facts{}}
	switch x.call.Operation {
	case "ListPodIdentityAssociations":
		return []need{n}, nil
	case "CreatePodIdentityAssociation":
		var in associationRequest
		_ = json.Unmarshal(x.body, &in) // create refuses invalid JSON
		n.facts.tagged(in.Tags)
		all := []need{n}
		if len(in.Tags) > 0 {
			all = append(all, need{
				action:   "eks:TagResource",
				resource: x.arn("eks", "podidentityassociation/"+name+"/*"), facts: n.facts,
			})
		}
		return append(all, podPassNeeds(in, association{})...), nil
	}
	if strings.HasPrefix(x.path, tagsPath) {
		return s.tagNeeds(x), nil
	}
	n.resource = x.arn("eks", "podidentityassociation/"+name+"/"+associationOf(x.path))
	var have association
	found := false
	if c := s.cluster(x); c != nil {
		var refusal *reply
		have, refusal = s.find(x, c)
		found = refusal == nil
	}
	n.tags = func(context.Context) (map[string]string, bool, error) { return have.Tags, found, nil }
	switch x.call.Operation {
	case "DescribePodIdentityAssociation", "DeletePodIdentityAssociation":
		return []need{n}, nil
	case "UpdatePodIdentityAssociation":
		var in associationRequest
		_ = json.Unmarshal(x.body, &in) // update refuses invalid JSON
		return append([]need{n}, podPassNeeds(in, have)...), nil
	}
	return nil, unknownOperation(x)
}

// tagNeeds returns the permission for a call about the tags of an association.
func (s *eksService) tagNeeds(x *exchange) []need {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := map[string]string{}
	a := s.state(taggedARN(x))
	if a != nil {
		have = a.now.Tags
	}
	n := need{action: "eks:" + x.call.Operation, resource: taggedARN(x), facts: facts{}}
	n.tags = func(context.Context) (map[string]string, bool, error) { return have, a != nil, nil }
	switch x.call.Operation {
	case "TagResource":
		n.facts.tagged(jsonTexts(x.json["tags"]))
	case "UntagResource":
		n.facts.untagging(slices.Values(x.query["tagKeys"]))
	}
	return []need{n}
}

// podPassNeeds returns the permissions to pass to EKS the roles that an association will have: EKS reads the role
// with the caller's permissions, too.
func podPassNeeds(in associationRequest, have association) []need {
	have.change(in)
	var all []need
	for _, arn := range []string{have.RoleARN, have.TargetRoleARN} {
		if !strings.HasPrefix(arn, "arn:") {
			continue // not given, or refused as invalid
		}
		if arn == have.RoleARN {
			all = append(all, need{action: "iam:GetRole", resource: arn})
		}
		all = append(all, need{
			action: "iam:PassRole", resource: arn,
			facts: facts{}.with("iam:PassedToService", podService.Name),
		})
	}
	return all
}
