// Package pool manages the shared load balancers: a PoolGateway for each, and for it the Gateway, its configuration,
// and a ListenerSet for each hostname. It is the only writer of all of these.
package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/apply"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/steps"
)

// Index indexes GatewayHostnameRequests and DomainClaims by their PoolGateway.
const Index = "gateway"

// Reconciler reconciles PoolGateways. It implements engine.KindReconciler.
type Reconciler struct {
	Applier apply.Applier
	Classes ClassChecker
	// LoadBalancers connects to AWS through the PoolGateway's provider.
	LoadBalancers func(ctx context.Context, g *v1alpha1.PoolGateway) (LoadBalancers, error)
	ObservedTimes *ObservedTimes
	// DeleteUnused deletes a PoolGateway that no claim uses.
	DeleteUnused func(ctx context.Context, g *v1alpha1.PoolGateway) error
	// MinAge is how long a new PoolGateway waits for its first hostname.
	MinAge time.Duration
	// Heartbeat detects whether the load balancer controller is running.
	Heartbeat *Heartbeat
	// Patience is how long a load balancer may fail to follow before hostnames are suspected.
	Patience time.Duration
	Now      func() time.Time
}

// member is a hostname that belongs on the load balancer.
type member struct{ hostname, namespace, claim, arn string }

// reconciliation is one pass over one PoolGateway.
type reconciliation struct {
	Reconciler
	pg       *v1alpha1.PoolGateway
	pass     *engine.Pass
	objects  *apply.Objects
	members  []member
	budgets  map[string]v1alpha1.LoadBalancerBudget // by claim on this Gateway
	demands  map[string]demand                      // of the members' routes, by claim; nil until they are read
	search   *search                                // for routes that block the load balancer; nil until they are read
	closed   map[string]bool                        // the claims of members that accept no routes
	sets     map[string]*gatewayv1.ListenerSet      // of the members, as written
	gateway  gatewayv1.Gateway                      // as it is in the cluster; empty if it is not
	observed bool                                   // the pass has reached the load balancer step
	read     bool                                   // the load balancer was read in this pass
	unseen   bool                                   // the state of the load balancer cannot be known
}

// Reconcile implements engine.KindReconciler.
func (rec Reconciler) Reconcile(ctx context.Context, pg *v1alpha1.PoolGateway, pass *engine.Pass) error {
	r, err := rec.run(ctx, pg, pass)
	if err != nil {
		return err
	}
	outcome := r.steps().Reconcile(ctx, pg, pass)
	if outcome != nil && !r.observed && r.address() != "" {
		// Requests that wait for a certificate to be detached must see it even if the controller fails at another
		// hostname.
		if err := r.readLoadBalancer(ctx); err != nil {
			r.unseen = true
			pass.SetCondition(v1alpha1.StepLoadBalancer, metav1.ConditionUnknown, v1alpha1.ReasonFailed, err.Error())
		}
	}
	return r.follow(ctx, outcome)
}

func (rec Reconciler) run(ctx context.Context, pg *v1alpha1.PoolGateway, pass *engine.Pass) (*reconciliation, error) {
	objects, err := rec.Applier.For(pg, pass)
	if err != nil {
		return nil, err
	}
	r := &reconciliation{Reconciler: rec, pg: pg, pass: pass, objects: objects}
	if err := r.countHostnames(ctx); err != nil {
		return nil, err
	}
	r.members, err = r.readMembers(ctx, rec.Applier.Client, client.MatchingFields{Index: pg.Name})
	return r, err
}

// countHostnames writes the number of hostnames on this Gateway into the status.
func (r *reconciliation) countHostnames(ctx context.Context) error {
	claims := &v1alpha1.DomainClaimList{}
	if err := r.Applier.Client.List(ctx, claims, client.MatchingFields{Index: r.pg.Name}); err != nil {
		return fmt.Errorf("count the DomainClaims on %s: %w", r.pg.Name, err)
	}
	r.pg.Status.Hostnames = int32(len(claims.Items)) //nolint:gosec // at most some dozens
	r.budgets = map[string]v1alpha1.LoadBalancerBudget{}
	for i := range claims.Items {
		// A claim without a budget is from before budgets.
		if budget := claims.Items[i].Spec.Budget; budget != (v1alpha1.LoadBalancerBudget{}) {
			r.budgets[claims.Items[i].Name] = budget
		}
	}
	return nil
}

// readMembers lists the hostnames that belong on the load balancer, sorted.
func (r *reconciliation) readMembers(ctx context.Context, from client.Reader, options ...client.ListOption) (
	[]member, error,
) {
	all, err := r.listRequests(ctx, from, options...)
	return membersOf(all), err
}

// listRequests returns the requests that have a place on this Gateway.
func (r *reconciliation) listRequests(ctx context.Context, from client.Reader, options ...client.ListOption) (
	[]v1alpha1.GatewayHostnameRequest, error,
) {
	list := &v1alpha1.GatewayHostnameRequestList{}
	if err := from.List(ctx, list, options...); err != nil {
		return nil, fmt.Errorf("list the hostnames on %s: %w", r.pg.Name, err)
	}
	return slices.DeleteFunc(list.Items, func(one v1alpha1.GatewayHostnameRequest) bool {
		return one.Status.Gateway != r.pg.Name
	}), nil
}

func membersOf(requests []v1alpha1.GatewayHostnameRequest) []member {
	var all []member
	for i := range requests {
		if s := &requests[i].Status; s.Certificate != nil && s.Certificate.Serve && s.Certificate.ARN != "" {
			all = append(all, member{
				hostname: s.Hostname, namespace: requests[i].Namespace, claim: s.Claim,
				arn: s.Certificate.ARN,
			})
		}
	}
	slices.SortFunc(all, compareMembers)
	return all
}

func (r *reconciliation) steps() steps.List {
	return steps.List{
		{Name: v1alpha1.StepClass, Do: r.checkClass},
		{Name: v1alpha1.StepHostnames, Do: r.ensureHostnames},
		{Name: v1alpha1.StepProgrammed, Do: r.checkProgrammed},
		{Name: v1alpha1.StepLoadBalancer, Do: r.observeLoadBalancer},
	}
}

// checkClass checks that load balancers of this class use our configuration. If they no longer do, hostnames can still
// leave.
func (r *reconciliation) checkClass(ctx context.Context) (string, error) {
	err := r.Classes.Check(ctx, r.pg.Spec.GatewayClass)
	if err != nil && len(r.members) == 0 {
		return r.deleteIdle(ctx) // nothing needs to be served, so the class does not matter
	}
	if err != nil {
		there, failed := r.exists(ctx)
		if there {
			_, failed = r.ensureHostnames(ctx)
		}
		return "", errors.Join(err, failed)
	}
	port, problem, err := r.Classes.PublicPort(ctx, r.pg.Spec.GatewayClass)
	if err != nil {
		return "", err
	}
	r.pg.Status.PublicPort = port
	return "the GatewayClass " + r.pg.Spec.GatewayClass + " gives Application Load Balancers" + problem, nil
}

// Finalize implements engine.KindReconciler: a PoolGateway is deleted when no hostname uses it.
func (rec Reconciler) Finalize(ctx context.Context, pg *v1alpha1.PoolGateway, pass *engine.Pass) error {
	claims := &v1alpha1.DomainClaimList{}
	if err := rec.Applier.APIReader.List(ctx, claims); err != nil {
		return fmt.Errorf("list the DomainClaims: %w", err)
	}
	n := 0
	for i := range claims.Items {
		if claims.Items[i].Spec.Gateway == pg.Name {
			n++
		}
	}
	if n > 0 {
		// Remaining hostnames stay served, leaving ones are released.
		if err := rec.Reconcile(ctx, pg, pass); err != nil {
			return err
		}
		return engine.Blocked(v1alpha1.ReasonInUse, "%d hostnames have a place on this Gateway; delete their "+
			"requests first", n)
	}
	r, err := rec.run(ctx, pg, pass)
	if err != nil {
		return err
	}
	_, err = r.tearDown(ctx)
	return err
}
