package route53

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

const namespace = "https://route53.amazonaws.com/doc/2013-04-01/"

// recordSet is a resource record set. The order of the fields is that of AWS.
type recordSet struct {
	Name             string
	Type             string
	SetIdentifier    string       `xml:",omitempty"`
	Weight           *int64       `xml:",omitempty"`
	Region           string       `xml:",omitempty"`
	GeoLocation      *wire.RawXML `xml:",omitempty"`
	Failover         string       `xml:",omitempty"`
	MultiValueAnswer *bool        `xml:",omitempty"`
	TTL              *int64       `xml:",omitempty"`
	ResourceRecords  []record     `xml:"ResourceRecords>ResourceRecord"`
	AliasTarget      *aliasTarget `xml:",omitempty"`
	HealthCheckID    string       `xml:"HealthCheckId,omitempty"`
}

type record struct{ Value string }

type aliasTarget struct {
	HostedZoneID         string `xml:"HostedZoneId"`
	DNSName              string
	EvaluateTargetHealth *bool
}

func (s recordSet) key() setKey { return setKey{s.Name, s.Type, s.SetIdentifier} }

// kept returns the set as Route 53 stores it.
func (s recordSet) kept() recordSet {
	s.Name = dnsName(s.Name)
	if s.AliasTarget != nil {
		alias := *s.AliasTarget
		alias.DNSName = dnsName(alias.DNSName)
		s.AliasTarget = &alias
	}
	return s
}

// same compares values, in any order.
func (s recordSet) same(other recordSet) bool {
	return reflect.DeepEqual(s.ordered(), other.ordered())
}

func (s recordSet) ordered() recordSet {
	s.ResourceRecords = append([]record{}, s.ResourceRecords...)
	slices.SortFunc(s.ResourceRecords, func(a, b record) int { return strings.Compare(a.Value, b.Value) })
	return s
}

// describe names the set as in Route 53's messages.
func (k setKey) describe() string {
	if k.id == "" {
		return fmt.Sprintf("[name='%s', type='%s']", k.name, k.kind)
	}
	return fmt.Sprintf("[name='%s', type='%s', set-identifier='%s']", k.name, k.kind, k.id)
}

// ask makes a call on the proxy's own behalf; path is the part after the API's version.
func (s *Service) ask(ctx context.Context, account, method, path string, query url.Values, body string) (
	*wire.Reply, error,
) {
	return s.upstream.Ask(ctx, wire.Question{
		Service: "route53", Region: "us-east-1", Account: account, Method: method, Path: "/2013-04-01/" + path,
		Query: query.Encode(), Body: body, Header: map[string]string{"Content-Type": "text/xml"},
	})
}

// fewNames is the number of names up to which separate requests are cheaper than listing the whole zone.
const fewNames = 8

// sets returns the zone's sets with one of the names, or all sets if no name is given.
func (s *Service) sets(ctx context.Context, account, zone string, names ...string) ([]recordSet, error) {
	if len(names) == 0 || len(names) > fewNames {
		all, _, err := s.page(ctx, account, zone, url.Values{"maxitems": {"1000000"}})
		return all, err
	}
	var out []recordSet
	for _, name := range names {
		page, more, err := s.page(ctx, account, zone, url.Values{"name": {name}, "maxitems": {"50"}})
		if err != nil {
			return nil, err
		}
		if more && page[len(page)-1].Name == name { // more than a page with one name
			return s.sets(ctx, account, zone)
		}
		for _, set := range page {
			if set.Name == name {
				out = append(out, set)
			}
		}
	}
	return out, nil
}

// page returns one of moto's pages, in moto's order.
func (s *Service) page(ctx context.Context, account, zone string, query url.Values) (
	sets []recordSet, more bool, err error,
) {
	r, err := s.ask(ctx, account, http.MethodGet, "hostedzone/"+zone+"/rrset", query, "")
	if err != nil {
		return nil, false, err
	}
	var page struct {
		Sets        []recordSet `xml:"ResourceRecordSets>ResourceRecordSet"`
		IsTruncated bool
	}
	if r.Status != http.StatusOK {
		return nil, false, fmt.Errorf("list the sets of zone %s: %d %s", zone, r.Status, r.Body)
	}
	if err := xml.Unmarshal(r.Body, &page); err != nil {
		return nil, false, fmt.Errorf("read the sets of zone %s: %w", zone, err)
	}
	for i := range page.Sets {
		mendSOA(page.Sets[i].ResourceRecords)
	}
	return page.Sets, page.IsTruncated, nil
}

// mendSOA extracts the value of a zone's first SOA from the Python representation that moto puts around it.
func mendSOA(records []record) {
	for i, r := range records {
		if value, ok := strings.CutPrefix(r.Value, "{'Value': '"); ok {
			records[i].Value = strings.TrimSuffix(value, "'}")
		}
	}
}
