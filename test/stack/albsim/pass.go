package albsim

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// finalizer is the controller's finalizer on Gateways.
const finalizer = "gateway.k8s.aws/alb"

// never is how long the simulator waits for the next pass when nothing is due.
const never = time.Hour

// pass reconciles AWS and all statuses with the cluster, and returns when the next pass is due.
func (s *Simulator) pass(ctx context.Context) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paused.Load() {
		return never
	}
	w, err := s.read(ctx)
	if err != nil {
		s.log.Error("read the cluster", "error", err)
		return firstWait
	}
	next := never
	errs := []error{s.writeClasses(ctx, w), s.writeRoutes(ctx, w), s.releaseConfigs(ctx, w)}
	known := map[types.NamespacedName]bool{}
	for _, t := range w.gateways {
		known[client.ObjectKeyFromObject(t.gateway)] = true
		wait, err := s.serve(ctx, w, t)
		next, errs = min(next, wait), append(errs, err)
	}
	for name := range s.progress {
		if !known[name] {
			delete(s.progress, name)
		}
	}
	if err := errors.Join(errs...); err != nil { // conflicts trigger a pass, other API errors do not
		s.log.Error("write to the cluster", "error", err)
		next = min(next, firstWait)
	}
	return next
}

// serve reconciles one Gateway. The error is from Kubernetes; errors of AWS go to the Gateway's status, and are
// retried after wait.
func (s *Simulator) serve(ctx context.Context, w *world, t *topology) (wait time.Duration, err error) {
	name := client.ObjectKeyFromObject(t.gateway)
	p := s.progress[name]
	if p == nil {
		p = &progress{}
		s.progress[name] = p
	}
	m, refused := modelOf(w, t)
	now := time.Now()
	if err := t.unloadable(); err != nil {
		return s.stop(p, m, now, err), nil
	}
	if m.Key != p.seen {
		p.seen, p.since, p.next, p.failed = m.Key, now, time.Time{}, 0
	}
	due := p.since.Add(time.Duration(s.delay.Load()))
	if p.next.After(due) {
		due = p.next
	}
	switch {
	case p.done == m.Key && !m.Deleting:
		return never, s.writeGateway(ctx, t, p, refused)
	case due.After(now):
		return due.Sub(now), nil
	case m.Deleting:
		return s.remove(ctx, t, p, m)
	}
	switch {
	case refused == nil && m.failed != nil:
		err = fmt.Errorf("%w%w", errBuild, m.failed)
	case refused == nil:
		if err := errors.Join(s.keepConfig(ctx, w, t), s.setFinalizer(ctx, t.gateway, finalizer, true)); err != nil {
			return never, ignoreRace(err)
		}
		former := p.built.dns
		if err = s.elb.deploy(ctx, m, &p.built); err == nil {
			s.setLive(former, nil)
			s.setLive(p.built.dns, m)
		}
	}
	s.note(p, m, now, err)
	return p.wait(now), s.writeGateway(ctx, t, p, refused)
}

// errBuild marks the failure of a model that was not deployed at all.
var errBuild = errors.New("")

// stop retries a Gateway whose routes cannot be read, and does nothing else.
func (s *Simulator) stop(p *progress, m *model, now time.Time, err error) time.Duration {
	if m.Key != p.seen {
		p.seen, p.since, p.next, p.failed = m.Key, now, time.Time{}, 0
	}
	if !p.next.After(now) {
		s.note(p, m, now, err)
	}
	return p.wait(now)
}

// note records the result.
func (s *Simulator) note(p *progress, m *model, now time.Time, err error) {
	p.err = err
	if err == nil {
		p.done, p.failed = m.Key, 0
		return
	}
	s.log.Error("build", "gateway", m.Gateway, "error", err, "times", p.failed+1)
	s.counters.failures.Add(1)
	p.done = ""
	p.next = now.Add(min(longestWait, firstWait<<min(p.failed, 10)))
	p.failed++
}

func (p *progress) wait(now time.Time) time.Duration {
	if p.err == nil {
		return never
	}
	return p.next.Sub(now)
}

// remove deletes the AWS resources of a Gateway that is being deleted.
func (s *Simulator) remove(ctx context.Context, t *topology, p *progress, m *model) (time.Duration, error) {
	if !controllerutil.ContainsFinalizer(t.gateway, finalizer) {
		return never, nil
	}
	now := time.Now()
	err := routesAttached(t)
	if err == nil {
		s.setLive(p.built.dns, nil)
		err = s.elb.tearDown(ctx, m, &p.built)
	}
	s.note(p, m, now, err)
	if err != nil {
		return p.wait(now), s.writeGateway(ctx, t, p, nil)
	}
	return never, ignoreRace(s.setFinalizer(ctx, t.gateway, finalizer, false))
}

func routesAttached(t *topology) error {
	for _, l := range t.listeners {
		for _, a := range l.attached {
			return fmt.Errorf("gateway deletion invoked with routes attached: %s %s/%s",
				a.route.kind, a.route.object.GetNamespace(), a.route.object.GetName())
		}
	}
	return nil
}

// setFinalizer adds or removes the finalizer.
func (s *Simulator) setFinalizer(ctx context.Context, of client.Object, finalizer string, wanted bool) error {
	after := of.DeepCopyObject().(client.Object)
	change := controllerutil.RemoveFinalizer
	if wanted {
		change = controllerutil.AddFinalizer
	}
	if !change(after, finalizer) {
		return nil
	}
	s.counters.writes.Add(1)
	lock := client.MergeFromWithOptions(of, client.MergeFromWithOptimisticLock{})
	if err := s.kube.Patch(ctx, after, lock); err != nil {
		return fmt.Errorf("change the finalizers of %T %s/%s: %w", after, after.GetNamespace(), after.GetName(), err)
	}
	return nil
}

// ignoreRace drops conflicts and missing objects: the next event repairs them.
func ignoreRace(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
