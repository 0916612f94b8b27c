package hostname

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/pool"
)

// requestListener requests the certificate on the PoolGateway, whose reconciler alone writes to the load balancer, and
// waits until it is attached.
func (r *reconciliation) requestListener(ctx context.Context) (string, error) {
	s := &r.req.Status
	s.Certificate.Serve = true
	pg := &v1alpha1.PoolGateway{}
	found, err := engine.Find(ctx, r.Reader, client.ObjectKey{Namespace: r.Allocator.Namespace, Name: s.Gateway}, pg)
	if err != nil {
		return "", err
	}
	if !found {
		return "", engine.Blocked(v1alpha1.ReasonGatewayLost, "the PoolGateway %s, on which the hostname has its "+
			"place, is gone; ask a platform admin. A new request gets a new place", s.Gateway)
	}
	r.pool = pg
	s.ParentRef = pool.ParentRef(pg, s.Claim)
	if err := r.checkClosed(); err != nil {
		return "", err
	}
	return r.checkListener(ctx)
}

// checkClosed returns an error for the team if its routes have closed the hostname; it says how to open it.
func (r *reconciliation) checkClosed() error {
	for _, c := range r.pool.Status.Closed {
		if c.Claim != r.req.Status.Claim {
			continue
		}
		switch c.Reason {
		case v1alpha1.ReasonRouteUnsupported:
			return engine.Blocked(c.Reason, "%s does not answer, because the load balancer is shared and would stop "+
				"for all teams: %s. The hostname opens by itself when the route is changed or deleted", c.Hostname,
				c.Message)
		case v1alpha1.ReasonRouteSuspected:
			return engine.Blocked(c.Reason, "%s does not answer: %s. Undo the last change of its routes, or ask a "+
				"platform admin", c.Hostname, c.Message)
		}
		return engine.Blocked(v1alpha1.ReasonOverBudget, "%s does not answer: its routes need %s, and the load "+
			"balancer is shared. Merge or delete routes, or ask a platform admin to raise maxRules or "+
			"maxTargetGroups in the HostnameGrant of namespace %s. It opens by itself when they fit", c.Hostname,
			pool.Exceeds(c.Needs, c.Budget), r.req.Namespace)
	}
	return nil
}

// checkListener checks the status in Kubernetes and, because that may be out of date, what AWS shows. A hostname that
// was served counts as served while the load balancer controller cannot make changes, because then it removes nothing
// either.
func (r *reconciliation) checkListener(ctx context.Context) (string, error) {
	set := &gatewayv1.ListenerSet{}
	found, err := engine.Find(ctx, r.Reader, client.ObjectKey{Namespace: r.pool.Namespace, Name: r.req.Status.Claim},
		set)
	if err != nil {
		return "", err
	}
	if !found || !set.DeletionTimestamp.IsZero() {
		return "", r.waitForListener("its listener is being made")
	}
	if refused := listenerRefusal(set); refused != "" {
		return "", r.waitForListener("the load balancer controller refuses its listener: " + refused)
	}
	if !pool.HasCertificate(r.pool, r.req.Status.Certificate.ARN) {
		return "", r.waitForListener("its certificate is not on the load balancer yet")
	}
	if waits := r.pendingChanges(set); waits != "" && r.servedBefore() {
		return "served as before; changes wait: " + waits, nil
	} else if waits != "" {
		return "", r.waitForListener(waits)
	}
	return fmt.Sprintf("the load balancer of %s serves the certificate, and routes of the namespace %s may use it",
		r.pool.Name, r.req.Namespace), nil
}

// listenerConditions are the conditions that are True on a ListenerSet that is served.
var listenerConditions = []gatewayv1.ListenerSetConditionType{
	gatewayv1.ListenerSetConditionAccepted, gatewayv1.ListenerSetConditionProgrammed,
}

// listenerRefusal returns why the load balancer controller refuses the ListenerSet; "" if it does not.
func listenerRefusal(set *gatewayv1.ListenerSet) string {
	for _, kind := range listenerConditions {
		c := meta.FindStatusCondition(set.Status.Conditions, string(kind))
		if c != nil && c.ObservedGeneration == set.Generation && c.Status == metav1.ConditionFalse {
			return pool.Says(c)
		}
	}
	return ""
}

// pendingChanges returns what the load balancer controller has not applied yet; "" if it has applied everything.
func (r *reconciliation) pendingChanges(set *gatewayv1.ListenerSet) string {
	if c := meta.FindStatusCondition(r.pool.Status.Conditions, v1alpha1.StepProgrammed); c == nil ||
		c.Status != metav1.ConditionTrue {
		if c != nil && c.Reason == v1alpha1.ReasonChangesWait {
			return "the load balancer controller cannot change the load balancer that is shared. Platform admins see " +
				"why at the PoolGateway " + r.pool.Name
		}
		return "its Gateway is not programmed"
	}
	for _, kind := range listenerConditions {
		c := meta.FindStatusCondition(set.Status.Conditions, string(kind))
		if c == nil || c.ObservedGeneration != set.Generation || c.Status == metav1.ConditionUnknown {
			return "the load balancer controller has not taken up its listener yet"
		}
	}
	return ""
}

// servedBefore reports whether the hostname answered when last checked: its records point at the load balancer, and no
// check of its listener has failed since.
func (r *reconciliation) servedBefore() bool {
	was := meta.FindStatusCondition(r.req.Status.Conditions, v1alpha1.StepListenerAttached)
	return r.req.Status.LoadBalancer != "" && was != nil && was.Status != metav1.ConditionFalse
}

func (r *reconciliation) waitForListener(what string) error {
	return waitForPool(r.pool, v1alpha1.ReasonListenerPending, engine.WatchFallback, what)
}

// waitForPool returns a WaitError that says what is missing, and why the whole Gateway makes no progress, if it makes
// none. A Gateway that waits for its hostnames to be deleted still serves them.
func waitForPool(pg *v1alpha1.PoolGateway, reason string, again time.Duration, what string) error {
	if c := meta.FindStatusCondition(pg.Status.Conditions, v1alpha1.ConditionStalled); c != nil &&
		c.Reason != v1alpha1.ReasonInUse {
		return engine.Blocked(v1alpha1.ReasonGatewayFailed, "%s: the PoolGateway %s is stuck: %s", what, pg.Name,
			c.Message)
	}
	return engine.Wait(reason, again, "%s", what)
}

// releaseListener removes the hostname from the load balancer, and returns nil once AWS shows that. If the PoolGateway
// is gone, AWS itself refuses to delete a certificate in use.
func (r *reconciliation) releaseListener(ctx context.Context) error {
	c := r.req.Status.Certificate
	if c == nil {
		return nil
	}
	asked := c.Serve
	c.Serve = false // read by the PoolGateway's reconciler
	pg := &v1alpha1.PoolGateway{}
	if found, err := engine.Find(
		ctx, r.Reader, client.ObjectKey{Namespace: r.Allocator.Namespace, Name: r.req.Status.Gateway}, pg); !found {
		return err
	}
	found, err := engine.Find(ctx, r.Reader, client.ObjectKey{Namespace: pg.Namespace, Name: r.req.Status.Claim},
		&gatewayv1.ListenerSet{})
	if err != nil {
		return err
	}
	if found || slices.Contains(pg.Status.Attached, c.ARN) {
		return waitForPool(pg, v1alpha1.ReasonDetaching, engine.WatchFallback,
			"the hostname is being taken off the load "+
				"balancer of "+pg.Name)
	}
	if asked { // a PoolGateway pass that has not seen this may be running
		return engine.Wait(v1alpha1.ReasonDetaching, time.Second, "the hostname is being taken off the load "+
			"balancer of %s", pg.Name)
	}
	if c.ARN == "" { // lost, or not requested yet
		return nil
	}
	configured, err := pool.IsConfigured(ctx, r.Reader, pg, c.ARN)
	if err != nil {
		return fmt.Errorf("read the LoadBalancerConfiguration %s: %w", pg.Name, err)
	}
	if configured { // nothing watches this
		return waitForPool(pg, v1alpha1.ReasonDetaching, 2*time.Second, "the certificate is being taken out of the "+
			"configuration of "+pg.Name)
	}
	return nil
}
