package acm

import (
	"context"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Needs returns the permission named like the operation, and to tag, if a certificate is requested with tags.
func (s *Service) Needs(_ context.Context, x *wire.Exchange) ([]permit.Need, error) {
	arn, _ := x.JSON["CertificateArn"].(string)
	n := permit.Need{Action: "acm:" + x.Call.Operation, Resource: arn, Facts: permit.Facts{}}
	switch x.Call.Operation {
	case "ListCertificates":
		return permit.Plain(n.Action, "*"), nil
	case "DescribeCertificate", "DeleteCertificate", "ListTagsForCertificate":
	case "AddTagsToCertificate":
		n.Facts.Tagged(wire.JSONTags(x.JSON["Tags"]))
	case "RequestCertificate":
		return requestNeeds(x), nil
	default:
		return nil, permit.UnknownOperation(x)
	}
	n.Tags = func(ctx context.Context) (map[string]string, bool, error) {
		var answer struct{ Tags []wire.Tag }
		found, err := s.upstream.AskJSON(ctx, x, "acm", "CertificateManager.ListTagsForCertificate",
			map[string]any{"CertificateArn": arn}, &answer)
		tags := map[string]string{}
		for _, t := range answer.Tags {
			tags[t.Key] = t.Value
		}
		return tags, found, err
	}
	return []permit.Need{n}, nil
}

func requestNeeds(x *wire.Exchange) []permit.Need {
	tags := wire.JSONTags(x.JSON["Tags"])
	f := permit.Facts{}.Tagged(tags).With("acm:DomainNames", requestedDomains(x)...)
	if method, _ := x.JSON["ValidationMethod"].(string); method != "" {
		f.With("acm:ValidationMethod", method)
	}
	all := []permit.Need{{Action: "acm:RequestCertificate", Resource: x.ARN("acm", "certificate/*"), Facts: f}}
	if len(tags) > 0 {
		all = append(all, permit.Need{
			Action: "acm:AddTagsToCertificate", Resource: x.ARN("acm", "certificate/*"),
			Facts: permit.Facts{}.Tagged(tags),
		})
	}
	return all
}
