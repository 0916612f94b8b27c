package awsproxy

import (
	"context"
	"encoding/xml"
	"slices"
	"strings"
)

// route53Needs returns the permission named like the operation, on a zone or a change.
func (s *route53Service) needs(_ context.Context, x *exchange) ([]need, error) {
	zone := x.globalARN("route53", "", "hostedzone/"+x.call.Resource)
	n := need{action: "route53:" + x.call.Operation, resource: zone, facts: facts{}}
	switch x.call.Operation {
	case "GetHostedZone", "ListResourceRecordSets", "ListTagsForResource":
	case "GetChange":
		n.resource = x.globalARN("route53", "", "change/"+x.call.Resource)
	case "ListHostedZones", "ListHostedZonesByName":
		n.resource = "*"
	case "ChangeResourceRecordSets":
		var request changeRequest
		if xml.Unmarshal(x.body, &request) != nil {
			return nil, nil //nolint:nilerr // it is refused for that
		}
		var names, types, actions []string
		for i := range request.Changes {
			c := &request.Changes[i]
			names = append(names, normalized(c.Set.Name))
			types, actions = append(types, c.Set.Type), append(actions, c.Action)
		}
		n.facts.with("route53:ChangeResourceRecordSetsNormalizedRecordNames", names...).
			with("route53:ChangeResourceRecordSetsRecordTypes", types...).with(
			"route53:ChangeResourceRecordSetsActions", actions...)
	default:
		return nil, unknownOperation(x)
	}
	return []need{n}, nil
}

// normalized returns a record's name as condition keys have it: in lower case, without the trailing dot.
func normalized(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

// acmNeeds returns the permission named like the operation, and to tag, if a certificate is requested with tags.
func (s *acmService) needs(_ context.Context, x *exchange) ([]need, error) {
	arn, _ := x.json["CertificateArn"].(string)
	n := need{action: "acm:" + x.call.Operation, resource: arn, facts: facts{}}
	switch x.call.Operation {
	case "ListCertificates":
		return plainNeed(n.action, "*"), nil
	case "DescribeCertificate", "DeleteCertificate", "ListTagsForCertificate":
	case "AddTagsToCertificate":
		n.facts.tagged(jsonTags(x.json["Tags"]))
	case "RequestCertificate":
		return requestNeeds(x), nil
	default:
		return nil, unknownOperation(x)
	}
	n.tags = func(ctx context.Context) (map[string]string, bool, error) {
		var answer struct{ Tags []tag }
		found, err := s.upstream.askJSON(ctx, x, "acm", "CertificateManager.ListTagsForCertificate",
			map[string]any{"CertificateArn": arn}, &answer)
		tags := map[string]string{}
		for _, t := range answer.Tags {
			tags[t.Key] = t.Value
		}
		return tags, found, err
	}
	return []need{n}, nil
}

func requestNeeds(x *exchange) []need {
	tags := jsonTags(x.json["Tags"])
	f := facts{}.tagged(tags).with("acm:DomainNames", requestedDomains(x)...)
	if method, _ := x.json["ValidationMethod"].(string); method != "" {
		f.with("acm:ValidationMethod", method)
	}
	all := []need{{action: "acm:RequestCertificate", resource: x.arn("acm", "certificate/*"), facts: f}}
	if len(tags) > 0 {
		all = append(all, need{
			action: "acm:AddTagsToCertificate", resource: x.arn("acm", "certificate/*"),
			facts: facts{}.tagged(tags),
		})
	}
	return all
}

// balancerNeeds returns the permission of a Describe operation: Elastic Load Balancing does not limit those by
// resource.
func (s *elbService) needs(_ context.Context, x *exchange) ([]need, error) {
	if !strings.HasPrefix(x.call.Operation, "Describe") {
		return nil, unknownOperation(x)
	}
	return plainNeed("elasticloadbalancing:"+x.call.Operation, "*"), nil
}

func taggingNeeds(x *exchange) ([]need, error) {
	if x.call.Operation != "GetResources" {
		return nil, unknownOperation(x)
	}
	return plainNeed("tag:GetResources", "*"), nil
}

// ssmNeeds returns the permissions for reading parameters. The ARNs of AWS's parameters have no account.
func ssmNeeds(x *exchange) ([]need, error) {
	name, _ := x.json["Name"].(string)
	switch x.call.Operation {
	case "GetParameter":
	case "GetParametersByPath":
		name, _ = x.json["Path"].(string)
	default:
		return nil, unknownOperation(x)
	}
	action := "ssm:" + x.call.Operation
	if arn := strings.HasPrefix(name, "arn:"); arn {
		return plainNeed(action, name), nil
	}
	resource := strings.SplitN(x.arn("ssm", "parameter/"+strings.TrimPrefix(name, "/")), ":", 6)
	if strings.HasPrefix(name, "/aws/") {
		resource[4] = ""
	}
	return plainNeed(action, strings.Join(slices.Clip(resource), ":")), nil
}
