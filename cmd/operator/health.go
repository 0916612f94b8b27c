package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/config/check"
	"github.com/portico-platform/portico/config/check/metric"
)

const (
	// synced bounds the check whether the caches have synced: they are in memory.
	synced = 50 * time.Millisecond
	// probeTimeout bounds a probe, and drainProbes the last ones.
	probeTimeout = 5 * time.Second
	drainProbes  = time.Second
)

// health handles probes. It sends no requests: its data about the cluster is collected in the background.
type health struct {
	caches  func(context.Context) bool // whether the started caches have synced
	results func() []check.Result
	silence func() error // *silence.Error while the API server does not answer
}

// serveHealth adds to mgr the checks of the installation, and the server of probes.
func (f *flags) serveHealth(ctx context.Context, mgr ctrl.Manager) error {
	cluster, err := check.New(
		mgr.GetConfig(), check.Names{Namespace: f.controllers.Namespace, Gateways: f.controllers.Hostnames.Namespace})
	if err != nil {
		return err
	}
	log := slog.New(logr.ToSlogHandler(mgr.GetLogger().WithName("installation")))
	checks := []check.Check{{Name: "crds", Run: cluster.CRDs}, {Name: "policies", Run: cluster.Policies}}
	if people := f.controllers.People; people.Issuer != "" {
		verifier, err := identity.NewVerifier(people, f.controllers.Engine.Now)
		if err != nil {
			return err
		}
		provider := check.IdentityProvider(log, people.Issuer, verifier.Reach)
		provider.Warns = true // only actions on Secrets need it
		checks = append(checks, provider)
	}
	monitor := check.NewMonitor(log, checks...)
	monitor.Every = f.checkInterval
	if err := metrics.Registry.Register(metric.Problems(monitor)); err != nil {
		return fmt.Errorf("count problems of the installation: %w", err)
	}
	if err := mgr.Add(monitor); err != nil {
		return fmt.Errorf("watch the installation: %w", err)
	}
	if f.health == "" || f.health == "0" {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.health)
	if err != nil {
		return fmt.Errorf("--health-probe-bind-address: %w", err)
	}
	h := health{caches: mgr.GetCache().WaitForCacheSync, results: monitor.Results, silence: f.silence.Err}
	drain := drainProbes
	return mgr.Add(&manager.Server{Name: "health", Listener: l, ShutdownTimeout: &drain, Server: &http.Server{
		Handler: h.routes(), ReadHeaderTimeout: probeTimeout, ReadTimeout: probeTimeout, WriteTimeout: probeTimeout,
	}})
}

func (h health) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.HandleFunc("GET /readyz", h.ready)
	return mux
}

// ready responds as the API server does: with ?verbose, or if a check fails, with a line for each check. A problem that
// does not make the operator unready is reported after "ok".
func (h health) ready(w http.ResponseWriter, r *http.Request) {
	var lines strings.Builder
	line := func(name string, err error) (failed bool) {
		if err == nil {
			fmt.Fprintf(&lines, "[+]%s ok\n", name)
			return false
		}
		fmt.Fprintf(&lines, "[-]%s failed: %v\n", name, err)
		return true
	}
	bad := line("caches", h.cachesSynced(r.Context()))
	short := []string{"ok"}
	for _, result := range h.results() {
		err := h.failure(result)
		failed := line(result.Name, err)
		bad = bad || failed && !result.Warns
		if result.Warns && len(result.Problems) > 0 {
			short = append(short, err.Error())
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch {
	case bad:
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(&lines, "readyz check failed\n")
	case !r.URL.Query().Has("verbose"):
		lines.Reset()
		lines.WriteString(strings.Join(short, ", but "))
	}
	_, _ = io.WriteString(w, lines.String()) // the client has gone
}

func (h health) cachesSynced(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, synced)
	defer cancel()
	if h.caches(ctx) {
		return nil
	}
	return cmp.Or(h.silence(), errors.New("they are being filled"))
}

// failure returns why a check is not known to pass. It gives details of public checks only, because every client that
// reaches the port can read them. A check that could not look because the API server does not answer is no failure.
func (h health) failure(of check.Result) error {
	err := of.Failure()
	if err == nil || of.Public {
		return err
	}
	if silent := h.silence(); silent != nil && !of.Known {
		return silent
	}
	return errors.New("the log says what is wrong")
}
