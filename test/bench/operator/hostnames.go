package operator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/bench/fakeaws"
	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack"
)

// domain creates a hosted zone in which each of the fleet's namespaces can have the names below its own. It returns a
// function that builds a hostname request.
func (w *world) domain(ctx context.Context, f *fleet) (func(namespace string, i int) resource, error) {
	domain := f.namespaces[0] + ".example"
	zone, err := w.MakeZone(ctx, stack.Zone{Domain: domain})
	if err != nil {
		return nil, err
	}
	for _, namespace := range f.namespaces {
		err := w.Kube.Create(ctx, &v1alpha1.HostnameGrant{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.HostnameGrantName},
			Spec:       v1alpha1.HostnameGrantSpec{Suffixes: []string{namespace + "." + domain}, MaxHostnames: 1000},
		})
		if err != nil {
			return nil, fmt.Errorf("grant hostnames: %w", err)
		}
	}
	return func(namespace string, i int) resource {
		name := fmt.Sprintf("host-%04d", i)
		return &v1alpha1.GatewayHostnameRequest{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec: v1alpha1.GatewayHostnameRequestSpec{
				ProviderRef: v1alpha1.LocalRef{Name: stack.Provider}, ZoneID: v1alpha1.HostedZoneID(zone),
				Hostname: strings.Join([]string{name, namespace, domain}, "."),
			},
		}
	}, w.calm(ctx)
}

// simulatorsShare is the part of a duration that the simulator causes, not the operator.
const simulatorsShare = "the simulator takes 0.2 s to name the validation record, 0.3 s to issue, 0.3 s for each " +
	"DNS change"

// oneHostname creates hostnames one at a time, each once everything is at rest. The first also creates the load
// balancer.
func oneHostname(ctx context.Context, w *world, f *fleet, t *campaign.Results) error {
	const n = 10
	request, err := w.domain(ctx, f)
	if err != nil {
		return err
	}
	var took []time.Duration
	later := w.Proxy.Mark()
	for i := range n {
		began := time.Now()
		if err := f.create(ctx, []resource{request(f.namespaces[0], i)}); err != nil {
			return err
		}
		if err := f.allReady(ctx); err != nil {
			return err
		}
		took = append(took, time.Since(began))
		if err := w.calm(ctx); err != nil {
			return err
		}
		if i == 0 {
			t.Figure("the first: made → Ready", fmt.Sprintf("%.2f s", took[0].Seconds()),
				callsText(w.countsSince(later), 1))
			later = w.Proxy.Mark()
		}
	}
	t.Figure("each later one: made → Ready", fmt.Sprintf("%.2f s", campaign.Percentile(took[1:], 0.5).Seconds()),
		fmt.Sprintf("p50; slowest %.2f s; %s", slices.Max(took[1:]).Seconds(), simulatorsShare))
	calls(t, "AWS calls for each later one", w.countsSince(later), n-1, 0)
	return nil
}

// manyHostnames creates 200 hostnames at once, audits them when everything is at rest, and deletes them at once.
func manyHostnames(ctx context.Context, w *world, f *fleet, t *campaign.Results) error {
	const n = 200
	request, err := w.domain(ctx, f)
	if err != nil {
		return err
	}
	all, from := objects(f, n, request), w.Proxy.Mark()
	b, err := w.rise(ctx, f, all)
	if err != nil {
		w.tellTraffic(t, from, 0)
		return err
	}
	t.Figure("all Ready after", fmt.Sprintf("%.4g s", f.took().Seconds()),
		fmt.Sprintf("%s; %s", spread(f), simulatorsShare))
	calls(t, "AWS calls for each", b.calls, n, 0)
	w.tellTraffic(t, from, f.took())
	b.tell(t, n, 0)
	if b.peak.Known {
		t.Figure("operator's peak resident memory", fmt.Sprintf("%.0f MB", b.peak.Peak), "")
	}
	if err := w.tellGateways(ctx, t); err != nil {
		return err
	}
	if err := w.auditHostnames(ctx, all, t); err != nil {
		return err
	}
	from = w.Proxy.Mark()
	began := time.Now()
	if err := f.clear(ctx); err != nil {
		w.tellTraffic(t, from, 0)
		return err
	}
	took := time.Since(began)
	t.Figure("all deleted after", fmt.Sprintf("%.4g s", took.Seconds()), fmt.Sprintf("%.1f a second", n/took.Seconds()))
	calls(t, "AWS calls for each deletion", w.countsSince(from), n, 0)
	w.tellTraffic(t, from, took)
	return nil
}

// auditHostnames counts the cost of a pass over all hostnames: after a restart, when they share reads, and when no
// other read is cached, as with audits that are spread over an hour.
func (w *world) auditHostnames(ctx context.Context, all []resource, t *campaign.Results) error {
	from := w.Proxy.Mark()
	if err := w.relook(ctx, all, t); err != nil {
		return err
	}
	if err := campaign.Pause(ctx, remembered); err != nil {
		return err
	}
	writes, err := w.kubernetesWrites(ctx)
	if err != nil {
		return err
	}
	const every = 20 // one read returns the records of neighbouring hostnames, too
	alone, before, now := w.Proxy.Mark(), w.counts(), time.Now().Format(time.RFC3339Nano)
	n := 0
	for i := 0; i < len(all); i += every {
		n++
		if err := w.wake(ctx, all[i], now); err != nil {
			return err
		}
	}
	if err := w.lookedAtAll(ctx, before, n, describe); err != nil {
		return err
	}
	if err := w.calm(ctx); err != nil {
		return err
	}
	after, err := w.kubernetesWrites(ctx)
	if err != nil {
		return err
	}
	calls(t, "one audit: reads for each", w.countsSince(alone), n, 0)
	written := after.since(writes)
	written["PATCH gatewayhostnamerequests"] -= n // the annotations that requested the reconciles
	t.Goal("AWS writes at rest", float64(w.countsSince(from).Writes()), 0, "", "")
	t.Goal("Kubernetes writes at rest", float64(written.total()), 0, "", "")
	return nil
}

// describe is called once in each pass over a hostname.
const describe = "acm DescribeCertificate"

// relook restarts the operator, which then reconciles everything.
func (w *world) relook(ctx context.Context, all []resource, t *campaign.Results) error {
	if err := w.operator.Stop(); err != nil {
		return err
	}
	writes, err := w.kubernetesWrites(ctx)
	if err != nil {
		return err
	}
	began, from, before := time.Now(), w.Proxy.Mark(), w.counts()
	if err := w.startOperator(ctx); err != nil {
		return err
	}
	if err := w.lookedAtAll(ctx, before, len(all), describe); err != nil {
		return err
	}
	took := time.Since(began)
	if err := w.calm(ctx); err != nil {
		return err
	}
	after, err := w.kubernetesWrites(ctx)
	if err != nil {
		return err
	}
	t.Figure("restart: all looked at after", fmt.Sprintf("%.1f s", took.Seconds()),
		callsText(w.countsSince(from), len(all))+" calls for each")
	written := after.since(writes)
	t.Figure("Kubernetes writes of the restart", fmt.Sprint(written.total()), written.text(1)+
		" (an event tells who leads)")
	return nil
}

// remembered is longer than the operator caches reads.
const remembered = 65 * time.Second

func (w *world) wake(ctx context.Context, o resource, now string) error {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.AnnotationReconcileRequestedAt, now)
	return w.Kube.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(patch)))
}

// tellGateways reports how many hostnames each Gateway serves.
func (w *world) tellGateways(ctx context.Context, t *campaign.Results) error {
	list := &v1alpha1.GatewayHostnameRequestList{}
	if err := w.Kube.List(ctx, list); err != nil {
		return fmt.Errorf("list the hostnames: %w", err)
	}
	on := map[string]int{}
	for i := range list.Items {
		on[list.Items[i].Status.Gateway]++
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(on)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, on[name]))
	}
	t.Figure("Gateways used", fmt.Sprint(len(on)), "hostnames on each: "+strings.Join(parts, ", "))
	return nil
}

func (w *world) countsSince(m awsproxy.Mark) fakeaws.Counts {
	return countsOf(w.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator)))
}

func countsOf(calls []awsproxy.Call) fakeaws.Counts {
	all := fakeaws.Counts{}
	for _, c := range calls {
		name := c.Service + " " + c.Operation
		n := all[name]
		n.Calls++
		if c.ErrorCode != "" {
			n.Errors++
		}
		all[name] = n
	}
	return all
}

// tellTraffic reports how much of AWS's limits was used. took is the duration of the work, or 0 if unknown.
func (w *world) tellTraffic(t *campaign.Results, from awsproxy.Mark, took time.Duration) {
	calls := w.Proxy.CallsSince(from, awsproxy.By(awsproxy.Operator))
	var times []time.Time
	throttled := 0
	for _, c := range calls {
		if c.Service == "route53" {
			times = append(times, c.Time)
		}
		if strings.Contains(c.ErrorCode, "Throttling") {
			throttled++
		}
	}
	counts := countsOf(calls)
	t.Figure("requests to Route 53", fmt.Sprint(len(times)),
		fmt.Sprintf("%d of them change batches", counts["route53 ChangeResourceRecordSets"].Calls))
	t.Goal("in the busiest second", float64(campaign.Busiest(times)), 5, "", "")
	t.Figure("throttled answers", fmt.Sprint(throttled), "")
	if took == 0 {
		return
	}
	rates := cloud.DefaultRates()
	dns, certificates := float64(len(times))/rates["Route 53"], float64(counts.Of("acm").Total())/rates["ACM"]
	t.Figure("of the least that the rates allow", fmt.Sprintf("%.2f times", took.Seconds()/max(dns, certificates)),
		fmt.Sprintf("Route 53 %d / %g = %.0f s, ACM %d / %g = %.0f s", len(times), rates["Route 53"], dns,
			counts.Of("acm").Total(), rates["ACM"], certificates))
}
