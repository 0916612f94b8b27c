package sqs

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/watch"
)

// Lookup finds the SQSQueues that objects of a kind name, and says in the kind's terms why one cannot be used.
type Lookup struct {
	Field             string // of the spec, such as spec.deadLetterQueue
	Queue, This       string // words for the named queue, and for the object that names it
	Alternative       string // what else can be named; empty: nothing
	Waiting, Mismatch string // reasons
}

// Get returns the SQSQueue with this name. One that only observes is refused: it was created elsewhere, for others.
func (l Lookup) Get(ctx context.Context, kube external.Kube, namespace, name string) (*v1alpha1.SQSQueue, error) {
	queue := &v1alpha1.SQSQueue{}
	found, err := engine.Find(ctx, kube.Reader, client.ObjectKey{Namespace: namespace, Name: name}, queue)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, engine.Wait(l.Waiting, time.Minute, "there is no SQSQueue %s in this namespace yet; request it, "+
			"or change %s", name, l.Field)
	case external.ObserveOnly(queue):
		return nil, engine.Blocked(l.Mismatch, "the SQSQueue %s only observes a queue that was created elsewhere; "+
			"choose one that Portico manages%s", name, l.Alternative)
	}
	return queue, nil
}

// ARN returns the queue's ARN, once it has been Ready. It must be in the session's account and region.
func (l Lookup) ARN(session *cloud.Session, queue *v1alpha1.SQSQueue) (string, error) {
	s := &queue.Status
	switch {
	case s.ARN == "" || s.FirstReadyTime == nil:
		return "", engine.Wait(l.Waiting, time.Minute, "the %s %s is not Ready yet", l.Queue, queue.Name)
	case s.AccountID != session.AccountID || s.Region != session.Config.Region:
		return "", engine.Blocked(l.Mismatch, "the %s %s is in account %s and region %s, and must be where %s "+
			"is: %s, %s",
			l.Queue, queue.Name, s.AccountID, s.Region, l.This, session.AccountID, session.Config.Region)
	}
	return s.ARN, nil
}

// ReadyChanged passes the updates of an SQSQueue that objects naming it wait for: its ARN, that it was Ready once, and
// its allowed senders and sources.
func ReadyChanged() predicate.Predicate {
	return watch.Changed(func(was, is *v1alpha1.SQSQueue) bool {
		return was.Status.ARN != is.Status.ARN ||
			(was.Status.FirstReadyTime == nil) != (is.Status.FirstReadyTime == nil) ||
			!slices.Equal(was.Status.AllowedSenders, is.Status.AllowedSenders) ||
			!slices.Equal(was.Status.AllowedSources, is.Status.AllowedSources)
	})
}
