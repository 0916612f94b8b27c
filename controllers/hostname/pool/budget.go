package pool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Conditions of a PoolGateway that are False while hostnames are closed: for what their routes need, and for what they
// contain.
const (
	ConditionBudget = "WithinBudget"
	ConditionRoutes = "RoutesServed"
)

// checkRoutes reads the routes of each hostname, and closes hostnames whose routes have a rule that the load balancer
// does not support, need more than their budget, or are suspected of blocking the load balancer.
func (r *reconciliation) checkRoutes(ctx context.Context) error {
	var closed []v1alpha1.ClosedHostname
	r.closed, r.demands = map[string]bool{}, map[string]demand{}
	for _, m := range r.members {
		d, err := readDemand(ctx, r.Applier.Client, r.pg.Namespace, m)
		if err != nil {
			return err
		}
		r.demands[m.claim] = d
	}
	if err := r.addBackends(ctx); err != nil {
		return err
	}
	r.beginSearch()
	for _, m := range r.members {
		if c := r.closedBy(m); c != nil {
			r.closed[m.claim] = true
			closed = append(closed, *c)
		}
	}
	r.reportClosed(closed)
	r.pg.Status.Closed = closed
	return nil
}

// closedBy returns why the hostname is closed; nil if it is open.
func (r *reconciliation) closedBy(m member) *v1alpha1.ClosedHostname {
	if c := r.closedFor(m); c != nil {
		return c
	}
	c := r.closedHostname(m, v1alpha1.ReasonRouteSuspected)
	switch {
	case r.search.isSuspect(m.claim):
		c.Message = suspectText
	case r.search.isBlamed(m.claim):
		c.Message = blamedText
	default:
		return nil
	}
	return c
}

// closedFor returns why the hostname is closed for what its routes contain or need; nil if it is not.
func (r *reconciliation) closedFor(m member) *v1alpha1.ClosedHostname {
	d := r.demands[m.claim]
	budget, known := r.budgets[m.claim]
	switch {
	case d.fault != "":
		c := r.closedHostname(m, v1alpha1.ReasonRouteUnsupported)
		c.Message = d.fault
		return c
	case known && !d.needs.Within(budget):
		return r.closedHostname(m, v1alpha1.ReasonOverBudget)
	default:
		return nil
	}
}

func (r *reconciliation) closedHostname(m member, reason string) *v1alpha1.ClosedHostname {
	return &v1alpha1.ClosedHostname{
		Claim: m.claim, Hostname: m.hostname, Namespace: m.namespace, Reason: reason,
		Needs: r.demands[m.claim].needs, Budget: r.budgets[m.claim],
	}
}

const (
	suspectText = "the shared load balancer stopped to take changes after the routes of the hostname changed; it is " +
		"closed for some minutes to see whether the load balancer goes on"
	blamedText = "the shared load balancer stopped to take changes after the routes of the hostname changed, and " +
		"went on when the hostname was closed; it opens when its routes change, or after a time by itself; the more " +
		"often this happens, the later"
)

// textOf returns why a hostname is closed, for platform admins.
func textOf(c v1alpha1.ClosedHostname) string {
	if c.Message != "" {
		return fmt.Sprintf("%s of namespace %s: %s", c.Hostname, c.Namespace, c.Message)
	}
	return fmt.Sprintf("%s of namespace %s needs %s", c.Hostname, c.Namespace, Exceeds(c.Needs, c.Budget))
}

// reportClosed lists the closed hostnames in conditions for admins, and sends an event for each that is newly closed or
// has a new reason.
func (r *reconciliation) reportClosed(closed []v1alpha1.ClosedHostname) {
	is := func(c v1alpha1.ClosedHostname) func(v1alpha1.ClosedHostname) bool {
		return func(other v1alpha1.ClosedHostname) bool { return other.Claim == c.Claim }
	}
	var overBudget, faulty []v1alpha1.ClosedHostname
	for _, c := range closed {
		if c.Reason == v1alpha1.ReasonOverBudget {
			overBudget = append(overBudget, c)
		} else {
			faulty = append(faulty, c)
		}
		if !slices.ContainsFunc(r.pg.Status.Closed, is(c)) {
			r.pass.Warning(v1alpha1.ReasonHostnameClosed, "CloseListener", "%s. No route is attached to it until it "+
				"opens; all other hostnames are served", textOf(c))
		}
	}
	for _, was := range r.pg.Status.Closed {
		if !slices.ContainsFunc(closed, is(was)) {
			r.pass.Normal(v1alpha1.ReasonHostnameOpened, "OpenListener", "%s of namespace %s takes routes again",
				was.Hostname, was.Namespace)
		}
	}
	r.setClosed(ConditionBudget, overBudget, "no hostname needs more of the load balancer than is kept for it")
	r.setClosed(ConditionRoutes, faulty, "no hostname is closed for what its routes hold")
}

// setClosed sets a condition from the hostnames that are closed for its reason.
func (r *reconciliation) setClosed(condition string, closed []v1alpha1.ClosedHostname, none string) {
	if len(closed) == 0 {
		r.pass.SetCondition(condition, metav1.ConditionTrue, v1alpha1.ReasonWithin, none)
		return
	}
	texts := make([]string, len(closed))
	for i, c := range closed {
		texts[i] = textOf(c)
	}
	r.pass.SetCondition(condition, metav1.ConditionFalse, closed[0].Reason,
		strings.Join(texts, "; ")+". No route is attached to a closed hostname until it opens; all others are served")
}

// Exceeds describes what in needs exceeds the budget: "14 rules (3 are kept for it)".
func Exceeds(needs, budget v1alpha1.LoadBalancerBudget) string {
	var texts []string
	if needs.Rules > budget.Rules {
		texts = append(texts, fmt.Sprintf("%d load balancer rules (%d are kept for it)", needs.Rules, budget.Rules))
	}
	if needs.TargetGroups > budget.TargetGroups {
		texts = append(texts, fmt.Sprintf("%d target groups (%d are kept for it)", needs.TargetGroups,
			budget.TargetGroups))
	}
	return strings.Join(texts, " and ")
}
