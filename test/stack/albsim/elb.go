package albsim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/smithy-go"
)

// Cluster is the name of the cluster in the tags of the simulator's AWS resources.
const Cluster = "portico-local"

// balancers reconciles AWS with models.
type balancers struct {
	elb      *elb.Client
	ec2      *ec2.Client
	counters *counters
}

// built holds the AWS resources of a Gateway.
type built struct {
	name, arn, dns string
	ports          map[int32]bool    // the ports with a listener
	groups         map[string]string // ARNs by name
	named          map[string]string // target groups that routes name, created by others included
}

func newBalancers(account aws.Config, c *counters) *balancers {
	return &balancers{elb: elb.NewFromConfig(account), ec2: ec2.NewFromConfig(account), counters: c}
}

// refusal wraps an error of AWS for a status, without the request ID, so that the status stays the same.
func refusal(doing string, err error) error {
	if err == nil {
		return nil
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return fmt.Errorf("%s: %s: %s", doing, api.ErrorCode(), api.ErrorMessage())
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func isCode(err error, code string) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && api.ErrorCode() == code
}

// deploy reconciles AWS with the model, in the controller's order: target groups, load balancer, listeners, rules,
// and then the deletion of resources that are not in the model. It stops at the first refusal.
func (b *balancers) deploy(ctx context.Context, m *model, have *built) error {
	network, err := b.network(ctx)
	if err != nil {
		return err
	}
	if have.named, err = b.namedGroups(ctx, m); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(m.Groups)) {
		if err := b.makeGroup(ctx, m, name, network.vpc, have); err != nil {
			return err
		}
	}
	former := *have
	if err := b.makeBalancer(ctx, m, network.subnets, have); err != nil {
		return err
	}
	if err := b.makeListeners(ctx, m, have); err != nil {
		return err
	}
	if former.arn != "" && former.arn != have.arn {
		if err := b.deleteBalancer(ctx, former.arn); err != nil {
			return err
		}
	}
	return b.deleteGroups(ctx, have, m.Groups)
}

// tearDown removes all AWS resources of the Gateway.
func (b *balancers) tearDown(ctx context.Context, m *model, have *built) error {
	if have.arn == "" {
		found, err := b.find(ctx, m.Name)
		if err != nil {
			return err
		}
		if found != nil {
			have.arn = aws.ToString(found.LoadBalancerArn)
		}
	}
	if have.arn != "" {
		if err := b.deleteBalancer(ctx, have.arn); err != nil {
			return err
		}
		have.name, have.arn, have.dns, have.ports = "", "", "", nil
	}
	return b.deleteGroups(ctx, have, nil)
}

type network struct {
	vpc     string
	subnets []string
}

// network returns the default VPC with a subnet in each zone.
func (b *balancers) network(ctx context.Context) (network, error) {
	out, err := b.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: []ec2types.Filter{
		{Name: aws.String("default-for-az"), Values: []string{"true"}},
	}})
	if err != nil {
		return network{}, refusal("find the subnets", err)
	}
	if len(out.Subnets) == 0 {
		return network{}, errors.New("find the subnets: the account has no default VPC with subnets")
	}
	n := network{vpc: aws.ToString(out.Subnets[0].VpcId)}
	for i := range out.Subnets {
		n.subnets = append(n.subnets, aws.ToString(out.Subnets[i].SubnetId))
	}
	return n, nil
}

func (m *model) tags(resource string) []elbtypes.Tag {
	tag := func(key, value string) elbtypes.Tag {
		return elbtypes.Tag{Key: aws.String(key), Value: aws.String(value)}
	}
	return []elbtypes.Tag{
		tag("elbv2.k8s.aws/cluster", Cluster),
		tag("gateway.k8s.aws.alb/stack", m.Gateway),
		tag("gateway.k8s.aws.alb/resource", resource),
	}
}

func (b *balancers) find(ctx context.Context, name string) (*elbtypes.LoadBalancer, error) {
	out, err := b.elb.DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{Names: []string{name}})
	if isCode(err, "LoadBalancerNotFound") {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, refusal("look for load balancer "+name, err)
	}
	if len(out.LoadBalancers) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	return &out.LoadBalancers[0], nil
}

// errNotActive is not a failure: AWS takes minutes for a new load balancer.
var errNotActive = errors.New("the load balancer is not active yet")

// makeBalancer finds or creates the load balancer, and returns errNotActive until it is active.
func (b *balancers) makeBalancer(ctx context.Context, m *model, subnets []string, have *built) error {
	found, err := b.find(ctx, m.Name)
	if err != nil {
		return err
	}
	if found == nil {
		b.counters.changes.Add(1)
		_, err := b.elb.CreateLoadBalancer(ctx, &elb.CreateLoadBalancerInput{
			Name: aws.String(m.Name), Subnets: subnets, Scheme: elbtypes.LoadBalancerSchemeEnum(m.Scheme),
			Type: elbtypes.LoadBalancerTypeEnumApplication, IpAddressType: elbtypes.IpAddressTypeIpv4,
			Tags: m.tags("LoadBalancer"),
		})
		if err != nil {
			return refusal("create load balancer "+m.Name, err)
		}
		b.counters.created.Add(1)
		if found, err = b.find(ctx, m.Name); err != nil {
			return err
		}
	}
	if found == nil || found.State == nil || found.State.Code != elbtypes.LoadBalancerStateEnumActive {
		return errNotActive
	}
	have.name, have.arn, have.dns = m.Name, aws.ToString(found.LoadBalancerArn), aws.ToString(found.DNSName)
	return nil
}

func (b *balancers) deleteBalancer(ctx context.Context, arn string) error {
	b.counters.changes.Add(1)
	if _, err := b.elb.DeleteLoadBalancer(
		ctx, &elb.DeleteLoadBalancerInput{LoadBalancerArn: aws.String(arn)}); err != nil &&
		!isCode(err, "LoadBalancerNotFound") {
		return refusal("delete the load balancer", err)
	}
	b.counters.deleted.Add(1)
	return nil
}

func (b *balancers) makeGroup(ctx context.Context, m *model, name, vpc string, have *built) error {
	if have.groups == nil {
		have.groups = map[string]string{}
	}
	if have.groups[name] != "" {
		return nil
	}
	version := "HTTP1"
	if m.Groups[name].GRPC {
		version = "GRPC"
	}
	b.counters.changes.Add(1)
	out, err := b.elb.CreateTargetGroup(ctx, &elb.CreateTargetGroupInput{
		Name: aws.String(name), VpcId: aws.String(vpc), Port: aws.Int32(m.Groups[name].Port),
		TargetType: elbtypes.TargetTypeEnumIp,
		Protocol:   elbtypes.ProtocolEnumHttp, ProtocolVersion: aws.String(version),
		Tags: m.tags(m.Groups[name].Service.String()),
	})
	if err != nil {
		return refusal("create target group "+name, err)
	}
	if len(out.TargetGroups) == 0 {
		return fmt.Errorf("create target group %s: AWS answered without it", name)
	}
	have.groups[name] = aws.ToString(out.TargetGroups[0].TargetGroupArn)
	return nil
}

// namedGroups finds the target groups that routes refer to by name in the account. A missing one fails the model.
func (b *balancers) namedGroups(ctx context.Context, m *model) (map[string]string, error) { //nolint:gocognit // a walk through rules and backends
	found := map[string]string{}
	for i := range m.Listeners {
		for j := range m.Listeners[i].Rules {
			for _, f := range m.Listeners[i].Rules[j].Forward {
				if !f.Named || found[f.Group] != "" {
					continue
				}
				out, err := b.elb.DescribeTargetGroups(ctx, &elb.DescribeTargetGroupsInput{Names: []string{f.Group}})
				if err == nil && len(out.TargetGroups) == 0 {
					err = errors.New("not found")
				}
				if err != nil {
					return nil, fmt.Errorf("%w%w", errBuild, refusal("find the target group "+f.Group, err))
				}
				found[f.Group] = aws.ToString(out.TargetGroups[0].TargetGroupArn)
			}
		}
	}
	return found, nil
}

// deleteGroups deletes the target groups except those in keep.
func (b *balancers) deleteGroups(ctx context.Context, have *built, keep map[string]groupModel) error {
	for _, name := range slices.Sorted(maps.Keys(have.groups)) {
		if _, kept := keep[name]; kept {
			continue
		}
		b.counters.changes.Add(1)
		_, err := b.elb.DeleteTargetGroup(
			ctx, &elb.DeleteTargetGroupInput{TargetGroupArn: aws.String(have.groups[name])})
		if err != nil && !isCode(err, "TargetGroupNotFound") {
			return refusal("delete target group "+name, err)
		}
		delete(have.groups, name)
	}
	return nil
}
