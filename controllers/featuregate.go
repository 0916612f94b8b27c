package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/portico-platform/portico/controllers/operatorapi"
)

// featureGate starts a part of the operator once the cluster serves the kinds that it needs. It implements
// manager.Runnable.
type featureGate struct {
	feature  string
	needs    []schema.GroupVersionKind
	mgr      ctrl.Manager
	every    time.Duration
	open     func() error
	features *operatorapi.Features
	reported string
}

// NeedLeaderElection returns false: standby replicas fill the caches of the feature too.
func (g *featureGate) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (g *featureGate) Start(ctx context.Context) error {
	tick := time.NewTicker(g.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		open, err := g.try()
		if open {
			return err
		}
		if err != nil {
			g.mgr.GetLogger().Error(err, "start a feature; Portico tries again", "feature", g.feature)
		}
	}
}

// try opens the gate if no kind is missing. It logs missing kinds once.
func (g *featureGate) try() (open bool, err error) {
	missing, err := g.missing()
	if err != nil {
		return false, err
	}
	logger := g.mgr.GetLogger().WithValues("feature", g.feature)
	if missing == "" {
		if err := g.open(); err != nil {
			return true, err // a second registration would fail, so no retry
		}
		featureOn.WithLabelValues(g.feature).Set(1)
		g.features.Set(g.feature, "")
		logger.Info("the feature is on")
		return true, nil
	}
	if missing != g.reported {
		g.reported = missing
		featureOn.WithLabelValues(g.feature).Set(0)
		g.features.Set(g.feature, "the cluster lacks "+missing)
		logger.Info("the feature is off until the cluster has the kinds that it needs; everything else works",
			"missing", missing)
	}
	return false, nil
}

// missing returns the kinds that the cluster does not serve, joined with commas.
func (g *featureGate) missing() (string, error) {
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
