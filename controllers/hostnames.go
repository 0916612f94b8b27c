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

// Hostnames is what a deployment decides about hostnames.
type Hostnames struct {
	Namespace string // of the pool's Gateways
	Class     string // the GatewayClass of requests that name none
	// RetryInterval is how often the kinds of Gateway API are looked for while the cluster lacks them; 0: half a
	// minute.
	RetryInterval time.Duration
	// BatchWindow is how long the first change of a hosted zone waits for others; 0: a second.
	BatchWindow time.Duration
	// Patience is how long a shared load balancer may stand still before a hostname is suspected; 0: three minutes.
	Patience time.Duration
}

// What holds where a deployment says nothing else.
const (
	DefaultGatewayNamespace = "portico-gateways"
	DefaultGatewayClass     = "alb"
	lookForKinds            = 30 * time.Second
	gatherChanges           = time.Second     // little beside the minutes that a certificate takes
	standstill              = 3 * time.Minute // the load balancer controller does a change within seconds
)

// setupHostnames makes the controllers of hostnames start as soon as the cluster has what they need: now, if it has.
// apps is the controller of web apps, which routes belong to.
func setupHostnames(ctx context.Context, mgr ctrl.Manager, d deps, o Options, apps controller.Controller) error {
	if err := hostname.Index(ctx, mgr); err != nil {
		return err
	}
	start := func() error {
		err := hostname.Setup(ctx, mgr, hostname.Options{
			Namespace: o.Namespace, Gateways: o.Hostnames.Namespace, Class: o.Hostnames.Class, Connector: d.connector, Engine: o.Engine,
			Settling: d.scaled(settling), BatchWindow: o.Hostnames.BatchWindow, Patience: o.Hostnames.Patience,
		})
		if err != nil {
			return err
		}
		return webapp.WatchRoutes(mgr, apps)
	}
	g := &featureGate{
		feature: operatorapi.FeatureHostnames, needs: check.HostnameKinds(), mgr: mgr, every: o.Hostnames.RetryInterval, features: d.features, open: start,
	}
	open, err := g.try()
	if err != nil || open {
		return err
	}
	return mgr.Add(g)
}

// hostnamesOff returns why the cluster gives no hostnames; empty, it does.
func (d deps) hostnamesOff() string { return d.features.ReasonOff(operatorapi.FeatureHostnames) }
