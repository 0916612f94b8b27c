package controllers

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/config/check"
	"github.com/portico-platform/portico/controllers/hostname"
	"github.com/portico-platform/portico/controllers/webapp"
)

// Hostnames are the settings for hostnames.
type Hostnames struct {
	Namespace string // of the shared Gateways
	Class     string // the GatewayClass of requests without one
	// RetryInterval is how often the operator checks for the kinds of Gateway API while the cluster lacks them; 0: half
	// a minute.
	RetryInterval time.Duration
	// BatchWindow is how long the first change to a hosted zone waits for others; 0: a second.
	BatchWindow time.Duration
	// Patience is how long a shared load balancer may make no progress before a hostname is suspected; 0: three
	// minutes.
	Patience time.Duration
}

// Defaults of Hostnames.
const (
	DefaultGatewayNamespace = "portico-gateways"
	DefaultGatewayClass     = "alb"
	lookForKinds            = 30 * time.Second
	gatherChanges           = time.Second     // short compared with the minutes that a certificate takes
	standstill              = 3 * time.Minute // the load balancer controller applies a change within seconds
)

// setupHostnames starts the controllers of hostnames as soon as the cluster serves the kinds that they need: now or
// later. apps is the controller of WebApps, which own the routes.
func setupHostnames(ctx context.Context, mgr ctrl.Manager, d deps, o Options, apps controller.Controller) error {
	if err := hostname.Index(ctx, mgr); err != nil {
		return err
	}
	start := func() error {
		err := hostname.Setup(ctx, mgr, hostname.Options{
			Namespace: o.Namespace, Gateways: o.Hostnames.Namespace, Class: o.Hostnames.Class, Connector: d.connector,
			Engine:   o.Engine,
			Settling: d.scaled(settling), BatchWindow: o.Hostnames.BatchWindow, Patience: o.Hostnames.Patience,
		})
		if err != nil {
			return err
		}
		return webapp.WatchRoutes(mgr, apps)
	}
	g := &featureGate{
		feature: operatorapi.FeatureHostnames, needs: check.HostnameKinds(), mgr: mgr, every: o.Hostnames.RetryInterval,
		features: d.features, open: start,
	}
	open, err := g.try()
	if err != nil || open {
		return err
	}
	return mgr.Add(g)
}

// hostnamesOff returns why hostnames are unavailable in the cluster; empty if they are available.
func (d deps) hostnamesOff() string { return d.features.ReasonOff(operatorapi.FeatureHostnames) }
