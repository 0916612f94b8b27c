package pool

import (
	"context"
	"reflect"
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

// attachCertificates tells the load balancer the certificates of all members. The API server knows the listeners as one
// value: those of admins, and what they have set of ours, are written as they are now.
func (r *reconciliation) attachCertificates(ctx context.Context, have *albconfig.LoadBalancerConfiguration) error {
	listeners := undefaulted(have.Spec.ListenerConfigurations)
	want := configuration(r.pg, r.arns(), listeners)
	if !reflect.DeepEqual(want.Spec.ListenerConfigurations, listeners) {
		live := &albconfig.LoadBalancerConfiguration{} // the cache may be behind
		if _, err := engine.Find(ctx, r.Applier.APIReader, r.objects.Key(r.pg.Name), live); err != nil {
			return err
		}
		want = configuration(r.pg, r.arns(), undefaulted(live.Spec.ListenerConfigurations))
	}
	return r.objects.Apply(ctx, want, &albconfig.LoadBalancerConfiguration{})
}

// undefaulted returns the listeners without what the API server sets by itself in ours: what is declared is then the
// same before and after it has.
func undefaulted(listeners []albconfig.ListenerConfiguration) []albconfig.ListenerConfiguration {
	all := slices.Clone(listeners)
	for i := range all {
		if all[i].ProtocolPort == httpsPort && all[i].ALPNPolicy == "None" {
			all[i].ALPNPolicy = ""
		}
	}
	return all
}

// configuration returns the whole configuration of the load balancer. The default certificate that there is stays so:
// another one each time that a name comes first in the order would help nobody. Of the listeners that there are only
// our own settings of our own are changed.
func configuration(g *v1alpha1.PoolGateway, arns []string, listeners []albconfig.ListenerConfiguration) *albconfig.LoadBalancerConfiguration {
	all := slices.Clone(listeners)
	at := slices.IndexFunc(all, func(l albconfig.ListenerConfiguration) bool { return l.ProtocolPort == httpsPort })
	if at < 0 {
		at, all = len(all), append(all, albconfig.ListenerConfiguration{ProtocolPort: httpsPort})
	}
	ours := &all[at]
	if !slices.Contains(arns, ours.DefaultCertificate) {
		ours.DefaultCertificate = arns[0]
	}
	ours.Certificates = slices.DeleteFunc(slices.Clone(arns), func(arn string) bool { return arn == ours.DefaultCertificate })
	ours.SSLPolicy = sslPolicy
	return &albconfig.LoadBalancerConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: albconfig.GroupVersion.String(), Kind: "LoadBalancerConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: g.Name, Namespace: g.Namespace},
		Spec:       albconfig.LoadBalancerConfigurationSpec{Scheme: string(g.Spec.Visibility), ListenerConfigurations: all},
	}
}

func (r *reconciliation) arns() []string {
	all := make([]string, 0, len(r.members))
	for _, m := range r.members {
		all = append(all, m.arn)
	}
	return all
}

// readConfiguration returns the configuration that there is. If a certificate in it is to go, the members are read past
// the cache: it must not be taken off because the cache does not know yet that it is wanted.
func (r *reconciliation) readConfiguration(ctx context.Context) (*albconfig.LoadBalancerConfiguration, error) {
	have := &albconfig.LoadBalancerConfiguration{}
	found, err := engine.Find(ctx, r.Applier.Client, r.objects.Key(r.pg.Name), have)
	if !found {
		return have, err
	}
	wanted := map[string]bool{"": true}
	for _, arn := range r.arns() {
		wanted[arn] = true
	}
	for _, l := range have.Spec.ListenerConfigurations {
		if l.ProtocolPort != httpsPort {
			continue
		}
		if slices.ContainsFunc(append(slices.Clone(l.Certificates), l.DefaultCertificate), func(arn string) bool { return !wanted[arn] }) {
			r.members, err = r.readMembers(ctx, r.Applier.APIReader)
			return have, err
		}
	}
	return have, nil
}

// HasCertificate reports whether the load balancer was seen with the certificate, and where.
func HasCertificate(pg *v1alpha1.PoolGateway, arn string) bool {
	return pg.Status.LoadBalancer != nil && slices.Contains(pg.Status.Attached, arn)
}

// IsConfigured reports whether the load balancer is told to have the certificate: one that does not exist would keep
// the controller from doing anything for all hostnames on it.
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
