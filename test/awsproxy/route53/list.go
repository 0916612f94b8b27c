package route53

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// maxSetsListed is the maximum page size of ListResourceRecordSets.
const maxSetsListed = 300

type setsPage struct {
	XMLName        xml.Name    `xml:"https://route53.amazonaws.com/doc/2013-04-01/ ListResourceRecordSetsResponse"`
	Sets           []recordSet `xml:"ResourceRecordSets>ResourceRecordSet"`
	IsTruncated    bool
	NextName       string `xml:"NextRecordName,omitempty"`
	NextType       string `xml:"NextRecordType,omitempty"`
	NextIdentifier string `xml:"NextRecordIdentifier,omitempty"`
	MaxItems       int
}

// list serves ListResourceRecordSets in Route 53's order, which is not moto's.
func (s *Service) list(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	zone := x.Call.Resource
	start := setKey{name: x.Query.Get("name"), kind: x.Query.Get("type"), id: x.Query.Get("identifier")}
	limit, ok := pageLimit(x, maxSetsListed)
	if !ok || (start.kind != "" && start.name == "") || (start.id != "" && start.kind == "") {
		return x.Fail(http.StatusBadRequest, "InvalidInput", "The input is not valid"), nil
	}
	if is, err := s.zone(ctx, x.Call.Account, zone); err != nil {
		return nil, err
	} else if is == nil {
		return next(ctx) // moto reports that it does not exist
	}
	sets, err := s.sets(ctx, x.Call.Account, zone)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(sets, func(a, b recordSet) int { return compareKeys(a.key(), b.key()) })
	if start.name != "" {
		start.name = dnsName(start.name)
		sets = slices.DeleteFunc(sets, func(set recordSet) bool { return compareKeys(set.key(), start) < 0 })
	}
	page := setsPage{Sets: sets[:min(limit, len(sets))], MaxItems: limit}
	if len(sets) > limit {
		following := sets[limit]
		page.IsTruncated, page.NextName, page.NextType, page.NextIdentifier = true, following.Name, following.Type,
			following.SetIdentifier
	}
	body, err := xml.Marshal(page)
	if err != nil {
		return nil, fmt.Errorf("write the sets of zone %s: %w", zone, err)
	}
	r := wire.XMLReply(http.StatusOK, "")
	r.Body = append(r.Body, body...)
	return r, nil
}
