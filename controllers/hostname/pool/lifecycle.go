package pool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

func compareMembers(a, b member) int {
	return cmp.Or(cmp.Compare(a.hostname, b.hostname), cmp.Compare(a.claim, b.claim))
}

// ensureHostnames creates the Gateway and its objects, in this order: a hostname that leaves loses its routing before
// its certificate; one that joins gets its certificate before its routing.
func (r *reconciliation) ensureHostnames(ctx context.Context) (string, error) {
	if len(r.members) == 0 {
		return r.deleteIdle(ctx)
	}
	have, err := r.readConfiguration(ctx)
	if err != nil {
		return "", err
	}
	if err := r.deleteListenerSets(ctx); err != nil {
		return "", err
	}
	if len(r.members) == 0 { // the cache was behind
		return r.deleteIdle(ctx)
	}
	if err := r.checkRoutes(ctx); err != nil {
		return "", err
	}
	if err := r.attachCertificates(ctx, have); err != nil {
		return "", err
	}
	if err := r.objects.Apply(ctx, gateway(r.pg), &r.gateway); err != nil {
		return "", err
	}
	for _, want := range []any{redirect(r.pg), keeper(r.pg)} {
		if err := r.objects.Apply(ctx, want, &gatewayv1.HTTPRoute{}); err != nil {
			return "", err
		}
	}
	r.sets = map[string]*gatewayv1.ListenerSet{}
	for _, m := range r.members {
		r.sets[m.claim] = &gatewayv1.ListenerSet{}
		if err := r.objects.Apply(ctx, listenerSet(r.pg, m, r.closed[m.claim]), r.sets[m.claim]); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d of %d places are served", len(r.members)-len(r.closed), v1alpha1.PoolHostnames), nil
}

// deleteListenerSets deletes the ListenerSets of hostnames that are no longer members.
func (r *reconciliation) deleteListenerSets(ctx context.Context) error {
	list := &gatewayv1.ListenerSetList{}
	if err := r.Applier.Client.List(ctx, list, client.InNamespace(r.pg.Namespace)); err != nil {
		return fmt.Errorf("list the ListenerSets of %s: %w", r.pg.Name, err)
	}
	wanted, checked := r.claims(), false
	for i := range list.Items {
		one := &list.Items[i]
		if !metav1.IsControlledBy(one, r.pg) || wanted[one.Name] {
			continue
		}
		if !checked { // the cache may not show yet that it is wanted
			var err error
			if r.members, err = r.readMembers(ctx, r.Applier.APIReader); err != nil {
				return err
			}
			wanted, checked = r.claims(), true
		}
		if wanted[one.Name] {
			continue
		}
		if err := r.objects.Delete(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

func (r *reconciliation) claims() map[string]bool {
	all := map[string]bool{}
	for _, m := range r.members {
		all[m.claim] = true
	}
	return all
}

// deleteIdle tears down a load balancer without hostnames: it costs money, and cannot exist without a certificate.
func (r *reconciliation) deleteIdle(ctx context.Context) (string, error) {
	there, err := r.exists(ctx)
	if err != nil {
		return "", err
	}
	r.pg.Status.Closed = nil
	r.pass.RemoveCondition(ConditionBudget)
	r.pass.RemoveCondition(ConditionRoutes)
	if !there {
		return r.deleteUnused(ctx, "no hostname is served yet")
	}
	all, err := r.listRequests(ctx, r.Applier.APIReader)
	if err != nil {
		return "", err
	}
	if len(membersOf(all)) > 0 {
		return "", engine.Wait(v1alpha1.ReasonSettling, time.Second, "a hostname has come that the cache does not "+
			"show yet")
	}
	if slices.ContainsFunc(all, hasAlias) {
		return "", engine.Wait(v1alpha1.ReasonInUse, engine.WatchFallback,
			"the records of a hostname lead to this load "+
				"balancer, which stays until the hostname has another certificate or its records are gone")
	}
	text, err := r.tearDown(ctx)
	if err != nil {
		return "", err
	}
	return r.deleteUnused(ctx, text)
}

// deleteUnused deletes the PoolGateway if no claim uses it; the next hostname gets a new one.
func (r *reconciliation) deleteUnused(ctx context.Context, text string) (string, error) {
	if r.pg.Status.Hostnames > 0 || !r.pg.DeletionTimestamp.IsZero() {
		return text, nil
	}
	if left := r.MinAge - r.Now().Sub(r.pg.CreationTimestamp.Time); left > 0 {
		return "", engine.Wait(v1alpha1.ReasonIdle, left, "no hostname has a place on this Gateway, which is removed")
	}
	if err := r.DeleteUnused(ctx, r.pg); err != nil {
		return "", fmt.Errorf("remove the PoolGateway %s, which serves nothing: %w", r.pg.Name, err)
	}
	return text, nil
}

// hasAlias reports whether a hostname's records point at the load balancer, even if its certificate is lost.
func hasAlias(r v1alpha1.GatewayHostnameRequest) bool { return r.Status.LoadBalancer != "" }

// exists reports whether any object of the load balancer exists.
func (r *reconciliation) exists(ctx context.Context) (bool, error) {
	for _, obj := range []client.Object{&gatewayv1.Gateway{}, &albconfig.LoadBalancerConfiguration{}} {
		err := r.Applier.Client.Get(ctx, r.objects.Key(r.pg.Name), obj)
		if err == nil {
			return true, nil
		}
		if !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("look for the Gateway %s: %w", r.pg.Name, err)
		}
	}
	return false, nil
}

// tearDown deletes everything; the configuration last, because the controller needs it until the end. The aliases are
// already gone.
func (r *reconciliation) tearDown(ctx context.Context) (string, error) {
	r.members = nil
	if err := r.deleteListenerSets(ctx); err != nil {
		return "", err
	}
	for _, name := range []string{"keeper", "redirect"} {
		if err := r.objects.Delete(
			ctx, &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Name: r.pg.Name + "-" + name}}); err != nil {
			return "", err
		}
	}
	g := &gatewayv1.Gateway{ObjectMeta: metav1.ObjectMeta{Name: r.pg.Name}}
	if err := r.objects.Delete(ctx, g); err != nil {
		return "", err
	}
	err := r.Applier.APIReader.Get(ctx, r.objects.Key(r.pg.Name), g)
	if err == nil {
		return "", r.waitForDeletion(ctx)
	}
	if !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("look for the Gateway %s: %w", r.pg.Name, err)
	}
	config := &albconfig.LoadBalancerConfiguration{ObjectMeta: metav1.ObjectMeta{Name: r.pg.Name}}
	if err := r.objects.Delete(ctx, config); err != nil {
		return "", err
	}
	r.gateway = gatewayv1.Gateway{}
	return "no hostname is served", nil
}

// waitForDeletion returns what the deletion of the Gateway waits for: without its class no controller deletes the load
// balancer.
func (r *reconciliation) waitForDeletion(ctx context.Context) error {
	if wait, ok := engine.AsWait(r.Classes.Check(ctx, r.pg.Spec.GatewayClass)); ok && wait.Stalled {
		return engine.Blocked(wait.Reason, "the load balancer serves no hostname and cannot be deleted without its "+
			"class: %w", wait.Err)
	}
	return engine.Wait(v1alpha1.ReasonWaitingForDeletion, 5*time.Second, "the load balancer serves no hostname and "+
		"is being deleted")
}

// checkProgrammed checks the Gateway's conditions at its current generation. A failing load balancer controller removes
// nothing, so hostnames that were served stay served.
func (r *reconciliation) checkProgrammed(context.Context) (string, error) {
	if len(r.members) == 0 {
		return "nothing to program", nil
	}
	g := &r.gateway
	for _, kind := range []gatewayv1.GatewayConditionType{
		gatewayv1.GatewayConditionAccepted, gatewayv1.GatewayConditionProgrammed,
	} {
		c := meta.FindStatusCondition(g.Status.Conditions, string(kind))
		switch {
		case c == nil, c.ObservedGeneration != g.Generation, c.Status == metav1.ConditionUnknown:
			r.unseen = c != nil && c.Status == metav1.ConditionUnknown // AWS is creating the load balancer
			return "", engine.Wait(v1alpha1.ReasonGatewayPending, engine.WatchFallback,
				"the load balancer controller has not taken up the Gateway yet")
		case c.Status != metav1.ConditionTrue:
			return "", r.controllerRefusal(c)
		}
	}
	if len(g.Status.Addresses) == 0 {
		return "", engine.Wait(v1alpha1.ReasonGatewayPending, engine.WatchFallback, "the Gateway has no address yet")
	}
	return "the load balancer controller has done its part", nil
}

// controllerRefusal returns the load balancer controller's message for a Gateway that it cannot reconcile.
func (r *reconciliation) controllerRefusal(c *metav1.Condition) error {
	says := fmt.Sprintf("the load balancer controller says %s; kubectl describe gateway %s -n %s has its events",
		Says(c), r.pg.Name, r.pg.Namespace)
	if s := &r.pg.Status; s.LoadBalancer != nil && len(s.Attached) > 0 {
		return engine.Wait(v1alpha1.ReasonChangesWait, engine.WatchFallback,
			"what was served is served as before; changes "+
				"wait: %s", says)
	}
	return engine.Wait(v1alpha1.ReasonGatewayFailed, engine.WatchFallback, "%s", says)
}

// Says formats a condition as part of a sentence: "Invalid: too many rules". The message may be empty, or a full
// sentence.
func Says(c *metav1.Condition) string {
	message := strings.TrimRight(strings.TrimSpace(c.Message), ".")
	if message == "" {
		return c.Reason
	}
	return c.Reason + ": " + message
}

// address returns the load balancer's DNS name.
func (r *reconciliation) address() string {
	if len(r.gateway.Status.Addresses) == 0 {
		return ""
	}
	return r.gateway.Status.Addresses[0].Value
}
