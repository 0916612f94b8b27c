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

// httpsPort is the HTTPS listener, in the notation of LoadBalancerConfiguration.
const httpsPort = "HTTPS:443"

// sslPolicy is the policy that AWS recommends: TLS 1.2 and 1.3.
const sslPolicy = "ELBSecurityPolicy-TLS13-1-2-2021-06"

// attachCertificates writes the certificates of all members into the load balancer's configuration. The list of
// listeners is atomic, so listeners that admins added, and settings that they changed in ours, are written back
// unchanged.
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

// undefaulted returns the listeners without the API server's defaults for ours, so that the declared configuration is
// the same before and after defaulting.
func undefaulted(listeners []albconfig.ListenerConfiguration) []albconfig.ListenerConfiguration {
	all := slices.Clone(listeners)
	for i := range all {
		if all[i].ProtocolPort == httpsPort && all[i].ALPNPolicy == "None" {
			all[i].ALPNPolicy = ""
		}
	}
	return all
}

// configuration returns the whole configuration of the load balancer. An existing default certificate is kept: changing
// it whenever another name sorts first would serve nobody. In existing listeners it changes only the settings that
// Portico manages, and only in Portico's own.
func configuration(g *v1alpha1.PoolGateway, arns []string,
	listeners []albconfig.ListenerConfiguration,
) *albconfig.LoadBalancerConfiguration {
	all := slices.Clone(listeners)
	at := slices.IndexFunc(all, func(l albconfig.ListenerConfiguration) bool { return l.ProtocolPort == httpsPort })
	if at < 0 {
		at, all = len(all), append(all, albconfig.ListenerConfiguration{ProtocolPort: httpsPort})
	}
	ours := &all[at]
	if !slices.Contains(arns, ours.DefaultCertificate) {
		ours.DefaultCertificate = arns[0]
	}
	ours.Certificates = slices.DeleteFunc(slices.Clone(arns), func(arn string) bool {
		return arn == ours.DefaultCertificate
	})
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

// readConfiguration returns the existing configuration. Before it removes a certificate, it reads the members past the
// cache: a stale cache must not take off a certificate that is wanted.
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
		if slices.ContainsFunc(append(slices.Clone(l.Certificates), l.DefaultCertificate), func(arn string) bool {
			return !wanted[arn]
		}) {
			r.members, err = r.readMembers(ctx, r.Applier.APIReader)
			return have, err
		}
	}
	return have, nil
}

// HasCertificate reports whether the load balancer was last seen with the certificate.
func HasCertificate(pg *v1alpha1.PoolGateway, arn string) bool {
	return pg.Status.LoadBalancer != nil && slices.Contains(pg.Status.Attached, arn)
}

// IsConfigured reports whether the certificate is in the load balancer's configuration. If such a certificate does not
// exist, the controller fails for all hostnames on it.
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
