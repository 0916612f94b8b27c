package pool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
)

// API is what is used of Elastic Load Balancing. Portico only looks.
type API interface {
	DescribeLoadBalancers(context.Context, *elasticloadbalancingv2.DescribeLoadBalancersInput, ...func(*elasticloadbalancingv2.Options)) (*elasticloadbalancingv2.DescribeLoadBalancersOutput, error)
	DescribeListeners(context.Context, *elasticloadbalancingv2.DescribeListenersInput, ...func(*elasticloadbalancingv2.Options)) (*elasticloadbalancingv2.DescribeListenersOutput, error)
	DescribeListenerCertificates(context.Context, *elasticloadbalancingv2.DescribeListenerCertificatesInput,
		...func(*elasticloadbalancingv2.Options)) (*elasticloadbalancingv2.DescribeListenerCertificatesOutput, error)
	DescribeRules(context.Context, *elasticloadbalancingv2.DescribeRulesInput, ...func(*elasticloadbalancingv2.Options)) (*elasticloadbalancingv2.DescribeRulesOutput, error)
}

// LoadBalancers are the load balancers of one account and region.
type LoadBalancers struct{ API API }

// LoadBalancer is what AWS has of one.
type LoadBalancer struct {
	v1alpha1.PoolLoadBalancer
	Certificates []string // sorted
	Rules        int
	TargetGroups map[string]bool // those that rules lead to, by ARN
}

// Find returns the load balancer of this DNS name, nil if there is none.
func (b LoadBalancers) Find(ctx context.Context, dnsName string) (*LoadBalancer, error) {
	out, err := b.API.DescribeLoadBalancers(ctx, &elasticloadbalancingv2.DescribeLoadBalancersInput{Names: []string{nameOf(dnsName)}})
	if cloud.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, lb := range out.LoadBalancers {
		if strings.EqualFold(aws.ToString(lb.DNSName), dnsName) {
			seen := &LoadBalancer{TargetGroups: map[string]bool{}, PoolLoadBalancer: v1alpha1.PoolLoadBalancer{
				ARN: aws.ToString(lb.LoadBalancerArn), DNSName: strings.ToLower(dnsName), ZoneID: aws.ToString(lb.CanonicalHostedZoneId),
			}}
			return seen, b.readListeners(ctx, seen)
		}
	}
	return nil, nil
}

// nameOf returns the name of a load balancer, which its DNS name begins with: internal-NAME-NUMBER.REGION.elb.amazonaws.com.
func nameOf(dnsName string) string {
	label, _, _ := strings.Cut(dnsName, ".")
	if i := strings.LastIndex(label, "-"); i > 0 {
		label = label[:i]
	}
	return strings.TrimPrefix(label, "internal-")
}

// readListeners counts what the load balancer has: what is really there decides, not what was asked for.
func (b LoadBalancers) readListeners(ctx context.Context, seen *LoadBalancer) error {
	listeners := elasticloadbalancingv2.NewDescribeListenersPaginator(b.API, &elasticloadbalancingv2.DescribeListenersInput{LoadBalancerArn: &seen.ARN})
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
	rules := elasticloadbalancingv2.NewDescribeRulesPaginator(b.API, &elasticloadbalancingv2.DescribeRulesInput{ListenerArn: l.ListenerArn})
	for rules.HasMorePages() {
		out, err := rules.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, rule := range out.Rules {
			if !aws.ToBool(rule.IsDefault) { // AWS does not count those
				seen.Rules++
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

// observeLoadBalancer looks at what AWS has. Until it has every certificate that is wanted, and no other, it looks again soon.
func (r *reconciliation) observeLoadBalancer(ctx context.Context) (string, error) {
	s := &r.pg.Status
	if len(r.members) == 0 {
		s.LoadBalancer, s.Attached, s.Certificates, s.Rules, s.TargetGroups = nil, nil, 0, 0, 0
		return "there is no load balancer", nil
	}
	want := r.arns()
	slices.Sort(want)
	if !slices.Equal(want, s.Attached) || s.LoadBalancer == nil || s.LoadBalancer.DNSName != r.address() || r.ObservedTimes.stale(r.pg.UID, r.Now()) {
		if err := r.readLoadBalancer(ctx); err != nil {
			return "", err
		}
	}
	if !slices.Equal(want, s.Attached) {
		return "", engine.Wait(v1alpha1.ReasonCertificatesPending, r.pollInterval(), "the load balancer controller is at work on the certificates: %d are wanted, %d are there", len(want), len(s.Attached))
	}
	return fmt.Sprintf("%d of %d certificates, %d of %d rules, %d of %d target groups",
		s.Certificates, v1alpha1.PoolHostnames, s.Rules, v1alpha1.PoolRules, s.TargetGroups, v1alpha1.PoolTargetGroups), nil
}

// pollInterval returns how soon the load balancer is looked at again: the more seldom, the longer it lacks what is wanted.
func (r *reconciliation) pollInterval() time.Duration {
	const first, last = 2 * time.Second, 30 * time.Second
	c := meta.FindStatusCondition(r.pg.Status.Conditions, v1alpha1.StepLoadBalancer)
	if c == nil || c.Status == metav1.ConditionTrue {
		return first
	}
	return min(max(r.Now().Sub(c.LastTransitionTime.Time)/4, first), last)
}

// readLoadBalancer reads the load balancer into the status.
func (r *reconciliation) readLoadBalancer(ctx context.Context) error {
	r.observed = true
	balancers, err := r.LoadBalancers(ctx, r.pg)
	if err != nil {
		return err
	}
	seen, err := balancers.Find(ctx, r.address())
	if err != nil {
		return cloud.Explain(err)
	}
	if seen == nil {
		r.pg.Status.LoadBalancer, r.pg.Status.Attached = nil, nil
		return engine.Wait(v1alpha1.ReasonLoadBalancerNotFound, 10*time.Second, "account %s has no load balancer %s in %s; if this stays, the load balancer controller works in another account than provider %s",
			r.pg.Spec.AccountID, r.address(), r.pg.Spec.Region, r.pg.Spec.ProviderRef.Name)
	}
	r.ObservedTimes.set(r.pg.UID, r.Now())
	s := &r.pg.Status
	s.LoadBalancer, s.Attached = &seen.PoolLoadBalancer, seen.Certificates
	s.Certificates, s.Rules, s.TargetGroups = toInt32(len(seen.Certificates)), toInt32(seen.Rules), toInt32(len(seen.TargetGroups))
	return nil
}

func toInt32(n int) int32 {
	return int32(min(n, 1<<30)) //nolint:gosec // it is bounded
}

// ObservedTimes remembers when load balancers were last looked at.
type ObservedTimes struct {
	// MaxAge is how long one that has what is wanted is not looked at again, however often its PoolGateway is: with each
	// hostname that comes or goes.
	MaxAge time.Duration

	at sync.Map
}

func (t *ObservedTimes) stale(of types.UID, now time.Time) bool {
	at, ok := t.at.Load(of)
	return !ok || now.Sub(at.(time.Time)) >= t.MaxAge
}

func (t *ObservedTimes) set(of types.UID, now time.Time) { t.at.Store(of, now) }
