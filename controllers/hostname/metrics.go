package hostname

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/metric"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

var (
	requested = engine.RegisterMetric(metric.Counter(metric.Info{
		Name: "portico_certificate_requests_total", Source: metric.Operator,
		Help:   "Certificates requested from ACM, by account. AWS allows some thousand a year.",
		Labels: []metric.Label{{Name: "account", Of: "the number of an AWS account that an AWSProvider leads to", Most: 100}},
	}))
	certificatesDesc = metric.Collected(metric.Info{
		Name: "portico_certificates", Source: metric.Operator,
		Help:   "Certificates of hostnames. One is late if its renewal has failed, or if it ends within 30 days; ACM begins to renew 60 days before the end.",
		Labels: []metric.Label{{Name: "state", Values: []string{"in_time", "late", "requested"}}},
	})
	firstEndDesc = metric.Collected(metric.Info{
		Name: "portico_certificates_first_end_timestamp_seconds", Source: metric.Operator,
		Help: "When the certificate ends that ends first, unless ACM renews it, as a Unix time; absent while there is none.",
	})
)

// CertificateMetrics tells of the certificates of all hostnames.
var CertificateMetrics = engine.NewCacheCollector(collectCertificates, certificatesDesc, firstEndDesc)

func collectCertificates(ctx context.Context, from client.Reader, out chan<- prometheus.Metric) error {
	list := &v1alpha1.GatewayHostnameRequestList{}
	if err := from.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	states, first := map[string]int{"in_time": 0, "late": 0, "requested": 0}, time.Time{}
	for i := range list.Items {
		c := list.Items[i].Status.Certificate
		if c == nil {
			continue
		}
		states[renewalState(c)]++
		if c.NotAfter != nil && (first.IsZero() || c.NotAfter.Time.Before(first)) {
			first = c.NotAfter.Time
		}
	}
	for state, n := range states {
		out <- prometheus.MustNewConstMetric(certificatesDesc, prometheus.GaugeValue, float64(n), state)
	}
	if !first.IsZero() {
		out <- prometheus.MustNewConstMetric(firstEndDesc, prometheus.GaugeValue, float64(first.Unix()))
	}
	return nil
}

func renewalState(c *v1alpha1.HostnameCertificate) string {
	switch {
	case c.RenewalLate:
		return "late"
	case c.NotAfter == nil:
		return "requested"
	}
	return "in_time"
}
