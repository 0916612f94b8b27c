package elbv2

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

var balancerLabel = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?$`)

// createBalancer serves CreateLoadBalancer: a repeated call returns the first load balancer, and a different one with
// the same name is refused.
func (s *Service) createBalancer(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	asked := askedBalancer(x.Form)
	invalid := func(message string) (*wire.Reply, error) {
		return x.Fail(http.StatusBadRequest, "ValidationError", message), nil
	}
	switch {
	case !balancerLabel.MatchString(asked.Name):
		return invalid("Load balancer name '" + asked.Name + "' can only contain up to 32 alphanumeric characters " +
			"and hyphens, and cannot begin or end with a hyphen")
	case strings.HasPrefix(asked.Name, "internal-"):
		return invalid("Load balancer name '" + asked.Name + "' cannot begin with 'internal-'")
	case asked.Type == "application" && len(asked.Subnets) < 2:
		return invalid("At least two subnets in two different Availability Zones must be specified")
	}
	x.Form.Set("Scheme", asked.Scheme)
	x.SetForm(x.Form)
	all, err := s.loadBalancers(ctx, x.Call.Account, x.Call.Region)
	if err != nil {
		return nil, err
	}
	for _, is := range all {
		switch {
		case is.Name != asked.Name:
		case !is.sameAs(asked):
			return x.Fail(http.StatusBadRequest, "DuplicateLoadBalancerName", "A load balancer with the same name '"+
				asked.Name+"' exists, but with different settings"), nil
		default:
			return s.again(ctx, x, is.ARN)
		}
	}
	return nil, nil
}

// again answers the creation of a load balancer that exists already.
func (s *Service) again(ctx context.Context, x *wire.Exchange, arn string) (*wire.Reply, error) {
	var got struct {
		Result wire.RawXML `xml:"DescribeLoadBalancersResult"`
	}
	if _, err := s.ask(ctx, x.Call.Account, x.Call.Region, "DescribeLoadBalancers",
		url.Values{"LoadBalancerArns.member.1": {arn}}, &got); err != nil {
		return nil, err
	}
	return answer(x, got.Result.Inner), nil
}

func askedBalancer(form url.Values) loadBalancer {
	b := loadBalancer{
		Name: form.Get("Name"), Scheme: cmp.Or(form.Get("Scheme"), "internet-facing"),
		Type:          cmp.Or(form.Get("Type"), "application"),
		IPAddressType: cmp.Or(form.Get("IpAddressType"), "ipv4"), Subnets: wire.FormList(form, "Subnets.member."),
		SecurityGroups: wire.FormList(form, "SecurityGroups.member."),
	}
	if len(b.Subnets) == 0 {
		b.Subnets = members(form, "SubnetMappings", "SubnetId")
	}
	return b
}

// sameAs compares settings; without security groups AWS uses the VPC's own.
func (b loadBalancer) sameAs(asked loadBalancer) bool {
	sameSet := func(a, b []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
	}
	return b.Scheme == asked.Scheme && b.Type == asked.Type && b.IPAddressType == asked.IPAddressType &&
		sameSet(b.Subnets, asked.Subnets) &&
		(len(asked.SecurityGroups) == 0 || sameSet(b.SecurityGroups, asked.SecurityGroups))
}

// balancerAddress returns the DNS name of a load balancer and its hosted zone.
func balancerAddress(arn, kind string, internal bool, region string) (name, zone string) {
	parts := strings.Split(arn, "/") // arn:...:loadbalancer/app/NAME/ID
	label := parts[max(0, len(parts)-2)]
	if internal {
		label = "internal-" + label
	}
	domain := "amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		domain += ".cn"
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(arn)) // a hash does not fail
	if kind == "network" {
		return strings.ToLower(fmt.Sprintf("%s-%016x.elb.%s.%s", label, h.Sum64(), region, domain)),
			cmp.Or(networkZones[region], unknownZone)
	}
	return strings.ToLower(fmt.Sprintf("%s-%d.%s.elb.%s", label, 1_000_000_000+h.Sum64()%1_000_000_000, region,
		domain)), cmp.Or(applicationZones[region], unknownZone)
}

// unknownZone is the hosted zone for a region that the tables lack.
const unknownZone = "Z0000000UNKNOWN"

// members reads list.member.1.field, list.member.2.field, and so on.
func members(form url.Values, list, field string) (out []string) {
	for i := 1; ; i++ {
		name := fmt.Sprintf("%s.member.%d.%s", list, i, field)
		if !form.Has(name) {
			return out
		}
		out = append(out, form.Get(name))
	}
}
