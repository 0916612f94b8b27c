package albsim

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// configFinalizer is on every LoadBalancerConfiguration that a Gateway of the controller names.
const configFinalizer = "gateway.k8s.aws/loadbalancerconfigurations"

// keepConfig sets the finalizer on the Gateway's configuration.
func (s *Simulator) keepConfig(ctx context.Context, w *world, t *topology) error {
	c := w.configs[configName(t)]
	if c == nil || !c.DeletionTimestamp.IsZero() {
		return nil
	}
	return s.setFinalizer(ctx, c, configFinalizer, true)
}

// releaseConfigs removes the finalizer from configurations that are being deleted and that no Gateway names any more.
func (s *Simulator) releaseConfigs(ctx context.Context, w *world) error {
	named := map[types.NamespacedName]bool{}
	for _, t := range w.gateways {
		named[configName(t)] = true
	}
	var errs []error
	for name, c := range w.configs {
		if !c.DeletionTimestamp.IsZero() && !named[name] && controllerutil.ContainsFinalizer(c, configFinalizer) {
			errs = append(errs, ignoreRace(s.setFinalizer(ctx, c, configFinalizer, false)))
		}
	}
	return errors.Join(errs...)
}

func configName(t *topology) types.NamespacedName {
	name := types.NamespacedName{Namespace: t.gateway.Namespace}
	if i := t.gateway.Spec.Infrastructure; i != nil && i.ParametersRef != nil {
		name.Name = i.ParametersRef.Name
	}
	return name
}
