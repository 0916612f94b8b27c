// Package iam checks the policy document of hostnames, which are made by several packages at several services. The
// documents of the other kinds are checked beside their adapters.
package iam

import (
	"reflect"
	"testing"

	"github.com/portico-platform/portico/controllers/cloud/cloudtest"
	"github.com/portico-platform/portico/controllers/hostname/cert"
	"github.com/portico-platform/portico/controllers/hostname/dns"
	"github.com/portico-platform/portico/controllers/hostname/pool"
)

// calls are all that hostnames make.
type calls interface {
	dns.API
	cert.API
	cert.TagAPI
	pool.API
}

func TestThePolicyOfHostnamesIsThatOfTheCalls(t *testing.T) {
	const balancers = "elasticloadbalancing:"
	cloudtest.Policy(t, "gatewayhostnamerequest.json", "route53", reflect.TypeFor[calls](), map[string][]string{
		"RequestCertificate":           {"acm:RequestCertificate", "acm:AddTagsToCertificate"}, // the request has tags
		"DescribeCertificate":          {"acm:DescribeCertificate"},
		"DeleteCertificate":            {"acm:DeleteCertificate"},
		"GetResources":                 {"tag:GetResources"},
		"DescribeLoadBalancers":        {balancers + "DescribeLoadBalancers"},
		"DescribeListeners":            {balancers + "DescribeListeners"},
		"DescribeListenerCertificates": {balancers + "DescribeListenerCertificates"},
		"DescribeRules":                {balancers + "DescribeRules"},
		"":                             {"route53:ListHostedZones"}, // for forms
	})
}
