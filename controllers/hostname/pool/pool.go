// Package pool keeps the shared load balancers: a PoolGateway each, and for it the Gateway, its configuration, and a
// ListenerSet for each hostname. It is the only writer of all of them.
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
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/owned"
	"github.com/portico-platform/portico/controllers/steps"
)

// The steps, in order; each is the type of a condition.
const (
	StepClass        = "ClassAccepted"
	StepHostnames    = "HostnamesServed"
	StepProgrammed   = "Programmed"
	StepLoadBalancer = "LoadBalancerSeen"
)

// ReasonInUse is why a load balancer stays that is to go.
const ReasonInUse = "InUse"

// Index of GatewayHostnameRequests, and of DomainClaims, by the PoolGateway on which they have a place.
const Index = "gateway"

// Work runs PoolGateways. It implements engine.Work.
type Work struct {
	Writer  owned.Writer
	Classes Classes
	// Balancers looks at load balancers by the PoolGateway's provider.
	Balancers func(ctx context.Context, g *v1alpha1.PoolGateway) (Balancers, error)
	Looks     *Looks
	// Retire deletes a PoolGateway on which no claim has a place.
	Retire func(ctx context.Context, g *v1alpha1.PoolGateway) error
	// Youth of a PoolGateway is how long it waits for its first hostname.
	Youth time.Duration
	Now   func() time.Time
}

// member is a hostname that belongs on the load balancer.
type member struct{ hostname, namespace, claim, arn string }

// run is one pass over one PoolGateway.
type run struct {
	Work
	pg      *v1alpha1.PoolGateway
	pass    *engine.Pass
	objects *owned.Pass
	members []member
	kept    map[string]v1alpha1.LoadBalancerBudget // of each claim that has its place here
	closed  map[string]bool                        // the claims of members whose routes exceed their budget
	gateway gatewayv1.Gateway                      // what the cluster has; empty while it has none
	looked  bool                                   // at the load balancer
}

// Sync implements engine.Work.
func (w Work) Sync(ctx context.Context, pg *v1alpha1.PoolGateway, pass *engine.Pass) error {
	r, err := w.run(ctx, pg, pass)
	if err != nil {
		return err
	}
	outcome := r.steps().Sync(ctx, pg, pass)
	if outcome != nil && !r.looked && r.address() != "" {
		// What waits for a certificate to be off the load balancer must see it, even if the controller fails at another.
		if err := r.look(ctx); err != nil {
			pass.Mark(StepLoadBalancer, metav1.ConditionUnknown, engine.ReasonFailed, err.Error())
		}
	}
	return outcome
}

func (w Work) run(ctx context.Context, pg *v1alpha1.PoolGateway, pass *engine.Pass) (*run, error) {
	objects, err := w.Writer.Of(pg, pass)
	if err != nil {
		return nil, err
	}
	r := &run{Work: w, pg: pg, pass: pass, objects: objects}
	if err := r.count(ctx); err != nil {
		return nil, err
	}
	r.members, err = r.read(ctx, w.Writer.Client, client.MatchingFields{Index: pg.Name})
	return r, err
}

// count tells how many hostnames have a place here.
func (r *run) count(ctx context.Context) error {
	claims := &v1alpha1.DomainClaimList{}
	if err := r.Writer.Client.List(ctx, claims, client.MatchingFields{Index: r.pg.Name}); err != nil {
		return fmt.Errorf("count the DomainClaims on %s: %w", r.pg.Name, err)
	}
	r.pg.Status.Hostnames = int32(len(claims.Items)) //nolint:gosec // at most some dozens
	r.kept = map[string]v1alpha1.LoadBalancerBudget{}
	for i := range claims.Items {
		if budget := claims.Items[i].Spec.Budget; budget != (v1alpha1.LoadBalancerBudget{}) { // else it is of before budgets, and gets one
			r.kept[claims.Items[i].Name] = budget
		}
	}
	return nil
}

// read lists the hostnames that belong on the load balancer, sorted.
func (r *run) read(ctx context.Context, from client.Reader, options ...client.ListOption) ([]member, error) {
	all, err := r.requests(ctx, from, options...)
	return membersOf(all), err
}

// requests are those that have their place here.
func (r *run) requests(ctx context.Context, from client.Reader, options ...client.ListOption) ([]v1alpha1.GatewayHostnameRequest, error) {
	list := &v1alpha1.GatewayHostnameRequestList{}
	if err := from.List(ctx, list, options...); err != nil {
		return nil, fmt.Errorf("list the hostnames on %s: %w", r.pg.Name, err)
	}
	return slices.DeleteFunc(list.Items, func(one v1alpha1.GatewayHostnameRequest) bool { return one.Status.Gateway != r.pg.Name }), nil
}

func membersOf(requests []v1alpha1.GatewayHostnameRequest) []member {
	var all []member
	for i := range requests {
		if s := &requests[i].Status; s.Certificate != nil && s.Certificate.Serve && s.Certificate.ARN != "" {
			all = append(all, member{hostname: s.Hostname, namespace: requests[i].Namespace, claim: s.Claim, arn: s.Certificate.ARN})
		}
	}
	slices.SortFunc(all, compare)
	return all
}

func (r *run) steps() steps.List[*v1alpha1.PoolGateway] {
	type pg = *v1alpha1.PoolGateway
	step := func(name string, do func(context.Context) (string, error)) steps.Step[pg] {
		return steps.Step[pg]{Name: name, Do: func(ctx context.Context, _ pg, _ *engine.Pass) (string, error) { return do(ctx) }}
	}
	return steps.List[pg]{
		step(StepClass, r.class),
		step(StepHostnames, r.hostnames),
		step(StepProgrammed, r.programmed),
		step(StepLoadBalancer, r.loadBalancer),
	}
}

// class checks that load balancers of this class do as they are told. If they do not any more, hostnames can leave all the
// same.
func (r *run) class(ctx context.Context) (string, error) {
	err := r.Classes.Check(ctx, r.pg.Spec.GatewayClass)
	if err != nil && len(r.members) == 0 {
		return r.idle(ctx) // nothing is to be served, so that the class does not matter
	}
	if err != nil {
		there, failed := r.present(ctx)
		if there {
			_, failed = r.hostnames(ctx)
		}
		return "", errors.Join(err, failed)
	}
	return "the GatewayClass " + r.pg.Spec.GatewayClass + " gives Application Load Balancers", nil
}

// Release implements engine.Work: a PoolGateway goes when no hostname has a place on it.
func (w Work) Release(ctx context.Context, pg *v1alpha1.PoolGateway, pass *engine.Pass) error {
	claims := &v1alpha1.DomainClaimList{}
	if err := w.Writer.Live.List(ctx, claims); err != nil {
		return fmt.Errorf("list the DomainClaims: %w", err)
	}
	n := 0
	for i := range claims.Items {
		if claims.Items[i].Spec.Gateway == pg.Name {
			n++
		}
	}
	if n > 0 {
		if err := w.Sync(ctx, pg, pass); err != nil { // those that are there are served on, and those that go are let go
			return err
		}
		return engine.Blocked(ReasonInUse, "%d hostnames have a place on this Gateway; delete their requests first", n)
	}
	r, err := w.run(ctx, pg, pass)
	if err != nil {
		return err
	}
	_, err = r.tearDown(ctx)
	return err
}
