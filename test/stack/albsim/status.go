package albsim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

// write writes a status to the cluster if it differs; after is a changed copy. A conflict triggers another
// pass.
func (s *Simulator) write(ctx context.Context, before, after client.Object) error {
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	s.counters.writes.Add(1)
	lock := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := ignoreRace(s.kube.Status().Patch(ctx, after, lock)); err != nil {
		return fmt.Errorf("write the status of %T %s/%s: %w", after, after.GetNamespace(), after.GetName(), err)
	}
	return nil
}

// says describes a condition; those of type Conflicted are good when False, all others when True.
type says struct {
	kind, reason, message string
	status                bool
}

func set(conditions *[]metav1.Condition, generation int64, all ...says) {
	for _, c := range all {
		status := metav1.ConditionFalse
		if c.status {
			status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type: c.kind, Status: status, Reason: c.reason, Message: c.message, ObservedGeneration: generation,
		})
	}
}

func (s *Simulator) writeClasses(ctx context.Context, w *world) error {
	var errs []error
	for _, class := range w.classes {
		after := class.DeepCopy()
		set(&after.Status.Conditions, class.Generation, says{kind: "Accepted", reason: "Accepted", status: true})
		errs = append(errs, s.write(ctx, class, after))
	}
	return errors.Join(errs...)
}

// seeEvents is the message in a Gateway's status if its model could not be built.
const seeEvents = "Check Gateway Events for more information."

// writeFailure writes the status of a Gateway that could not be reconciled: its other conditions, its listeners and
// its ListenerSets stay as before.
func (s *Simulator) writeFailure(ctx context.Context, t *topology, message string) error {
	g := t.gateway.DeepCopy()
	set(&g.Status.Conditions, g.Generation, says{
		kind: "Accepted", reason: string(gatewayv1.GatewayReasonInvalid),
		message: message,
	})
	return s.write(ctx, t.gateway, g)
}

// writePending writes that AWS is creating the load balancer.
func (s *Simulator) writePending(ctx context.Context, t *topology) error {
	g := t.gateway.DeepCopy()
	meta.SetStatusCondition(&g.Status.Conditions, metav1.Condition{
		Type: string(gatewayv1.GatewayConditionProgrammed), Status: metav1.ConditionUnknown,
		Reason:  string(gatewayv1.GatewayReasonPending),
		Message: "Waiting for load balancer to be active.", ObservedGeneration: g.Generation,
	})
	return s.write(ctx, t.gateway, g)
}

// writeGateway writes the status of a Gateway and its ListenerSets, whether or not its model was built.
func (s *Simulator) writeGateway(ctx context.Context, t *topology, p *progress, refused error) error {
	if refused != nil {
		return s.writeFailure(ctx, t, refused.Error())
	}
	if errors.Is(p.err, errNotActive) {
		return s.writePending(ctx, t)
	}
	if p.err != nil {
		reason, text := "FailedDeployModel", "Failed deploy model due to "
		if errors.Is(p.err, errBuild) {
			reason, text = "FailedBuildModel", "Failed build model due to "
		}
		return errors.Join(s.event(ctx, t, reason, text+p.err.Error()), s.writeFailure(ctx, t, seeEvents))
	}
	g := t.gateway.DeepCopy()
	hostname := gatewayv1.HostnameAddressType
	g.Status.Addresses = []gatewayv1.GatewayStatusAddress{{Type: &hostname, Value: p.built.dns}}
	set(&g.Status.Conditions, g.Generation,
		says{kind: "Accepted", reason: "Accepted", status: true},
		says{kind: "Programmed", reason: "Programmed", message: p.built.arn, status: true})
	serves := func(port int32) bool { return p.built.ports[port] }
	former := g.Status.Listeners
	g.Status.Listeners = nil
	for _, l := range t.listeners {
		if l.parent.kind == "Gateway" {
			g.Status.Listeners = append(g.Status.Listeners, l.status(former, g.Generation, serves(l.port)))
		}
	}
	allowed := int32(0)
	errs := []error{}
	for _, of := range t.sets {
		if of.allowed {
			allowed++
		}
		errs = append(errs, s.writeSet(ctx, of, serves))
	}
	g.Status.AttachedListenerSets = &allowed
	return errors.Join(append(errs, s.write(ctx, t.gateway, g))...)
}

// status returns the listener's status, and keeps the times of the former conditions.
func (l *listener) status(former []gatewayv1.ListenerStatus, generation int64, served bool) gatewayv1.ListenerStatus {
	is := gatewayv1.ListenerStatus{Name: l.name, Conditions: []metav1.Condition{}}
	for i := range former {
		if former[i].Name == l.name {
			is.Conditions = former[i].Conditions
		}
	}
	is.SupportedKinds, is.AttachedRoutes = l.kinds(), l.count()
	set(&is.Conditions, generation, l.conditions(served)...)
	return is
}

func (l *listener) kinds() []gatewayv1.RouteGroupKind {
	if !l.supported() {
		return []gatewayv1.RouteGroupKind{}
	}
	group := gatewayv1.Group(gatewayv1.GroupName)
	return []gatewayv1.RouteGroupKind{{Group: &group, Kind: "HTTPRoute"}, {Group: &group, Kind: "GRPCRoute"}}
}

// count returns the number of attached routes, without duplicates.
func (l *listener) count() int32 {
	seen := map[*route]bool{}
	for _, a := range l.attached {
		seen[a.route] = true
	}
	return int32(len(seen))
}

func (l *listener) conditions(served bool) []says {
	accepted := says{kind: "Accepted", reason: "Accepted", message: "Listener is accepted.", status: true}
	conflicted := says{
		kind: "Conflicted", reason: string(gatewayv1.ListenerReasonNoConflicts),
		message: "Listener has no conflict.",
	}
	programmed := says{kind: "Programmed", reason: "Programmed", message: "Listener is programmed.", status: true}
	switch {
	case l.conflict != "":
		conflicted = says{kind: "Conflicted", reason: string(l.conflict), status: true}
		accepted = says{kind: "Accepted", reason: string(l.conflict)}
	case !l.supported():
		accepted = says{kind: "Accepted", reason: string(gatewayv1.ListenerReasonUnsupportedProtocol)}
	}
	if !accepted.status {
		programmed = says{kind: "Programmed", reason: string(gatewayv1.ListenerReasonInvalid)}
	} else if !served {
		programmed = says{
			kind: "Programmed", reason: string(gatewayv1.ListenerReasonPending),
			message: "Listener is pending to be programmed.",
		}
	}
	return []says{
		accepted, conflicted,
		{kind: "ResolvedRefs", reason: "ResolvedRefs", message: "Listener has all refs resolved.", status: true},
		programmed,
	}
}

// writeSet writes the status of a ListenerSet. It is programmed when one of its listeners is.
func (s *Simulator) writeSet(ctx context.Context, of *listenerSet, serves func(int32) bool) error {
	after := of.object.DeepCopy()
	if !of.allowed {
		set(&after.Status.Conditions, after.Generation,
			says{
				kind: "Accepted", reason: string(gatewayv1.ListenerSetReasonNotAllowed),
				message: "the Gateway takes no ListenerSets of this namespace",
			},
			says{kind: "Programmed", reason: string(gatewayv1.ListenerSetReasonNotAllowed)})
		after.Status.Listeners = nil
		return s.write(ctx, of.object, after)
	}
	former := make([]gatewayv1.ListenerStatus, len(after.Status.Listeners))
	for i := range after.Status.Listeners {
		former[i] = gatewayv1.ListenerStatus(after.Status.Listeners[i])
	}
	after.Status.Listeners = nil
	accepted, programmed := false, false
	for _, l := range of.listeners {
		served := serves(l.port)
		after.Status.Listeners = append(after.Status.Listeners, gatewayv1.ListenerEntryStatus(
			l.status(former, after.Generation, served)))
		accepted, programmed = accepted || l.accepted(), programmed || (l.accepted() && served)
	}
	set(&after.Status.Conditions, after.Generation, setConditions(accepted, programmed)...)
	return s.write(ctx, of.object, after)
}

func setConditions(accepted, programmed bool) []says {
	is := says{kind: "Accepted", reason: "Accepted", status: true}
	if !accepted {
		is = says{kind: "Accepted", reason: string(gatewayv1.ListenerSetReasonListenersNotValid)}
	}
	switch {
	case !is.status:
		return []says{is, {kind: "Programmed", reason: string(gatewayv1.ListenerSetReasonInvalid)}}
	case !programmed:
		return []says{is, {kind: "Programmed", reason: string(gatewayv1.ListenerSetReasonPending)}}
	default:
		return []says{is, {kind: "Programmed", reason: "Programmed", status: true}}
	}
}

// writeRoutes writes each route's status for its parents, and removes the status for former ones.
func (s *Simulator) writeRoutes(ctx context.Context, w *world) error {
	var errs []error
	for _, r := range w.routes {
		if slices.ContainsFunc(r.on, func(t *topology) bool { return t.unloadable() != nil }) {
			continue
		}
		after := r.object.DeepCopyObject().(client.Object)
		status := routeStatus(after)
		status.Parents = r.parentStatuses(status.Parents)
		errs = append(errs, s.write(ctx, r.object, after))
	}
	return errors.Join(errs...)
}

// routeMessages are the controller's messages for these reasons; for other reasons the message has details.
var routeMessages = map[gatewayv1.RouteConditionReason]string{
	gatewayv1.RouteReasonAccepted: "Route is accepted by Gateway",
}

func routeStatus(o client.Object) *gatewayv1.RouteStatus {
	if grpc, ok := o.(*gatewayv1.GRPCRoute); ok {
		return &grpc.Status.RouteStatus
	}
	return &o.(*gatewayv1.HTTPRoute).Status.RouteStatus
}

// parentStatuses returns the statuses of other controllers, followed by the simulator's own.
func (r *route) parentStatuses(former []gatewayv1.RouteParentStatus) []gatewayv1.RouteParentStatus {
	all := []gatewayv1.RouteParentStatus{}
	for i := range former {
		if former[i].ControllerName != albconfig.ControllerName {
			all = append(all, former[i])
		}
	}
	for _, result := range r.results {
		is := gatewayv1.RouteParentStatus{ParentRef: result.ref, ControllerName: albconfig.ControllerName}
		for i := range former {
			if former[i].ControllerName == is.ControllerName && equality.Semantic.DeepEqual(
				former[i].ParentRef, result.ref) {
				is.Conditions = former[i].Conditions
			}
		}
		set(&is.Conditions, r.object.GetGeneration(),
			says{
				kind: "Accepted", reason: string(result.accepted), message: routeMessages[result.accepted],
				status: result.accepted == gatewayv1.RouteReasonAccepted,
			},
			says{
				kind: "ResolvedRefs", reason: string(r.resolved),
				message: routeMessages[gatewayv1.RouteReasonAccepted],
				status:  r.resolved == gatewayv1.RouteReasonResolvedRefs,
			})
		all = append(all, is)
	}
	return all
}
