//go:build integration

package mototest_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

func TestARedirectLeadsSomewhereElse(t *testing.T) {
	b := newBalancing(t)
	balancer := *b.balancer(t, "web").LoadBalancerArn
	secure := b.listener(t, balancer, b.issued(t))
	out, err := b.elb.CreateListener(t.Context(), &elb.CreateListenerInput{
		LoadBalancerArn: &balancer, Protocol: types.ProtocolEnumHttp, Port: aws.Int32(80), DefaultActions: notFound(),
	})
	must(t, err)
	plain := *out.Listeners[0].ListenerArn
	for i, row := range []struct {
		at, what, code string
		to             types.RedirectActionConfig
	}{
		{plain, "to HTTPS", "", types.RedirectActionConfig{Protocol: aws.String("HTTPS"), Port: aws.String("443")}},
		{plain, "to itself", "InvalidLoadBalancerAction", types.RedirectActionConfig{Protocol: aws.String("HTTP"), Port: aws.String("80")}},
		{secure, "from HTTPS to HTTP", "InvalidLoadBalancerAction", types.RedirectActionConfig{Protocol: aws.String("HTTP"), Port: aws.String("80"), Host: aws.String("other.test")}},
		{secure, "from HTTPS to HTTPS", "InvalidLoadBalancerAction", types.RedirectActionConfig{Protocol: aws.String("HTTPS"), Port: aws.String("443")}},
		{secure, "to the port it came to", "InvalidLoadBalancerAction", types.RedirectActionConfig{Port: aws.String("443"), Path: aws.String("/#{path}")}},
		{secure, "to another port", "", types.RedirectActionConfig{Port: aws.String("8443")}},
		{secure, "to another host", "", types.RedirectActionConfig{Protocol: aws.String("HTTPS"), Port: aws.String("443"), Host: aws.String("other.test")}},
		{secure, "to another path", "", types.RedirectActionConfig{Path: aws.String("/new")}},
		{secure, "to a host of 129 characters", "ValidationError", types.RedirectActionConfig{Host: aws.String(strings.Repeat("a", 129))}},
	} {
		row.to.StatusCode = types.RedirectActionStatusCodeEnumHttp301
		_, err := b.elb.CreateRule(t.Context(), &elb.CreateRuleInput{
			ListenerArn: &row.at, Priority: aws.Int32(int32(i + 1)), Actions: []types.Action{
				{Type: types.ActionTypeEnumRedirect, RedirectConfig: &row.to},
			},
			Conditions: []types.RuleCondition{
				{Field: aws.String("host-header"), HostHeaderConfig: &types.HostHeaderConditionConfig{
					Values: []string{"a.test"},
				}},
			},
		})
		if row.code == "" {
			must(t, err)
			continue
		}
		wantCode(t, err, row.code)
	}
}

func TestTheHostIsNoHeaderOfARule(t *testing.T) {
	b := newBalancing(t)
	listener := b.listener(t, *b.balancer(t, "web").LoadBalancerArn, b.issued(t))
	for i, name := range []string{"Host", "hOST", "X-Host"} {
		_, err := b.elb.CreateRule(t.Context(), &elb.CreateRuleInput{
			ListenerArn: &listener, Priority: aws.Int32(int32(i + 1)), Actions: notFound(),
			Conditions: []types.RuleCondition{
				{Field: aws.String("http-header"), HttpHeaderConfig: &types.HttpHeaderConditionConfig{
					HttpHeaderName: &name, Values: []string{"a.test"},
				}},
			},
		})
		if name == "X-Host" {
			must(t, err)
			continue
		}
		wantCode(t, err, "ValidationError")
	}
}
