// Command portal serves Portico's pages and its REST API.
//
//go:debug x509usefallbackroots=1
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/portico-platform/portico/api/version"
	"github.com/portico-platform/portico/cmd/internal/program"
	"github.com/portico-platform/portico/cmd/internal/traces"
	"github.com/portico-platform/portico/config/check"
	"github.com/portico-platform/portico/config/check/metric"
	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/pages"
	"github.com/portico-platform/portico/web"
)

func main() {
	program.KeepHeapSmall()
	program.Main("portal", run)
}

// run runs the portal until ctx ends, or the first error.
func run(ctx context.Context, args []string, env func(string) string, out, logs io.Writer) error {
	f, err := parse(args, env, logs)
	if err != nil {
		return err
	}
	if f.version {
		_, err := fmt.Fprintln(out, "portal", version.Get())
		return err
	}
	log := slog.New(program.Logs(f.development, logs))
	if err := program.Trust(f.caFile, log); err != nil {
		return err
	}
	if f.oidc.check {
		return f.lookAtProvider(ctx, os.Stdin, out)
	}
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	klog.SetSlogLogger(log)
	stop, err := traces.Start(ctx, "portico-portal", env, log)
	if err != nil {
		return err
	}
	defer stop()
	return f.serve(ctx, log)
}

// serve serves until ctx ends, or until a required part fails.
func (f *flags) serve(ctx context.Context, log *slog.Logger) error {
	p, err := f.parts(log)
	if err != nil {
		return err
	}
	handler, err := f.handler(p)
	if err != nil {
		return err
	}
	listeners, err := f.bind(ctx)
	if err != nil {
		return err
	}
	metrics, err := f.metricsHandler()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	behind, end := context.WithCancel(context.WithoutCancel(ctx)) // lasts until the last requests have ended
	defer end()
	for _, run := range []func(context.Context) error{
		p.cluster.Run, p.installation.Start, p.provider.Watch, listeners.watchCertificate,
	} {
		group.Go(func() error { return run(behind) })
	}
	group.Go(func() error {
		defer end()
		ready := func() error { return cmp.Or(p.cluster.Ready(), p.installation.Failure()) }
		return portal.Serve(ctx, listeners.pages, portal.Count(handler, ready), f.leave, log)
	})
	if listeners.metrics != nil {
		crmetrics.Registry.MustRegister(metric.Problems(p.installation))
		group.Go(func() error { return portal.Serve(behind, listeners.metrics, metrics, 0, log) })
	}
	log.Info("serving", "address", listeners.pages.Addr().String(), "publicURL", f.auth.PublicURL)
	return group.Wait()
}

func (f *flags) cluster(log *slog.Logger) (*cluster.Cluster, error) {
	cfg, err := program.Cluster(f.kubeconfig)
	if err != nil {
		return nil, err
	}
	return cluster.New(cfg, cluster.Options{
		Impersonator: f.impersonator, Namespace: f.namespace,
		Prefix: f.auth.Prefix, AskEverywhere: f.everywhere, Log: log,
	})
}

// installation checks the cluster regularly, and counts what is missing.
func (f *flags) installation(p parts) (*check.Monitor, error) {
	cfg, err := program.Cluster(f.kubeconfig)
	if err != nil {
		return nil, err
	}
	cfg.UserAgent = "portico-portal"
	cluster, err := check.New(cfg, check.Names{Namespace: f.namespace})
	if err != nil {
		return nil, err
	}
	m := check.NewMonitor(p.log, check.Check{Name: "crds", Run: cluster.CRDs},
		check.Check{Name: "impersonation", Run: p.cluster.CheckImpersonation()},
		check.IdentityProvider(p.log, f.auth.IssuerURL, p.provider.Reach))
	m.Every = f.look
	return m, nil
}

// parts are the parts of the handler.
type parts struct {
	cluster      *cluster.Cluster
	provider     *auth.Provider
	installation *check.Monitor
	log          *slog.Logger
}

func (f *flags) parts(log *slog.Logger) (p parts, err error) {
	p.log = log
	if p.cluster, err = f.cluster(log); err != nil {
		return p, err
	}
	if p.provider, err = auth.NewProvider(f.auth, clock.RealClock{}.Now); err != nil {
		return p, err
	}
	p.installation, err = f.installation(p)
	return p, err
}

func (f *flags) handler(p parts) (http.Handler, error) {
	now := clock.RealClock{}
	keys, err := auth.NewSessionKeys(f.sessionKeys, now.Now, p.log)
	if err != nil {
		return nil, err
	}
	return portal.New(portal.Parts{
		Cluster: p.cluster, Provider: p.provider, Keys: keys, Life: f.life,
		Pages: pages.New(p.cluster, f.reach(p.provider), p.log).Watching(p.provider.Outage).Naming(
			f.oidc.groupNames),
		Installation: p.installation,
		Assets:       http.HandlerFunc(web.Assets), Clock: now, Log: p.log,
		Rate: f.rate, Proxies: f.proxies,
	})
}
