// Command operator reconciles Portico's custom resources.
//
//go:debug x509usefallbackroots=1
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	crconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/portico-platform/portico/api/authz"
	"github.com/portico-platform/portico/api/tracing"
	"github.com/portico-platform/portico/api/version"
	"github.com/portico-platform/portico/cmd/internal/program"
	"github.com/portico-platform/portico/cmd/internal/traces"
	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/controllers/fair"
)

func main() {
	program.KeepHeapSmall()
	program.Main("operator", run)
}

// run runs the operator until ctx ends, or until the first error.
func run(ctx context.Context, args []string, env func(string) string, out, logs io.Writer) error {
	f, err := parse(args, env, logs)
	if err != nil {
		return err
	}
	if f.version {
		_, err := fmt.Fprintln(out, "operator", version.Get())
		return err
	}
	handler := program.Logs(f.development, logs)
	if err := program.Trust(f.caFile, slog.New(handler)); err != nil {
		return err
	}
	ctrl.SetLogger(logr.FromSlogHandler(handler))
	stop, err := traces.Start(ctx, "portico-operator", env, slog.New(handler))
	if err != nil {
		return err
	}
	defer stop()
	cfg, err := f.restConfig()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(cfg, f.manager())
	if err != nil {
		return fmt.Errorf("connect to Kubernetes: %w", err)
	}
	if err := controllers.Setup(ctx, mgr, f.controllers); err != nil {
		return err
	}
	if err := f.serveHealth(ctx, mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func (f *flags) manager() ctrl.Options {
	graceful, warm := 30*time.Second, true
	return ctrl.Options{
		Scheme:                        controllers.Scheme(),
		Cache:                         controllers.Cache(f.controllers.Namespace),
		Client:                        controllers.Client(),
		Metrics:                       f.metricsServer(),
		HealthProbeBindAddress:        "0",                                      // see serveHealth
		Controller:                    crconfig.Controller{EnableWarmup: &warm}, // a standby replica has warm caches
		LeaderElection:                f.leaderElect,
		LeaderElectionID:              "portico-operator",
		LeaderElectionNamespace:       f.controllers.Namespace,
		LeaderElectionReleaseOnCancel: true, // the process ends when the manager does, so a successor may start at once
		LeaseDuration:                 &f.lease.duration,
		RenewDeadline:                 &f.lease.deadline,
		RetryPeriod:                   &f.lease.retry,
		GracefulShutdownTimeout:       &graceful,
	}
}

// metricsServer returns the server of metrics: open or, if metrics are secure, for callers with the right to get
// /metrics. controller-runtime's filter for that would add the libraries of an API server: 250 packages.
func (f *flags) metricsServer() server.Options {
	o := server.Options{BindAddress: f.metrics}
	if !f.metricsSecure {
		return o
	}
	o.SecureServing = true
	o.CertDir = "/nowhere" // without files, each process generates its own certificate
	o.FilterProvider = func(cfg *rest.Config, _ *http.Client) (server.Filter, error) {
		readers, err := authz.For(cfg, "", f.controllers.Engine.Now)
		return func(_ logr.Logger, h http.Handler) (http.Handler, error) { return readers.Over(h), nil }, err
	}
	return o
}

func (f *flags) restConfig() (*rest.Config, error) {
	cfg, err := program.Cluster(f.kubeconfig)
	if err != nil {
		return nil, err
	}
	cfg.QPS = -1 // the default, 5 requests a second, is too low; the API server's priority and fairness limits us
	cfg.UserAgent = "portico-operator"
	cfg.Wrap(f.silence.Transport) // below the slots: waiting for one says nothing about the API server
	cfg.Wrap(fair.NewSlots(f.apiWrites, f.controllers.Engine.Now).Transport)
	cfg.Wrap(tracing.Transport)
	return cfg, nil
}
