package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/controllers/hostname/albconfig"
	"github.com/portico-platform/portico/controllers/inspect"
)

// featureOn tells of parts of the operator that need kinds of others.
var featureOn = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "portico_feature_on",
	Help: "1 while a part of the operator runs, 0 while the cluster lacks the kinds that it needs.",
}, []string{"feature"})

func init() { //nolint:gochecknoinits // metrics are registered once for the process, as controller-runtime does
	metrics.Registry.MustRegister(featureOn)
}

// gate starts a part of the operator when the cluster serves the kinds that it needs. It implements manager.Runnable.
type gate struct {
	feature string
	needs   []schema.GroupVersionKind
	mgr     ctrl.Manager
	every   time.Duration
	open    func(context.Context) error
	tell    *inspect.Features
}

var gatewayGroup = schema.GroupVersion{Group: gatewayv1.GroupVersion.Group, Version: gatewayv1.GroupVersion.Version}

// hostnameNeeds are kinds of Gateway API (1.5 and later, for ListenerSet) and of the AWS Load Balancer Controller.
func hostnameNeeds() []schema.GroupVersionKind {
	var all []schema.GroupVersionKind
	for _, kind := range []string{"Gateway", "GatewayClass", "HTTPRoute", "ListenerSet"} {
		all = append(all, gatewayGroup.WithKind(kind))
	}
	return append(all, albconfig.GroupVersion.WithKind("LoadBalancerConfiguration"))
}

// Start implements manager.Runnable.
func (g *gate) Start(ctx context.Context) error {
	logger := g.mgr.GetLogger().WithValues("feature", g.feature)
	tick := time.NewTicker(g.every)
	defer tick.Stop()
	for said := ""; ; {
		missing, err := g.missing()
		switch {
		case err != nil:
			logger.Error(err, "look for the kinds that a feature needs; Portico tries again")
		case missing == "":
			featureOn.WithLabelValues(g.feature).Set(1)
			g.tell.Set(g.feature, "")
			logger.Info("the feature is on")
			return g.open(ctx)
		case missing != said:
			said = missing
			featureOn.WithLabelValues(g.feature).Set(0)
			g.tell.Set(g.feature, "the cluster lacks "+missing)
			logger.Info("the feature is off until the cluster has the kinds that it needs; everything else works", "missing", missing)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// missing names the kinds that the cluster does not serve.
func (g *gate) missing() (string, error) {
	var all []string
	for _, gvk := range g.needs {
		_, err := g.mgr.GetRESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
		switch {
		case meta.IsNoMatchError(err):
			all = append(all, gvk.Kind+" of "+gvk.GroupVersion().String())
		case err != nil:
			return "", fmt.Errorf("look for %s: %w", gvk, err)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", "), nil
}
