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
		Help: "Certificates requested from ACM, by account. AWS allows some thousand a year.",
		Labels: []metric.Label{{
			Name: "account", Of: "the number of an AWS account that an AWSProvider leads to",
			Most: 100,
		}},
	}))
	certificatesDesc = metric.Collected(metric.Info{
		Name: "portico_certificates", Source: metric.Operator,
		Help: "Certificates of hostnames. One is late if its renewal has failed, or if less than an eighth of its " +
			"life is left; ACM begins to renew before that.",
		Labels: []metric.Label{{Name: "state", Values: []string{"in_time", "late", "requested"}}},
	})
	firstEndDesc = metric.Collected(metric.Info{
		Name: "portico_certificates_first_end_timestamp_seconds", Source: metric.Operator,
		Help: "When the certificate ends that ends first, unless ACM renews it, as a Unix time; absent while there " +
			"is none.",
	})
	firstUrgentDesc = metric.Collected(metric.Info{
		Name: "portico_certificates_first_urgent_timestamp_seconds", Source: metric.Operator,
		Help: "When the first certificate has a sixteenth of its life left, unless ACM renews it, as a Unix time; " +
			"absent while there is none.",
	})
)

// CertificateMetrics exports metrics of all hostname certificates.
var CertificateMetrics = engine.NewCacheCollector(collectCertificates, certificatesDesc, firstEndDesc, firstUrgentDesc)

func collectCertificates(ctx context.Context, from client.Reader, out chan<- prometheus.Metric) error {
	list := &v1alpha1.GatewayHostnameRequestList{}
	if err := from.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	states := map[string]int{"in_time": 0, "late": 0, "requested": 0}
	var end, urgent time.Time
	for i := range list.Items {
		c := list.Items[i].Status.Certificate
		if c == nil {
			continue
		}
		states[renewalState(c)]++
		if c.NotAfter != nil {
			end, urgent = earlier(end, c.NotAfter.Time), earlier(urgent, urgentFrom(c))
		}
	}
	for state, n := range states {
		out <- prometheus.MustNewConstMetric(certificatesDesc, prometheus.GaugeValue, float64(n), state)
	}
	if !end.IsZero() {
		out <- prometheus.MustNewConstMetric(firstEndDesc, prometheus.GaugeValue, float64(end.Unix()))
		out <- prometheus.MustNewConstMetric(firstUrgentDesc, prometheus.GaugeValue, float64(urgent.Unix()))
	}
	return nil
}

// earlier returns the earlier of two times; first may be zero.
func earlier(first, at time.Time) time.Time {
	if first.IsZero() || at.Before(first) {
		return at
	}
	return first
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
