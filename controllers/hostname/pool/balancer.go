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
	DescribeListenerCertificates(context.Context, *elasticloadbalancingv2.DescribeListenerCertificatesInput, ...func(*elasticloadbalancingv2.Options)) (*elasticloadbalancingv2.DescribeListenerCertificatesOutput, error)
	DescribeRules(context.Context, *elasticloadbalancingv2.DescribeRulesInput, ...func(*elasticloadbalancingv2.Options)) (*elasticloadbalancingv2.DescribeRulesOutput, error)
}

// Balancers are the load balancers of one account and region.
type Balancers struct{ API API }

// Balancer is what AWS has of one.
type Balancer struct {
	v1alpha1.PoolLoadBalancer
	Certificates []string // sorted
	Rules        int
	TargetGroups map[string]bool // those that rules lead to, by ARN
}

// Find returns the load balancer of this DNS name, nil if there is none.
func (b Balancers) Find(ctx context.Context, dnsName string) (*Balancer, error) {
	out, err := b.API.DescribeLoadBalancers(ctx, &elasticloadbalancingv2.DescribeLoadBalancersInput{Names: []string{nameOf(dnsName)}})
	if cloud.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, lb := range out.LoadBalancers {
		if strings.EqualFold(aws.ToString(lb.DNSName), dnsName) {
			seen := &Balancer{TargetGroups: map[string]bool{}, PoolLoadBalancer: v1alpha1.PoolLoadBalancer{
				ARN: aws.ToString(lb.LoadBalancerArn), DNSName: strings.ToLower(dnsName), ZoneID: aws.ToString(lb.CanonicalHostedZoneId),
			}}
			return seen, b.look(ctx, seen)
		}
	}
	return nil, nil
}

// nameOf is the name of a load balancer, which its DNS name begins with: internal-NAME-NUMBER.REGION.elb.amazonaws.com.
func nameOf(dnsName string) string {
	label, _, _ := strings.Cut(dnsName, ".")
	if i := strings.LastIndex(label, "-"); i > 0 {
		label = label[:i]
	}
	return strings.TrimPrefix(label, "internal-")
}

// look counts what the load balancer has: what is really there decides, not what was asked for.
func (b Balancers) look(ctx context.Context, seen *Balancer) error {
	listeners := elasticloadbalancingv2.NewDescribeListenersPaginator(b.API, &elasticloadbalancingv2.DescribeListenersInput{LoadBalancerArn: &seen.ARN})
	for listeners.HasMorePages() {
		out, err := listeners.NextPage(ctx)
		if err != nil {
			return err
		}
		for i := range out.Listeners {
			if err := b.listener(ctx, &out.Listeners[i], seen); err != nil {
				return err
			}
		}
	}
	slices.Sort(seen.Certificates)
	seen.Certificates = slices.Compact(seen.Certificates)
	return nil
}

func (b Balancers) listener(ctx context.Context, l *elb.Listener, seen *Balancer) error {
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
				seen.leadsTo(action)
			}
		}
	}
	if l.Protocol != elb.ProtocolEnumHttps {
		return nil
	}
	return b.certificates(ctx, l, seen)
}

func (b Balancers) certificates(ctx context.Context, l *elb.Listener, seen *Balancer) error {
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

func (b *Balancer) leadsTo(action elb.Action) {
	if action.TargetGroupArn != nil {
		b.TargetGroups[*action.TargetGroupArn] = true
	}
	if action.ForwardConfig != nil {
		for _, g := range action.ForwardConfig.TargetGroups {
			b.TargetGroups[aws.ToString(g.TargetGroupArn)] = true
		}
	}
}

// loadBalancer looks at what AWS has. Until it has every certificate that is wanted, and no other, it looks again soon.
func (r *run) loadBalancer(ctx context.Context) (string, error) {
	s := &r.pg.Status
	if len(r.members) == 0 {
		s.LoadBalancer, s.Attached, s.Certificates, s.Rules, s.TargetGroups = nil, nil, 0, 0, 0
		return "there is no load balancer", nil
	}
	want := r.arns()
	slices.Sort(want)
	if !slices.Equal(want, s.Attached) || s.LoadBalancer == nil || s.LoadBalancer.DNSName != r.address() || r.Looks.old(r.pg.UID, r.Now()) {
		if err := r.look(ctx); err != nil {
			return "", err
		}
	}
	if !slices.Equal(want, s.Attached) {
		return "", engine.Wait("CertificatesPending", r.again(), "the load balancer controller is at work on the certificates: %d are wanted, %d are there", len(want), len(s.Attached))
	}
	return fmt.Sprintf("%d of %d certificates, %d of %d rules, %d of %d target groups", s.Certificates, v1alpha1.PoolHostnames, s.Rules, v1alpha1.PoolRules, s.TargetGroups, v1alpha1.PoolTargetGroups), nil
}

// again is how soon the load balancer is looked at again: the more seldom, the longer it lacks what is wanted.
func (r *run) again() time.Duration {
	const first, last = 2 * time.Second, 30 * time.Second
	c := meta.FindStatusCondition(r.pg.Status.Conditions, StepLoadBalancer)
	if c == nil || c.Status == metav1.ConditionTrue {
		return first
	}
	return min(max(r.Now().Sub(c.LastTransitionTime.Time)/4, first), last)
}

// look reads the load balancer into the status.
func (r *run) look(ctx context.Context) error {
	r.looked = true
	balancers, err := r.Balancers(ctx, r.pg)
	if err != nil {
		return err
	}
	seen, err := balancers.Find(ctx, r.address())
	if err != nil {
		return cloud.Explain(err)
	}
	if seen == nil {
		r.pg.Status.LoadBalancer, r.pg.Status.Attached = nil, nil
		return engine.Wait("LoadBalancerNotFound", 10*time.Second, "account %s has no load balancer %s in %s; if this stays, the load balancer controller works in another account than provider %s",
			r.pg.Spec.AccountID, r.address(), r.pg.Spec.Region, r.pg.Spec.ProviderRef.Name)
	}
	r.Looks.note(r.pg.UID, r.Now())
	s := &r.pg.Status
	s.LoadBalancer, s.Attached = &seen.PoolLoadBalancer, seen.Certificates
	s.Certificates, s.Rules, s.TargetGroups = count(len(seen.Certificates)), count(seen.Rules), count(len(seen.TargetGroups))
	return nil
}

func count(n int) int32 {
	return int32(min(n, 1<<30)) //nolint:gosec // it is bounded
}

// Looks remembers when load balancers were last looked at.
type Looks struct {
	// Age is how long one that has what is wanted is not looked at again, however often its PoolGateway is: with each
	// hostname that comes or goes.
	Age time.Duration

	at sync.Map
}

func (l *Looks) old(of types.UID, now time.Time) bool {
	at, ok := l.at.Load(of)
	return !ok || now.Sub(at.(time.Time)) >= l.Age
}

func (l *Looks) note(of types.UID, now time.Time) { l.at.Store(of, now) }
