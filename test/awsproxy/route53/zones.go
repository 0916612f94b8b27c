package route53

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// hostedZone is a zone as moto lists it.
type hostedZone struct {
	ID              string `xml:"Id"`
	Name            string
	CallerReference string
	Private         bool   `xml:"Config>PrivateZone"`
	Inner           string `xml:",innerxml"`
}

func (z hostedZone) id() string { return strings.TrimPrefix(z.ID, "/hostedzone/") }

// zone returns the hosted zone, or nil if there is none.
func (s *Service) zone(ctx context.Context, account, id string) (*hostedZone, error) {
	r, err := s.ask(ctx, account, http.MethodGet, "hostedzone/"+id, nil, "")
	if err != nil || r.Status != http.StatusOK {
		return nil, err
	}
	var got struct{ HostedZone hostedZone }
	if err := xml.Unmarshal(r.Body, &got); err != nil {
		return nil, fmt.Errorf("read zone %s: %w", id, err)
	}
	return &got.HostedZone, nil
}

// zones returns all hosted zones of the account.
func (s *Service) zones(ctx context.Context, account string) ([]hostedZone, error) {
	r, err := s.ask(ctx, account, http.MethodGet, "hostedzone", url.Values{"maxitems": {"1000000"}}, "")
	if err != nil {
		return nil, err
	}
	var got struct {
		Zones []hostedZone `xml:"HostedZones>HostedZone"`
	}
	if err := xml.Unmarshal(r.Body, &got); err != nil {
		return nil, fmt.Errorf("read the zones of %s: %w", account, err)
	}
	return got.Zones, nil
}

// createZoneRequest is the body of CreateHostedZone.
type createZoneRequest struct {
	XMLName         xml.Name
	Name            string
	VPC             *wire.RawXML `xml:",omitempty"`
	CallerReference string
	Config          *zoneConfig `xml:"HostedZoneConfig,omitempty"`
	DelegationSetID string      `xml:"DelegationSetId,omitempty"`
}

type zoneConfig struct {
	Comment     string `xml:",omitempty"`
	PrivateZone bool
}

// createZone makes a zone private if it has a VPC, as Route 53 does. It refuses a private zone without a VPC, and a
// repeated caller's reference.
func (s *Service) createZone(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	defer s.locks.Lock("zones of "+x.Call.Account, true)()
	var request createZoneRequest
	if err := xml.Unmarshal(x.Body, &request); err != nil {
		return x.Fail(http.StatusBadRequest, "MalformedInput", "The XML you provided was not well-formed: "+
			err.Error()), nil
	}
	if request.Config == nil {
		request.Config = &zoneConfig{}
	}
	if request.Config.PrivateZone && request.VPC == nil {
		return x.Fail(http.StatusBadRequest, "InvalidInput", "When you're creating a private hosted zone (when you "+
			"specify true for PrivateZone), you must also specify values for VPCId and VPCRegion."), nil
	}
	zones, err := s.zones(ctx, x.Call.Account)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(zones, func(z hostedZone) bool { return z.CallerReference == request.CallerReference }) {
		return x.Fail(http.StatusConflict, "HostedZoneAlreadyExists", "A hosted zone has already been created with "+
			"the specified caller reference."), nil
	}
	request.Name, request.Config.PrivateZone = dnsName(request.Name), request.VPC != nil
	if x.Body, err = xml.Marshal(request); err != nil {
		return nil, fmt.Errorf("write the request for zone %s: %w", request.Name, err)
	}
	r, err := s.noting(ctx, x, next)
	if err == nil && r.Status < 300 {
		x.Call.Resource = strings.TrimPrefix(wire.Element(r.Body, "Id"), "/hostedzone/")
	}
	return r, err
}

// listByName lists all zones from a name onwards; moto lists only the zones with that name.
func (s *Service) listByName(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	zones, err := s.zones(ctx, x.Call.Account)
	if err != nil {
		return nil, err
	}
	name, id := x.Query.Get("dnsname"), x.Query.Get("hostedzoneid")
	limit, ok := pageLimit(x, 100)
	if !ok || (id != "" && name == "") {
		return x.Fail(http.StatusBadRequest, "InvalidInput", "The input is not valid"), nil
	}
	key := func(z hostedZone) [2]string { return [2]string{listingOrder(dnsName(z.Name)), z.id()} }
	slices.SortFunc(zones, func(a, b hostedZone) int {
		return cmp.Or(cmp.Compare(key(a)[0], key(b)[0]), cmp.Compare(key(a)[1], key(b)[1]))
	})
	if name != "" {
		from := listingOrder(dnsName(name))
		zones = slices.DeleteFunc(zones, func(z hostedZone) bool {
			return key(z)[0] < from || (key(z)[0] == from && key(z)[1] < id)
		})
	}
	var b strings.Builder
	b.WriteString(`<ListHostedZonesByNameResponse xmlns="` + namespace + `"><HostedZones>`)
	for _, z := range zones[:min(limit, len(zones))] {
		b.WriteString("<HostedZone>" + z.Inner + "</HostedZone>")
	}
	b.WriteString("</HostedZones>")
	field := func(name, value string) {
		if value != "" {
			b.WriteString("<" + name + ">" + wire.EscapeXML(value) + "</" + name + ">")
		}
	}
	field("DNSName", name)
	field("HostedZoneId", id)
	field("IsTruncated", strconv.FormatBool(len(zones) > limit))
	if len(zones) > limit {
		field("NextDNSName", zones[limit].Name)
		field("NextHostedZoneId", zones[limit].id())
	}
	field("MaxItems", strconv.Itoa(limit))
	b.WriteString("</ListHostedZonesByNameResponse>")
	r := wire.XMLReply(http.StatusOK, "")
	r.Body = append(r.Body, b.String()...)
	return r, nil
}

// pageLimit returns the requested page size, most at most. ok is false if it is not valid.
func pageLimit(x *wire.Exchange, most int) (limit int, ok bool) {
	asked := x.Query.Get("maxitems")
	if asked == "" {
		return most, true
	}
	n, err := strconv.Atoi(asked)
	return min(n, most), err == nil && n > 0
}
