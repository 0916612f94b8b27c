// Package elbv2 is Elastic Load Balancing, version 2: the limits of load balancers and rules, and their certificates.
package elbv2

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Service is Elastic Load Balancing, version 2. It accepts only issued certificates, enforces the limits of a load
// balancer, distinguishes a listener's default certificate from those added to it, and gives load balancers names and
// hosted zones like AWS's.
type Service struct {
	upstream     *wire.Upstream
	certificates Certificates
	locks        wire.Locks   // by account and region
	moved        atomic.Int64 // rules that were moved out of the way of others
}

// New returns Elastic Load Balancing, which needs certificates: see Use.
func New(up *wire.Upstream) *Service { return &Service{upstream: up} }

// Use makes load balancers use the certificates.
func (s *Service) Use(certificates Certificates) { s.certificates = certificates }

// Certificates are the certificates of ACM.
type Certificates interface {
	// CertificateStatus returns the status of a certificate; "" if there is none in the account and region.
	CertificateStatus(ctx context.Context, account, region, arn string) (string, error)
	// KeepCertificates keeps certificates of an account and region from being deleted, until unlock is called.
	KeepCertificates(place string) (unlock func())
}

// Around serves the calls to Elastic Load Balancing.
func (s *Service) Around(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	if x.Call.Write {
		place := x.Call.Account + "/" + x.Call.Region
		defer s.locks.Lock(place, true)()
		defer s.certificates.KeepCertificates(place)()
	}
	r, err := s.judge(ctx, x)
	if r == nil && err == nil {
		r, err = next(ctx)
	}
	if err != nil || r.Status != http.StatusOK {
		return r, err
	}
	s.complete(x, r)
	if x.Call.Operation == "DescribeLoadBalancers" {
		return missingBalancer(x, r), nil
	}
	return r, nil
}

// judge returns the reply to a call that must not reach moto, or nil. It may change the call.
func (s *Service) judge(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	switch x.Call.Operation {
	case "CreateLoadBalancer":
		return s.createBalancer(ctx, x)
	case "CreateListener":
		return s.createListener(ctx, x)
	case "ModifyListener":
		return s.modifyListener(ctx, x)
	case "AddListenerCertificates":
		return s.addCertificate(ctx, x)
	case "RemoveListenerCertificates":
		return s.removeCertificate(ctx, x)
	case "CreateRule", "ModifyRule":
		return s.rule(ctx, x)
	case "SetRulePriorities":
		return nil, s.makeWay(ctx, x)
	}
	return nil, nil
}

// created is the element that an operation creates, by operation.
var created = map[string]string{
	"CreateLoadBalancer": "LoadBalancerArn", "CreateListener": "ListenerArn", "CreateRule": "RuleArn",
	"CreateTargetGroup": "TargetGroupArn",
}

var (
	balancerFacts = regexp.MustCompile(
		`(?s)<LoadBalancerArn>([^<]*)</LoadBalancerArn><DNSName>[^<]*</DNSName><CanonicalHostedZoneId>[^<]*</CanonicalHostedZoneId>(.*?)<Type>([^<]*)</Type>`)
	moreThanOne = regexp.MustCompile(
		`(<Certificates><member><CertificateArn>[^<]*</CertificateArn></member>)(?:<member>.*?</member>)+</Certificates>`)
)

// complete turns moto's response into AWS's.
func (s *Service) complete(x *wire.Exchange, r *wire.Reply) {
	if name := created[x.Call.Operation]; name != "" {
		x.Call.Resource += "," + wire.Element(r.Body, name)
	}
	r.Header.Del("Content-Length")
	switch x.Call.Operation {
	case "CreateLoadBalancer", "DescribeLoadBalancers":
		r.Body = balancerFacts.ReplaceAllFunc(r.Body, func(facts []byte) []byte {
			m := balancerFacts.FindSubmatch(facts)
			name, zone := balancerAddress(string(m[1]), string(m[3]), wire.Element(m[2], "Scheme") == "internal",
				x.Call.Region)
			return []byte("<LoadBalancerArn>" + string(m[1]) + "</LoadBalancerArn><DNSName>" + name +
				"</DNSName><CanonicalHostedZoneId>" + zone +
				"</CanonicalHostedZoneId>" + string(m[2]) + "<Type>" + string(m[3]) + "</Type>")
		})
	case "CreateListener", "ModifyListener", "DescribeListeners": // they show the default certificate
		r.Body = moreThanOne.ReplaceAll(r.Body, []byte("$1</Certificates>"))
	}
}

// missingBalancer refuses the description of load balancers if moto has found only some of them.
func missingBalancer(x *wire.Exchange, r *wire.Reply) *wire.Reply {
	for _, list := range []struct{ parameter, element string }{
		{"Names", "LoadBalancerName"}, {"LoadBalancerArns", "LoadBalancerArn"},
	} {
		for _, asked := range wire.FormList(x.Form, list.parameter+".member.") {
			if !strings.Contains(string(r.Body), "<"+list.element+">"+asked+"</") {
				return x.Fail(http.StatusBadRequest, "LoadBalancerNotFound", "Load balancers '["+asked+"]' not found")
			}
		}
	}
	return r
}

// answer returns a successful reply with the result.
func answer(x *wire.Exchange, result string) *wire.Reply {
	op := x.Call.Operation
	r := wire.XMLReply(http.StatusOK, "")
	r.Body = append(r.Body, "<"+op+`Response xmlns="http://elasticloadbalancing.amazonaws.com/doc/`+version+`/"><`+
		op+"Result>"+result+"</"+op+"Result>"+
		"<ResponseMetadata><RequestId/></ResponseMetadata></"+op+"Response>"...)
	return r
}
