package pool

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

// httpsPort is the HTTPS listener as LoadBalancerConfiguration names it.
const httpsPort = "HTTPS:443"

// sslPolicy is the one that AWS recommends: TLS 1.2 and 1.3.
const sslPolicy = "ELBSecurityPolicy-TLS13-1-2-2021-06"

// attachCertificates tells the load balancer the certificates of all members; kept is its default one until now.
func (r *reconciliation) attachCertificates(ctx context.Context, kept string) error {
	return r.objects.Apply(ctx, configuration(r.pg, r.arns(), kept), &albconfig.LoadBalancerConfiguration{})
}

// configuration returns the whole of what the load balancer is told, rendered each time by its only writer. kept stays the default
// certificate: another one each time that a name comes first in the order would help nobody.
func configuration(g *v1alpha1.PoolGateway, arns []string, kept string) *albconfig.LoadBalancerConfiguration {
	first := arns[0]
	if slices.Contains(arns, kept) {
		first = kept
	}
	others := slices.DeleteFunc(slices.Clone(arns), func(arn string) bool { return arn == first })
	return &albconfig.LoadBalancerConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: albconfig.GroupVersion.String(), Kind: "LoadBalancerConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: g.Name, Namespace: g.Namespace},
		Spec: albconfig.LoadBalancerConfigurationSpec{
			Scheme: string(g.Spec.Visibility),
			ListenerConfigurations: []albconfig.ListenerConfiguration{{
				ProtocolPort: httpsPort, DefaultCertificate: first, Certificates: others, SSLPolicy: sslPolicy,
			}},
		},
	}
}

func (r *reconciliation) arns() []string {
	all := make([]string, 0, len(r.members))
	for _, m := range r.members {
		all = append(all, m.arn)
	}
	return all
}

// keptCertificate returns the default certificate that the configuration has now. If one in it is to go, the members are read past the
// cache: a certificate must not be taken off because the cache does not know yet that it is wanted.
func (r *reconciliation) keptCertificate(ctx context.Context) (string, error) {
	have := &albconfig.LoadBalancerConfiguration{}
	found, err := engine.Find(ctx, r.Applier.Client, r.objects.Key(r.pg.Name), have)
	if !found {
		return "", err
	}
	kept, wanted := "", map[string]bool{}
	for _, arn := range r.arns() {
		wanted[arn] = true
	}
	for _, l := range have.Spec.ListenerConfigurations {
		if l.ProtocolPort == httpsPort {
			kept = l.DefaultCertificate
		}
		for _, arn := range append(l.Certificates, l.DefaultCertificate) {
			if arn != "" && !wanted[arn] {
				r.members, err = r.readMembers(ctx, r.Applier.APIReader)
				return kept, err
			}
		}
	}
	return kept, nil
}

// HasCertificate reports whether the load balancer was seen with the certificate, and where.
func HasCertificate(pg *v1alpha1.PoolGateway, arn string) bool {
	return pg.Status.LoadBalancer != nil && slices.Contains(pg.Status.Attached, arn)
}

// IsConfigured reports whether the load balancer is told to have the certificate: one that does not exist would keep the
// controller from doing anything for all hostnames on it.
func IsConfigured(ctx context.Context, from client.Reader, pg *v1alpha1.PoolGateway, arn string) (bool, error) {
	config := &albconfig.LoadBalancerConfiguration{}
	err := from.Get(ctx, client.ObjectKeyFromObject(pg), config)
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return slices.ContainsFunc(config.Spec.ListenerConfigurations, func(l albconfig.ListenerConfiguration) bool {
		return l.DefaultCertificate == arn || slices.Contains(l.Certificates, arn)
	}), nil
}
