//go:build integration

package mototest_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

func TestALoadBalancerHas25CertificatesAtMost(t *testing.T) {
	b := newBalancing(t)
	balancer := *b.balancer(t, "web").LoadBalancerArn
	listener := b.listener(t, balancer, b.issued(t))
	for range 24 {
		must(t, b.add(t, listener, b.issued(t)))
	}
	last := b.issued(t)
	wantCode(t, b.add(t, listener, last), "TooManyCertificates")
	_, err := b.elb.CreateListener(t.Context(), &elb.CreateListenerInput{
		LoadBalancerArn: &balancer, Protocol: types.ProtocolEnumHttps, Port: aws.Int32(8443),
		Certificates: certificates(last), DefaultActions: notFound(),
	})
	wantCode(t, err, "TooManyCertificates")
	must(t, b.drop(t, listener, b.attached(t, listener)[1]))
	must(t, b.add(t, listener, last))
}

func TestALoadBalancerHas100RulesAnd100TargetGroupsAtMost(t *testing.T) {
	b := newBalancing(t)
	is := b.balancer(t, "web")
	listener := b.listener(t, *is.LoadBalancerArn, b.issued(t))
	group := func(n int) *string {
		out, err := b.elb.CreateTargetGroup(t.Context(), &elb.CreateTargetGroupInput{
			Name: aws.String(fmt.Sprintf("group-%d", n)), Protocol: types.ProtocolEnumHttp, Port: aws.Int32(80),
			VpcId: is.VpcId, TargetType: types.TargetTypeEnumIp,
		})
		must(t, err)
		return out.TargetGroups[0].TargetGroupArn
	}
	rule := func(n int, actions []types.Action) (string, error) {
		out, err := b.elb.CreateRule(t.Context(), &elb.CreateRuleInput{
			ListenerArn: &listener, Priority: aws.Int32(int32(n)), Actions: actions,
			Conditions: []types.RuleCondition{
				{Field: aws.String("host-header"), HostHeaderConfig: &types.HostHeaderConditionConfig{
					Values: []string{strconv.Itoa(n) + ".test"},
				}},
			},
		})
		if err != nil {
			return "", err
		}
		return *out.Rules[0].RuleArn, nil
	}
	forward := func(group *string) []types.Action {
		return []types.Action{{Type: types.ActionTypeEnumForward, TargetGroupArn: group}}
	}
	first, err := rule(1, forward(group(1)))
	must(t, err)
	for n := 2; n <= 100; n++ {
		_, err := rule(n, forward(group(n)))
		must(t, err)
	}
	_, err = rule(101, notFound())
	wantCode(t, err, "TooManyRules")
	more := group(101)
	_, err = b.elb.ModifyListener(
		t.Context(), &elb.ModifyListenerInput{ListenerArn: &listener, DefaultActions: forward(more)})
	wantCode(t, err, "TooManyTargetGroups")
	_, err = b.elb.ModifyRule(t.Context(), &elb.ModifyRuleInput{RuleArn: &first, Actions: forward(more)})
	must(t, err)
	_, err = b.elb.DeleteRule(t.Context(), &elb.DeleteRuleInput{RuleArn: &first})
	must(t, err)
	_, err = rule(101, notFound())
	must(t, err)
}
