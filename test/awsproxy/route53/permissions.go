package route53

import (
	"context"
	"encoding/xml"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Needs returns the permission named like the operation, on a zone or a change.
func (s *Service) Needs(_ context.Context, x *wire.Exchange) ([]permit.Need, error) {
	zone := x.GlobalARN("route53", "", "hostedzone/"+x.Call.Resource)
	n := permit.Need{Action: "route53:" + x.Call.Operation, Resource: zone, Facts: permit.Facts{}}
	switch x.Call.Operation {
	case "GetHostedZone", "ListResourceRecordSets", "ListTagsForResource":
	case "GetChange":
		n.Resource = x.GlobalARN("route53", "", "change/"+x.Call.Resource)
	case "ListHostedZones", "ListHostedZonesByName":
		n.Resource = "*"
	case "ChangeResourceRecordSets":
		var request changeRequest
		if xml.Unmarshal(x.Body, &request) != nil {
			return nil, nil //nolint:nilerr // it is refused for that
		}
		var names, types, actions []string
		for i := range request.Changes {
			c := &request.Changes[i]
			names = append(names, normalized(c.Set.Name))
			types, actions = append(types, c.Set.Type), append(actions, c.Action)
		}
		n.Facts.With("route53:ChangeResourceRecordSetsNormalizedRecordNames", names...).
			With("route53:ChangeResourceRecordSetsRecordTypes", types...).With(
			"route53:ChangeResourceRecordSetsActions", actions...)
	default:
		return nil, permit.UnknownOperation(x)
	}
	return []permit.Need{n}, nil
}

// normalized returns a record's name as condition keys have it: in lower case, without the trailing dot.
func normalized(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }
