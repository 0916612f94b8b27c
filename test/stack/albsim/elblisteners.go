package albsim

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// defaultPolicy is the security policy that the controller gives a listener without one.
const defaultPolicy = "ELBSecurityPolicy-2016-08"

// makeListeners creates and updates the model's listeners with their certificates and rules, and deletes the others.
func (b *balancers) makeListeners(ctx context.Context, m *model, have *built) error {
	found, err := b.listeners(ctx, have.arn)
	if err != nil {
		return err
	}
	have.ports = map[int32]bool{}
	for i := range m.Listeners {
		p := &m.Listeners[i]
		arn, err := b.makeListener(ctx, m, p, have.arn, found[p.Port])
		if err != nil {
			return err
		}
		if err := b.makeRules(ctx, m, p, arn, have); err != nil {
			return err
		}
		have.ports[p.Port] = true
		delete(found, p.Port)
	}
	for port, l := range found {
		b.counters.changes.Add(1)
		if _, err := b.elb.DeleteListener(ctx, &elb.DeleteListenerInput{ListenerArn: l.ListenerArn}); err != nil {
			return refusal(fmt.Sprintf("delete the listener of port %d", port), err)
		}
	}
	return nil
}

func (b *balancers) listeners(ctx context.Context, balancer string) (map[int32]*elbtypes.Listener, error) {
	found := map[int32]*elbtypes.Listener{}
	pages := elb.NewDescribeListenersPaginator(
		b.elb, &elb.DescribeListenersInput{LoadBalancerArn: aws.String(balancer)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, refusal("read the listeners", err)
		}
		for i := range page.Listeners {
			found[aws.ToInt32(page.Listeners[i].Port)] = &page.Listeners[i]
		}
	}
	return found, nil
}

// makeListener creates or updates a listener and returns its ARN.
func (b *balancers) makeListener(ctx context.Context, m *model, p *portModel, balancer string,
	found *elbtypes.Listener,
) (string, error) {
	var certificates []elbtypes.Certificate
	var policy *string
	if p.Protocol == gatewayv1.HTTPSProtocolType {
		certificates = []elbtypes.Certificate{{CertificateArn: aws.String(p.Certificates[0])}}
		policy = aws.String(otherwise(p.SSLPolicy, defaultPolicy))
	}
	protocol := elbtypes.ProtocolEnum(p.Protocol)
	doing := fmt.Sprintf("make the listener %s:%d", p.Protocol, p.Port)
	switch {
	case found == nil:
		b.counters.changes.Add(1)
		out, err := b.elb.CreateListener(ctx, &elb.CreateListenerInput{
			LoadBalancerArn: aws.String(balancer), Port: aws.Int32(p.Port), Protocol: protocol, SslPolicy: policy,
			Certificates: certificates, DefaultActions: []elbtypes.Action{answer(404)},
			Tags: m.tags(fmt.Sprint(p.Port)),
		})
		if err != nil {
			return "", refusal(doing, err)
		}
		found = &out.Listeners[0]
	case !like(found, protocol, policy, certificates):
		b.counters.changes.Add(1)
		if _, err := b.elb.ModifyListener(ctx, &elb.ModifyListenerInput{
			ListenerArn: found.ListenerArn, Port: aws.Int32(p.Port), Protocol: protocol, SslPolicy: policy,
			Certificates: certificates, DefaultActions: []elbtypes.Action{answer(404)},
		}); err != nil {
			return "", refusal(doing, err)
		}
	}
	arn := aws.ToString(found.ListenerArn)
	if len(certificates) == 0 {
		return arn, nil
	}
	return arn, b.exchange(ctx, arn, p.Certificates)
}

func like(l *elbtypes.Listener, protocol elbtypes.ProtocolEnum, policy *string,
	certificates []elbtypes.Certificate,
) bool {
	if l.Protocol != protocol || len(certificates) == 0 {
		return l.Protocol == protocol
	}
	return aws.ToString(l.SslPolicy) == aws.ToString(policy) && len(l.Certificates) == len(certificates) &&
		aws.ToString(l.Certificates[0].CertificateArn) == aws.ToString(certificates[0].CertificateArn)
}

// exchange detaches the surplus certificates, and then attaches the missing ones, one by one as the controller does:
// if that exceeds the limit, the surplus ones are already detached. The default certificate is attached once more
// among the others.
func (b *balancers) exchange(ctx context.Context, listener string, wanted []string) error {
	have, err := b.certificates(ctx, listener)
	if err != nil {
		return err
	}
	for _, arn := range have {
		if slices.Contains(wanted, arn) {
			continue
		}
		b.counters.changes.Add(1)
		if _, err := b.elb.RemoveListenerCertificates(ctx, &elb.RemoveListenerCertificatesInput{
			ListenerArn: aws.String(listener), Certificates: []elbtypes.Certificate{{CertificateArn: aws.String(arn)}},
		}); err != nil {
			return refusal("detach certificate "+arn, err)
		}
	}
	for _, arn := range wanted {
		if slices.Contains(have, arn) {
			continue
		}
		b.counters.changes.Add(1)
		if _, err := b.elb.AddListenerCertificates(ctx, &elb.AddListenerCertificatesInput{
			ListenerArn: aws.String(listener), Certificates: []elbtypes.Certificate{{CertificateArn: aws.String(arn)}},
		}); err != nil {
			return refusal("attach certificate "+arn, err)
		}
	}
	return nil
}

// certificates returns the ARNs of a listener's certificates without the default one.
func (b *balancers) certificates(ctx context.Context, listener string) ([]string, error) {
	var arns []string
	pages := elb.NewDescribeListenerCertificatesPaginator(b.elb, &elb.DescribeListenerCertificatesInput{
		ListenerArn: aws.String(listener),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, refusal("read the certificates of the listener", err)
		}
		for _, c := range page.Certificates {
			if !aws.ToBool(c.IsDefault) {
				arns = append(arns, aws.ToString(c.CertificateArn))
			}
		}
	}
	return arns, nil
}
