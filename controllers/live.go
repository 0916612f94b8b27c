package controllers

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/inspect"
)

// setupInspect adds the server that shows what the engine remembers, unless it is switched off.
func setupInspect(mgr ctrl.Manager, d deps, o Options) error {
	if o.Inspect.Off() {
		return nil
	}
	o.Inspect.Namespace = o.Namespace
	server, err := inspect.New(mgr.GetConfig(), o.Inspect, inspect.Source{
		Records: o.Engine.Records, Live: liveOf(mgr.GetClient(), d), Features: d.features,
		Metrics: metrics.Registry, Now: o.Engine.Now,
	})
	if err != nil {
		return err
	}
	return mgr.Add(server)
}

// liveOf reads live values by the rows of the table of kinds.
func liveOf(cached client.Reader, d deps) inspect.Live {
	return func(ctx context.Context, name string, of types.NamespacedName) (map[string]string, error) {
		k, ok := kinds[name]
		if !ok || !k.moves {
			return nil, nil
		}
		obj := k.object.DeepCopyObject().(external.Object)
		if err := cached.Get(ctx, of, obj); err != nil {
			if client.IgnoreNotFound(err) == nil {
				return nil, nil // it has just gone
			}
			return nil, fmt.Errorf("read %s %s: %w", name, of, err)
		}
		return k.live(ctx, d, name, obj)
	}
}
