package team

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metaac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkac "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func policyOf(namespace string) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: objectName}}
}

// isolation applies the NetworkPolicies that isolate the team's Pods, or deletes them if the network is open.
func (p *pass) isolation(ctx context.Context) (string, error) {
	open := p.team.Spec.Isolation.Network == v1alpha1.NetworkOpen
	err := p.each(ctx, func(ctx context.Context, namespace string) error {
		if open {
			return p.objects.Delete(ctx, policyOf(namespace))
		}
		return p.objects.Apply(ctx, networkPolicy(p.team, namespace, p.ClusterNetworks), &networkingv1.NetworkPolicy{})
	})
	level := "Pods keep to the level " + strings.ToLower(string(p.team.Spec.Isolation.PodSecurity))
	if open {
		return level + ", and their network is open", err
	}
	return level + ", and reach their team, DNS and the addresses that are allowed", err
}

// Networks that are not the internet, including the link-local address that serves the node's own credentials.
var privateNetworks = []string{"10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"}

// Addresses on each node that Pods need: the DNS cache, and the agent that gives Pods their own AWS credentials.
const (
	nodeLocalDNS     = "169.254.20.10/32"
	podIdentityAgent = "169.254.170.23/32"
)

// networkPolicy returns a policy that denies all traffic except what it lists. clusterNetworks are the networks of
// Pods, Services and nodes that are not in private ranges.
func networkPolicy(t *v1alpha1.Team, namespace string,
	clusterNetworks []netip.Prefix,
) *networkac.NetworkPolicyApplyConfiguration {
	sameTeam := networkac.NetworkPolicyPeer().WithNamespaceSelector(
		metaac.LabelSelector().WithMatchLabels(map[string]string{v1alpha1.LabelTeam: t.Name}))
	in := []*networkac.NetworkPolicyIngressRuleApplyConfiguration{
		networkac.NetworkPolicyIngressRule().WithFrom(sameTeam),
	}
	if from := t.Spec.Isolation.AllowFrom; len(from) > 0 {
		in = append(in, networkac.NetworkPolicyIngressRule().WithFrom(blocks(from)...))
	}
	out := []*networkac.NetworkPolicyEgressRuleApplyConfiguration{
		networkac.NetworkPolicyEgressRule().WithTo(sameTeam),
		networkac.NetworkPolicyEgressRule().WithTo(dns(), block(nodeLocalDNS)).WithPorts(
			port(corev1.ProtocolUDP, 53), port(corev1.ProtocolTCP, 53)),
		networkac.NetworkPolicyEgressRule().WithTo(block(podIdentityAgent)).WithPorts(port(corev1.ProtocolTCP, 80)),
		networkac.NetworkPolicyEgressRule().WithTo(reachable(t.Spec.Isolation.AllowTo, clusterNetworks)...),
	}
	return networkac.NetworkPolicy(objectName, namespace).WithSpec(networkac.NetworkPolicySpec().
		WithPodSelector(metaac.LabelSelector()).
		WithPolicyTypes(networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress).
		WithIngress(in...).WithEgress(out...))
}

// The addresses of the internet. For IPv6 this is the range of global unicast addresses, which Pods of an IPv6 EKS
// cluster have, too.
var internet = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("2000::/3")}

// reachable returns the addresses outside the team that its Pods can reach: the listed ones, or the internet without
// the cluster's own networks.
func reachable(listed []string, clusterNetworks []netip.Prefix) []*networkac.NetworkPolicyPeerApplyConfiguration {
	if len(listed) > 0 {
		return blocks(listed)
	}
	all := make([]*networkac.NetworkPolicyPeerApplyConfiguration, 0, len(internet))
	for _, whole := range internet {
		block := networkac.IPBlock().WithCIDR(whole.String())
		if whole.Addr().Is4() {
			block.WithExcept(privateNetworks...)
		}
		for _, network := range clusterNetworks { // Kubernetes rejects an exception outside the block
			if network.Bits() > whole.Bits() && whole.Contains(network.Addr()) &&
				!slices.Contains(block.Except, network.String()) {
				block.WithExcept(network.String())
			}
		}
		all = append(all, networkac.NetworkPolicyPeer().WithIPBlock(block))
	}
	return all
}

func dns() *networkac.NetworkPolicyPeerApplyConfiguration {
	return networkac.NetworkPolicyPeer().
		WithNamespaceSelector(metaac.LabelSelector().WithMatchLabels(
			map[string]string{corev1.LabelMetadataName: metav1.NamespaceSystem})).
		WithPodSelector(metaac.LabelSelector().WithMatchLabels(map[string]string{"k8s-app": "kube-dns"}))
}

func block(cidr string) *networkac.NetworkPolicyPeerApplyConfiguration {
	return networkac.NetworkPolicyPeer().WithIPBlock(networkac.IPBlock().WithCIDR(cidr))
}

func blocks(cidrs []string) []*networkac.NetworkPolicyPeerApplyConfiguration {
	all := make([]*networkac.NetworkPolicyPeerApplyConfiguration, 0, len(cidrs))
	for _, one := range cidrs {
		all = append(all, block(one))
	}
	return all
}

func port(protocol corev1.Protocol, number int) *networkac.NetworkPolicyPortApplyConfiguration {
	return networkac.NetworkPolicyPort().WithProtocol(protocol).WithPort(intstr.FromInt(number))
}
