package pool

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

// ClassChecker checks GatewayClasses.
type ClassChecker struct {
	Reader    client.Reader // cached
	APIReader client.Reader
}

// Check returns a WaitError unless load balancers of the class use Portico's configuration.
func (c ClassChecker) Check(ctx context.Context, name string) error {
	class := &gatewayv1.GatewayClass{}
	found, err := engine.Find(ctx, c.Reader, client.ObjectKey{Name: name}, class)
	switch {
	case err != nil:
		return err
	case !found:
		return engine.Blocked(v1alpha1.ReasonClassNotFound, "there is no GatewayClass %s; ask a platform admin to "+
			"create it, or to name another one by the operator's --gateway-class", name)
	case class.Spec.ControllerName != albconfig.ControllerName:
		return engine.Blocked(v1alpha1.ReasonClassOfAnother, "the GatewayClass %s is run by %s, and Portico knows "+
			"load balancers of %s only", name, class.Spec.ControllerName, albconfig.ControllerName)
	}
	return c.checkOverrides(ctx, class)
}

// checkOverrides refuses a class whose configuration takes precedence over ours: certificates would be silently
// ignored.
func (c ClassChecker) checkOverrides(ctx context.Context, class *gatewayv1.GatewayClass) error {
	ref := class.Spec.ParametersRef
	if ref == nil || string(ref.Group) != albconfig.GroupVersion.Group || ref.Namespace == nil {
		return nil
	}
	config := &albconfig.LoadBalancerConfiguration{}
	err := c.APIReader.Get(ctx, client.ObjectKey{Namespace: string(*ref.Namespace), Name: ref.Name}, config)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the LoadBalancerConfiguration %s of the GatewayClass %s: %w", ref.Name, class.Name, err)
	}
	if config.Spec.MergingMode != albconfig.PreferGateway &&
		(config.Spec.Scheme != "" || len(config.Spec.ListenerConfigurations) > 0) {
		return engine.Blocked(v1alpha1.ReasonClassOverrides, "the LoadBalancerConfiguration %s/%s of the "+
			"GatewayClass %s sets a scheme or listeners and wins over those of its Gateways: set its mergingMode to "+
			"%s, or take them out of it", config.Namespace, config.Name, class.Name, albconfig.PreferGateway)
	}
	return nil
}
