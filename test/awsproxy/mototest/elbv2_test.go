//go:build integration

package mototest_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/portico-platform/portico/test/awsproxy"
)

// balancing is an account in which load balancers and certificates are ready at once.
type balancing struct {
	*world
	key     string
	elb     *elb.Client
	acm     *acm.Client
	subnets []string
}

func newBalancing(t *testing.T) *balancing {
	t.Helper()
	w := unhurried(t)
	w.SetACMRecordDelay(0)
	w.SetACMIssueDelay(0)
	key := newAccount(w)
	b := &balancing{
		world: w, key: key, elb: elb.NewFromConfig(config(w.operator, key, "eu-west-1")),
		acm: w.acm(key, "eu-west-1"),
	}
	out, err := w.ec2(key, "eu-west-1").DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	must(t, err)
	for _, s := range out.Subnets {
		b.subnets = append(b.subnets, *s.SubnetId)
	}
	slices.Sort(b.subnets)
	return b
}

func (b *balancing) balancer(t *testing.T, name string) types.LoadBalancer {
	t.Helper()
	out, err := b.elb.CreateLoadBalancer(t.Context(), &elb.CreateLoadBalancerInput{Name: &name, Subnets: b.subnets[:2]})
	must(t, err)
	return out.LoadBalancers[0]
}

// issued requests a certificate, issues it and returns its ARN.
func (b *balancing) issued(t *testing.T) string {
	t.Helper()
	arn := request(t, b.acm, certificate("issued.test"))
	b.IssueCertificate(arn)
	return arn
}

func notFound() []types.Action {
	return []types.Action{{
		Type:                types.ActionTypeEnumFixedResponse,
		FixedResponseConfig: &types.FixedResponseActionConfig{StatusCode: aws.String("404")},
	}}
}

func certificates(arns ...string) (out []types.Certificate) {
	for _, arn := range arns {
		out = append(out, types.Certificate{CertificateArn: &arn})
	}
	return out
}

func (b *balancing) listener(t *testing.T, balancer, certificate string) string {
	t.Helper()
	out, err := b.elb.CreateListener(t.Context(), &elb.CreateListenerInput{
		LoadBalancerArn: &balancer, Protocol: types.ProtocolEnumHttps, Port: aws.Int32(443),
		Certificates: certificates(certificate), DefaultActions: notFound(),
	})
	must(t, err)
	return *out.Listeners[0].ListenerArn
}

func (b *balancing) add(t *testing.T, listener string, arns ...string) error {
	t.Helper()
	_, err := b.elb.AddListenerCertificates(t.Context(), &elb.AddListenerCertificatesInput{
		ListenerArn: &listener, Certificates: certificates(arns...),
	})
	return err
}

func (b *balancing) drop(t *testing.T, listener string, arns ...string) error {
	t.Helper()
	_, err := b.elb.RemoveListenerCertificates(t.Context(), &elb.RemoveListenerCertificatesInput{
		ListenerArn: &listener, Certificates: certificates(arns...),
	})
	return err
}

// attached returns the listener's certificates, the default one first.
func (b *balancing) attached(t *testing.T, listener string) (out []string) {
	t.Helper()
	got, err := b.elb.DescribeListenerCertificates(t.Context(), &elb.DescribeListenerCertificatesInput{
		ListenerArn: &listener,
	})
	must(t, err)
	for i, c := range got.Certificates {
		if *c.IsDefault != (i == 0) {
			t.Errorf("certificate %d is default: %t", i, *c.IsDefault)
		}
		out = append(out, *c.CertificateArn)
	}
	return out
}

func TestALoadBalancerHasTheNamesOfAWS(t *testing.T) {
	b := newBalancing(t)
	for name, tc := range map[string]struct {
		in         elb.CreateLoadBalancerInput
		code, want string
	}{
		"a public one": {elb.CreateLoadBalancerInput{Name: aws.String("Web"), Subnets: b.subnets[:2]}, "", `^web-\d{10}\.eu-west-1\.elb\.amazonaws\.com$`},
		"an internal one": {
			elb.CreateLoadBalancerInput{
				Name: aws.String("web-in"), Subnets: b.subnets[:2],
				Scheme: types.LoadBalancerSchemeEnumInternal,
			},
			"",
			`^internal-web-in-\d{10}\.eu-west-1\.elb\.amazonaws\.com$`,
		},
		"a name that begins as AWS's own": {elb.CreateLoadBalancerInput{Name: aws.String("internal-web"), Subnets: b.subnets[:2]}, "ValidationError", ""},
		"a name with a dot":               {elb.CreateLoadBalancerInput{Name: aws.String("a.b"), Subnets: b.subnets[:2]}, "ValidationError", ""},
		"in one zone only":                {elb.CreateLoadBalancerInput{Name: aws.String("one"), Subnets: b.subnets[:1]}, "ValidationError", ""},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := b.elb.CreateLoadBalancer(t.Context(), &tc.in)
			if tc.code != "" {
				wantCode(t, err, tc.code)
				return
			}
			must(t, err)
			got, err := b.elb.DescribeLoadBalancers(t.Context(), &elb.DescribeLoadBalancersInput{
				Names: []string{*tc.in.Name},
			})
			must(t, err)
			is := got.LoadBalancers[0]
			if !regexp.MustCompile(tc.want).MatchString(*is.DNSName) || *is.DNSName != *made.LoadBalancers[0].DNSName ||
				*is.CanonicalHostedZoneId != "Z32O12XQLNTSW2" {
				t.Errorf("name %s, created as %s, in %s", *is.DNSName, *made.LoadBalancers[0].DNSName,
					*is.CanonicalHostedZoneId)
			}
			if calls := b.Calls(awsproxy.To("elasticloadbalancing", "CreateLoadBalancer"),
				awsproxy.About(*is.LoadBalancerArn)); len(calls) != 1 || !calls[0].Names(*tc.in.Name) {
				t.Errorf("the journal has %+v", calls)
			}
		})
	}
	_, err := b.elb.DescribeLoadBalancers(t.Context(), &elb.DescribeLoadBalancersInput{Names: []string{"Web", "none"}})
	wantCode(t, err, "LoadBalancerNotFound")
}

func TestALoadBalancersNameIsTakenOnce(t *testing.T) {
	b := newBalancing(t)
	first := b.balancer(t, "web")
	if again := b.balancer(t, "web"); *again.LoadBalancerArn != *first.LoadBalancerArn ||
		*again.DNSName != *first.DNSName {
		t.Errorf("the same once more is %s at %s", *again.LoadBalancerArn, *again.DNSName)
	}
	_, err := b.elb.CreateLoadBalancer(t.Context(), &elb.CreateLoadBalancerInput{
		Name: aws.String("web"), Subnets: b.subnets[:2], Scheme: types.LoadBalancerSchemeEnumInternal,
	})
	wantCode(t, err, "DuplicateLoadBalancerName")
	_, err = b.elb.CreateLoadBalancer(t.Context(), &elb.CreateLoadBalancerInput{
		Name: aws.String("web"), Subnets: b.subnets[1:3],
	})
	wantCode(t, err, "DuplicateLoadBalancerName")
}

func TestAListenerTakesIssuedCertificatesOfItsAccountAndRegion(t *testing.T) {
	b := newBalancing(t)
	balancer, good := *b.balancer(t, "web").LoadBalancerArn, b.issued(t)
	listener := b.listener(t, balancer, good)
	elsewhere := request(t, b.world.acm(b.key, "us-east-1"), certificate("issued.test"))
	b.IssueCertificate(elsewhere)
	foreign := request(t, b.world.acm(keyTwo, "eu-west-1"), certificate("issued.test"))
	b.IssueCertificate(foreign)
	failed := request(t, b.acm, certificate("failed.test"))
	b.FailCertificate(failed, "FAILED", "CAA_ERROR")
	for name, tc := range map[string]struct{ arn, code string }{
		"pending":            {request(t, b.acm, certificate("pending.test")), "UnsupportedCertificate"},
		"failed":             {failed, "UnsupportedCertificate"},
		"of another region":  {elsewhere, "CertificateNotFound"},
		"of another account": {foreign, "CertificateNotFound"},
		"not there":          {good[:len(good)-1] + "x", "CertificateNotFound"},
		"no ARN":             {"certificate", "ValidationError"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.elb.CreateListener(t.Context(), &elb.CreateListenerInput{
				LoadBalancerArn: &balancer, Protocol: types.ProtocolEnumHttps, Port: aws.Int32(8443),
				Certificates: certificates(tc.arn), DefaultActions: notFound(),
			})
			wantCode(t, err, tc.code)
			_, err = b.elb.ModifyListener(
				t.Context(), &elb.ModifyListenerInput{ListenerArn: &listener, Certificates: certificates(tc.arn)})
			wantCode(t, err, tc.code)
			wantCode(t, b.add(t, listener, tc.arn), tc.code)
			if got := b.attached(t, listener); !slices.Equal(got, []string{good}) {
				t.Errorf("attached %v", got)
			}
		})
	}
	_, err := b.elb.CreateListener(t.Context(), &elb.CreateListenerInput{
		LoadBalancerArn: &balancer, Protocol: types.ProtocolEnumHttps, Port: aws.Int32(443),
		Certificates: certificates(good), DefaultActions: notFound(),
	})
	wantCode(t, err, "DuplicateListener")
	_, err = b.elb.CreateListener(t.Context(), &elb.CreateListenerInput{
		LoadBalancerArn: &balancer, Protocol: types.ProtocolEnumHttps, Port: aws.Int32(8443),
		DefaultActions: notFound(),
	})
	wantCode(t, err, "ValidationError")
}

func TestAListenerKeepsItsDefaultCertificateApart(t *testing.T) {
	b := newBalancing(t)
	balancer := *b.balancer(t, "web").LoadBalancerArn
	first, second, third := b.issued(t), b.issued(t), b.issued(t)
	listener := b.listener(t, balancer, first)
	for _, step := range []struct {
		name string
		do   func() error
		code string
		want []string
	}{
		{"one is added", func() error { return b.add(t, listener, second) }, "", []string{first, second}},
		{"once more is no error", func() error { return b.add(t, listener, second) }, "", []string{first, second}},
		{"two at a time are too many", func() error { return b.add(t, listener, second, third) }, "ValidationError", []string{first, second}},
		{"what is absent is removed without error", func() error { return b.drop(t, listener, third) }, "", []string{first, second}},
		{"the default one cannot be removed", func() error { return b.drop(t, listener, first) }, "OperationNotPermitted", []string{first, second}},
		{"another default one leaves the others", func() error {
			out, err := b.elb.ModifyListener(
				t.Context(), &elb.ModifyListenerInput{ListenerArn: &listener, Certificates: certificates(third)})
			if err == nil && len(out.Listeners[0].Certificates) != 1 {
				return fmt.Errorf("the listener shows %v", out.Listeners[0].Certificates)
			}
			return err
		}, "", []string{third, second}},
		{"one is removed", func() error { return b.drop(t, listener, second) }, "", []string{third}},
	} {
		if err := step.do(); step.code != "" {
			wantCode(t, err, step.code)
		} else {
			must(t, err)
		}
		if got := b.attached(t, listener); !slices.Equal(got, step.want) {
			t.Errorf("%s: %v, want %v", step.name, got, step.want)
		}
	}
}
