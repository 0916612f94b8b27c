package awsproxy

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
)

// elbService is Elastic Load Balancing, version 2. It accepts only issued certificates, enforces the limits of a load
// balancer, distinguishes a listener's default certificate from those added to it, and gives load balancers names and
// hosted zones like AWS's.
type elbService struct {
	upstream     *upstream
	certificates issuedCertificates
	locks        locks        // by account and region
	moved        atomic.Int64 // rules that were moved out of the way of others
}

func newELB(up *upstream) *elbService { return &elbService{upstream: up} }

// use makes load balancers use the certificates.
func (s *elbService) use(certificates issuedCertificates) { s.certificates = certificates }

// issuedCertificates are the certificates of ACM.
type issuedCertificates interface {
	// certificateStatus returns the status of a certificate; "" if there is none in the account and region.
	certificateStatus(ctx context.Context, account, region, arn string) (string, error)
	// keepCertificates keeps certificates of an account and region from being deleted, until unlock is called.
	keepCertificates(place string) (unlock func())
}

func (s *elbService) around(ctx context.Context, x *exchange, next forward) (*reply, error) {
	if x.call.Write {
		place := x.call.Account + "/" + x.call.Region
		defer s.locks.lock(place, true)()
		defer s.certificates.keepCertificates(place)()
	}
	r, err := s.judge(ctx, x)
	if r == nil && err == nil {
		r, err = next(ctx)
	}
	if err != nil || r.status != http.StatusOK {
		return r, err
	}
	s.complete(x, r)
	if x.call.Operation == "DescribeLoadBalancers" {
		return missingBalancer(x, r), nil
	}
	return r, nil
}

// judge returns the reply to a call that must not reach moto, or nil. It may change the call.
func (s *elbService) judge(ctx context.Context, x *exchange) (*reply, error) {
	switch x.call.Operation {
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
func (s *elbService) complete(x *exchange, r *reply) {
	if name := created[x.call.Operation]; name != "" {
		x.call.Resource += "," + element(r.body, name)
	}
	r.header.Del("Content-Length")
	switch x.call.Operation {
	case "CreateLoadBalancer", "DescribeLoadBalancers":
		r.body = balancerFacts.ReplaceAllFunc(r.body, func(facts []byte) []byte {
			m := balancerFacts.FindSubmatch(facts)
			name, zone := balancerAddress(string(m[1]), string(m[3]), element(m[2], "Scheme") == "internal",
				x.call.Region)
			return []byte("<LoadBalancerArn>" + string(m[1]) + "</LoadBalancerArn><DNSName>" + name +
				"</DNSName><CanonicalHostedZoneId>" + zone +
				"</CanonicalHostedZoneId>" + string(m[2]) + "<Type>" + string(m[3]) + "</Type>")
		})
	case "CreateListener", "ModifyListener", "DescribeListeners": // they show the default certificate
		r.body = moreThanOne.ReplaceAll(r.body, []byte("$1</Certificates>"))
	}
}

// missingBalancer refuses the description of load balancers if moto has found only some of them.
func missingBalancer(x *exchange, r *reply) *reply {
	for _, list := range []struct{ parameter, element string }{
		{"Names", "LoadBalancerName"}, {"LoadBalancerArns", "LoadBalancerArn"},
	} {
		for _, asked := range formList(x.form, list.parameter+".member.") {
			if !strings.Contains(string(r.body), "<"+list.element+">"+asked+"</") {
				return x.fail(http.StatusBadRequest, "LoadBalancerNotFound", "Load balancers '["+asked+"]' not found")
			}
		}
	}
	return r
}

// answer returns a successful reply with the result.
func answer(x *exchange, result string) *reply {
	op := x.call.Operation
	r := xmlReply(http.StatusOK, "")
	r.body = append(r.body, "<"+op+`Response xmlns="http://elasticloadbalancing.amazonaws.com/doc/`+elbVersion+`/"><`+
		op+"Result>"+result+"</"+op+"Result>"+
		"<ResponseMetadata><RequestId/></ResponseMetadata></"+op+"Response>"...)
	return r
}
