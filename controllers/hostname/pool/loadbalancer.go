package pool

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
)

// API is the part of the Elastic Load Balancing client that is used. Portico only reads.
type API interface {
	DescribeLoadBalancers(context.Context, *elasticloadbalancingv2.DescribeLoadBalancersInput,
		...func(*elasticloadbalancingv2.Options)) (*elasticloadbalancingv2.DescribeLoadBalancersOutput, error)
	DescribeListeners(context.Context, *elasticloadbalancingv2.DescribeListenersInput,
		...func(*elasticloadbalancingv2.Options)) (*elasticloadbalancingv2.DescribeListenersOutput, error)
	DescribeListenerCertificates(context.Context, *elasticloadbalancingv2.DescribeListenerCertificatesInput,
		...func(*elasticloadbalancingv2.Options)) (*elasticloadbalancingv2.DescribeListenerCertificatesOutput, error)
	DescribeRules(context.Context, *elasticloadbalancingv2.DescribeRulesInput,
		...func(*elasticloadbalancingv2.Options)) (*elasticloadbalancingv2.DescribeRulesOutput, error)
}

// LoadBalancers are the load balancers of one account and region.
type LoadBalancers struct{ API API }

// LoadBalancer is a load balancer as AWS shows it.
type LoadBalancer struct {
	v1alpha1.PoolLoadBalancer
	Certificates []string // sorted
	Rules        int
	Hosts        map[string]int  // the number of rules for each host
	TargetGroups map[string]bool // ARNs of the target groups that rules forward to
}

// Find returns the load balancer with this DNS name, nil if there is none.
func (b LoadBalancers) Find(ctx context.Context, dnsName string) (*LoadBalancer, error) {
	out, err := b.API.DescribeLoadBalancers(ctx, &elasticloadbalancingv2.DescribeLoadBalancersInput{
		Names: []string{nameOf(dnsName)},
	})
	if cloud.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, lb := range out.LoadBalancers {
		if strings.EqualFold(aws.ToString(lb.DNSName), dnsName) {
			seen := &LoadBalancer{
				TargetGroups: map[string]bool{}, Hosts: map[string]int{},
				PoolLoadBalancer: v1alpha1.PoolLoadBalancer{
					ARN: aws.ToString(lb.LoadBalancerArn), DNSName: strings.ToLower(dnsName),
					ZoneID: aws.ToString(lb.CanonicalHostedZoneId),
				},
			}
			return seen, b.readListeners(ctx, seen)
		}
	}
	return nil, nil
}

// nameOf returns the name of a load balancer from its DNS name: internal-NAME-NUMBER.REGION.elb.amazonaws.com.
func nameOf(dnsName string) string {
	label, _, _ := strings.Cut(dnsName, ".")
	if i := strings.LastIndex(label, "-"); i > 0 {
		label = label[:i]
	}
	return strings.TrimPrefix(label, "internal-")
}

// readListeners counts what the load balancer actually has, not what was requested.
func (b LoadBalancers) readListeners(ctx context.Context, seen *LoadBalancer) error {
	listeners := elasticloadbalancingv2.NewDescribeListenersPaginator(
		b.API, &elasticloadbalancingv2.DescribeListenersInput{LoadBalancerArn: &seen.ARN})
	for listeners.HasMorePages() {
		out, err := listeners.NextPage(ctx)
		if err != nil {
			return err
		}
		for i := range out.Listeners {
			if err := b.readListener(ctx, &out.Listeners[i], seen); err != nil {
				return err
			}
		}
	}
	slices.Sort(seen.Certificates)
	seen.Certificates = slices.Compact(seen.Certificates)
	return nil
}

func (b LoadBalancers) readListener(ctx context.Context, l *elb.Listener, seen *LoadBalancer) error {
	rules := elasticloadbalancingv2.NewDescribeRulesPaginator(b.API, &elasticloadbalancingv2.DescribeRulesInput{
		ListenerArn: l.ListenerArn,
	})
	for rules.HasMorePages() {
		out, err := rules.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, rule := range out.Rules {
			if !aws.ToBool(rule.IsDefault) { // default rules do not count towards AWS's quota
				seen.Rules++
			}
			for _, c := range rule.Conditions {
				seen.addHosts(c)
			}
			for _, action := range rule.Actions {
				seen.addTargetGroups(action)
			}
		}
	}
	if l.Protocol != elb.ProtocolEnumHttps {
		return nil
	}
	return b.readCertificates(ctx, l, seen)
}

func (b LoadBalancers) readCertificates(ctx context.Context, l *elb.Listener, seen *LoadBalancer) error {
	in := &elasticloadbalancingv2.DescribeListenerCertificatesInput{ListenerArn: l.ListenerArn}
	for {
		out, err := b.API.DescribeListenerCertificates(ctx, in)
		if err != nil {
			return err
		}
		for _, c := range out.Certificates {
			seen.Certificates = append(seen.Certificates, aws.ToString(c.CertificateArn))
		}
		if in.Marker = out.NextMarker; aws.ToString(in.Marker) == "" {
			return nil
		}
	}
}

func (b *LoadBalancer) addHosts(c elb.RuleCondition) {
	if c.HostHeaderConfig == nil {
		return
	}
	for _, host := range c.HostHeaderConfig.Values {
		b.Hosts[strings.ToLower(host)]++
	}
}

func (b *LoadBalancer) addTargetGroups(action elb.Action) {
	if action.TargetGroupArn != nil {
		b.TargetGroups[*action.TargetGroupArn] = true
	}
	if action.ForwardConfig != nil {
		for _, g := range action.ForwardConfig.TargetGroups {
			b.TargetGroups[aws.ToString(g.TargetGroupArn)] = true
		}
	}
}
