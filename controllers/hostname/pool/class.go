package pool

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

// ClassPublicPort is the annotation of a GatewayClass for the port at which clients reach port 443 of its load
// balancers.
const ClassPublicPort = "portico.dev/public-port"

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

// PublicPort returns the port of the URLs of a class's hostnames; 0 is 443. problem is what is wrong with the class's
// annotation: hostnames are served all the same.
func (c ClassChecker) PublicPort(ctx context.Context, name string) (port int32, problem string, err error) {
	class := &gatewayv1.GatewayClass{}
	if found, err := engine.Find(ctx, c.Reader, client.ObjectKey{Name: name}, class); err != nil || !found {
		return 0, "", err
	}
	value := class.Annotations[ClassPublicPort]
	number, err := strconv.ParseUint(cmp.Or(value, "443"), 10, 16)
	if err != nil {
		number = 0
	}
	switch number {
	case 0:
		return 0, fmt.Sprintf("; its annotation %s is %.32q, which is no port from 1 to 65535, so that URLs have none",
			ClassPublicPort, value), nil
	case 443:
		return 0, "", nil
	}
	return int32(number), "", nil
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
