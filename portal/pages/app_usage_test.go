package pages

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/pods"
)

// measuredShop returns an application whose Pods have requests and usage.
func measuredShop(tb testing.TB) *fakeCluster {
	tb.Helper()
	f := shopSite(tb)
	use := func(cpu, memory string) pods.Usage {
		return pods.Usage{CPU: resource.MustParse(cpu), Memory: resource.MustParse(memory)}
	}
	f.usage = map[string]pods.Usage{"shop-7f8-b": use("1200m", "1000Mi"), "shop-5d9-a": use("35400000n", "96Mi")}
	for _, p := range f.pods {
		p.Spec.Containers[0].Resources = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("256Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		}
		p.Spec.Containers = p.Spec.Containers[:1]
	}
	return f
}

func TestWhatAnApplicationUses(t *testing.T) {
	html := mainOf(t, visit(t, measuredShop(t), developer, atShop).Body.String())
	for what, want := range map[string]string{
		"the CPU of all":    "<b>1.24 cores</b> <span class=\"dim\">of 1 core reserved</span>",
		"the memory of all": "<b>1.07 GiB</b> <span class=\"dim\">of 2 GiB limit</span>",
		"that of one":       "<b>36m</b> <span class=\"hush\">of 500m reserved</span>",
		"memory that is almost gone": "<progress class=\"full\" title=\"Memory: 1000 MiB of 1 GiB limit\" " +
			"max=\"100\" value=\"97\" aria-label=\"Memory of 1 GiB limit\">",
		"more CPU than is reserved": "max=\"100\" value=\"100\" aria-label=\"CPU of 500m reserved\">",
		"the version":               "1.4.2 still runs",
		"the copies":                "<b>2 of 3</b> ready",
		"the last crash":            "Exit code 1.",
		"its log":                   `href="/teams/payments/webapps/shop/logs?pod=shop-7f8-b"`,
		"the tab":                   `href="/teams/payments/webapps/shop/logs">`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("%s: no %q", what, want)
		}
	}
}

func TestWhyThereAreNoFigures(t *testing.T) {
	for want, c := range map[string]struct {
		usage map[string]pods.Usage
		err   error
	}{
		"No usage figures: the cluster has no metrics server.":                         {nil, pods.ErrNoMetrics},
		"The figures are being read.":                                                  {nil, pods.ErrNoUsageYet},
		"your role lacks the right to get pods.metrics.k8s.io":                         {nil, &failure.ForbiddenError{Verb: "get", Resource: "pods.metrics.k8s.io"}},
		"No usage figures just now: the cluster&#39;s metrics server does not answer.": {nil, &failure.UnavailableError{Doing: "s3cret", Cause: errors.New("s3cret")}},
		"No usage figures yet: the first ones take a minute.":                          {map[string]pods.Usage{}, nil},
	} {
		f := shopSite(t)
		f.usage, f.noUsage = c.usage, c.err
		w := visit(t, f, developer, atShop)
		answers(t, w, http.StatusOK, want, `class="gauge"`)
		reads(t, w.Body.String(), "", "s3cret")
		if n := strings.Count(w.Body.String(), want); n != 1 {
			t.Errorf("%q is there %d times, want once", want, n)
		}
	}
	f := shopSite(t)
	f.pods = nil
	if html := visit(t, f, developer, atShop).Body.String(); strings.Contains(html, "CPU and memory") {
		t.Error("where nothing runs the page speaks of figures")
	}
}

func TestStepsFoldOnceAllAreDone(t *testing.T) {
	for path, folded := range map[string]bool{
		"/teams/payments/s3buckets/invoices": true, "/teams/payments/s3buckets/ledger-archive": false,
		"/teams/payments/s3buckets/import-tmp": false,
	} {
		html := visit(t, busySite(t), developer, path).Body.String()
		if got := !strings.Contains(html, `<details id="progress" class="card steps-fold" open>`); got != folded ||
			strings.Contains(html, "All steps done") != folded || !strings.Contains(html, `<ol class="steps">`) {
			t.Errorf("%s: folded %v, want %v", path, got, folded)
		}
	}
}
