package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/campaign"
)

func newWebApp(namespace string, i int) resource {
	a := &v1alpha1.WebApp{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("app-%04d", i)}}
	a.Spec.Image = "registry.example.com/shop:1.0.0"
	return a
}

// effort is the operator's work so far: reconciles of web apps, and requests to Kubernetes by method.
type effort struct {
	passes   float64
	requests map[string]float64
}

// methods are in the order of the report. A watch counts as a GET when it starts.
var methods = []string{"GET", "PATCH", "POST", "DELETE"}

func (w *world) effort(ctx context.Context) (effort, error) {
	all, err := w.operator.Samples(ctx)
	if err != nil {
		return effort{}, err
	}
	e := effort{requests: map[string]float64{}}
	e.passes = all.Sum("controller_runtime_reconcile_total", func(l map[string]string) bool {
		return l["controller"] == "webapp"
	})
	for _, m := range methods {
		e.requests[m] = all.Sum("rest_client_requests_total", func(l map[string]string) bool {
			return l["method"] == m
		})
	}
	return e, nil
}

// text returns the effort since before, divided by n.
func (e effort) text(before effort, n int) string {
	parts := []string{fmt.Sprintf("%.1f passes", (e.passes-before.passes)/float64(n))}
	for _, m := range methods {
		if d := e.requests[m] - before.requests[m]; d > 0 {
			parts = append(parts, fmt.Sprintf("%s %.2f", m, d/float64(n)))
		}
	}
	return strings.Join(parts, ", ")
}

// webApp measures the creation of a web app and an image change. Lease renewals are among the requests: they are PUTs,
// which methods leaves out.
func webApp(ctx context.Context, w *world, f *fleet, t *campaign.Results) error {
	const n = 20
	stages := []struct {
		name string
		do   func(context.Context, resource) error
		took []time.Duration
	}{
		{name: "made", do: func(ctx context.Context, app resource) error {
			if err := f.create(ctx, []resource{app}); err != nil {
				return err
			}
			return f.allReady(ctx)
		}},
		{name: "given another image", do: func(ctx context.Context, app resource) error { return w.reimage(ctx, app) }},
	}
	for i := range stages {
		before, err := w.effort(ctx)
		if err != nil {
			return err
		}
		for j := range n {
			began := time.Now()
			if err := stages[i].do(ctx, newWebApp(f.namespaces[0], j)); err != nil {
				return err
			}
			stages[i].took = append(stages[i].took, time.Since(began))
		}
		if err := w.calm(ctx); err != nil {
			return err
		}
		after, err := w.effort(ctx)
		if err != nil {
			return err
		}
		t.Figure(stages[i].name+" → Ready", fmt.Sprintf("%.2f s", campaign.Percentile(stages[i].took, 0.5).Seconds()),
			fmt.Sprintf("p50; slowest %.2f s; %s for each", slices.Max(stages[i].took).Seconds(),
				after.text(before, n)))
	}
	return nil
}

// reimage changes the image and waits until the app is Ready with it.
func (w *world) reimage(ctx context.Context, app resource) error {
	patch := client.RawPatch("application/merge-patch+json",
		[]byte(`{"spec":{"image":"registry.example.com/shop:2.0.0"}}`))
	if err := w.Kube.Patch(ctx, app, patch); err != nil {
		return err
	}
	return w.Until(ctx, poll/10, app.GetName()+" to be Ready again", func() error {
		if err := w.Kube.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
			return err
		}
		if s := app.Common(); !s.Ready || s.ObservedGeneration != app.GetGeneration() {
			return fmt.Errorf("its generation is %d, and %d was observed", app.GetGeneration(), s.ObservedGeneration)
		}
		return nil
	})
}

func webApps(ctx context.Context, w *world, f *fleet, t *campaign.Results) error {
	const n = 500
	before, err := w.effort(ctx)
	if err != nil {
		return err
	}
	b, err := w.rise(ctx, f, objects(f, n, newWebApp))
	if err != nil {
		return err
	}
	after, err := w.effort(ctx)
	if err != nil {
		return err
	}
	t.Figure("all Ready after", fmt.Sprintf("%.4g s", f.took().Seconds()),
		fmt.Sprintf("%.0f a second; %s", n/f.took().Seconds(), spread(f)))
	t.Figure("operator's work for each", after.text(before, n), "")
	b.tell(t, n, 0)
	if b.peak.Known {
		t.Figure("operator's peak resident memory", fmt.Sprintf("%.0f MB", b.peak.Peak), "")
	}
	return nil
}
