// Package controllers binds kinds to the manager.
package controllers

import (
	"context"
	"maps"
	"slices"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/ec2"
	"github.com/portico-platform/portico/controllers/aws/rds"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/aws/s3"
	"github.com/portico-platform/portico/controllers/aws/sqs"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
)

// kinds is every AWS kind that this operator runs. Adding one adds one line.
var kinds = map[string]kind{
	"EC2Instance": bind(ec2.Instance, ec2.Instances, stateful, ec2.Settling),
	"RDSInstance": bind(rds.Instance, rds.Instances, stateful, settling),
	"S3Bucket":    bind(s3.Bucket, s3.Buckets, stateful, s3.Settling),
	"SQSQueue":    bind(sqs.Queue, sqs.Queues, !stateful, settling).with(deadLetters).moving(),
}

// Kinds lists every kind that the operator runs, sorted.
func Kinds() []string {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(kinds)), "AWSProvider", "WebApp", kindRequest, kindPool, "DomainClaim", "HostnameGrant")))
}

// kind is one row of the table.
type kind struct {
	object client.Object // the zero object, for watches and lists
	list   lister
	setup  func(ctrl.Manager, deps, ...watches) error
	more   []watches
	// live reads what moves by itself; see external.Live. moves tells whether the kind has anything of that sort.
	live  func(context.Context, deps, string, external.Object) (map[string]string, error)
	moves bool
}

// watches adds what else wakes objects of a kind.
type watches func(*builder.Builder, ctrl.Manager)

// with adds watches to a row.
func (k kind) with(w watches) kind {
	k.more = append(k.more, w)
	return k
}

// moving marks a kind whose adapter is an external.Live.
func (k kind) moving() kind {
	k.moves = true
	return k
}

// lister lists the ARNs of all resources of a kind that a session sees, complete or not at all.
type lister func(context.Context, *cloud.Session) ([]string, error)

// Whether a resource holds what a new one would not: see external.Work.
const stateful = true

// bind is written once for all kinds: *P is the custom resource, S what AWS has. settles is how long AWS may show the
// state before a change.
func bind[T interface {
	*P
	external.Object
}, S, P any](adapter func(*cloud.Session, external.Kube) external.Adapter[T, S], list lister, stateful bool, settles time.Duration) kind {
	connect := func(d deps, name string) external.Connect[T, S] {
		return func(ctx context.Context, obj T) (external.Connection[T, S], error) {
			session, err := d.connector.Open(ctx, name, obj)
			if err != nil {
				return external.Connection[T, S]{}, err
			}
			return external.Connection[T, S]{
				Adapter: adapter(session, d.kube), Version: session.ProviderGeneration,
				Prove: func(ctx context.Context) error { return d.connector.Prove(ctx, session, obj.GetNamespace()) },
				Admit: func(ctx context.Context, obj T, references []external.Reference) error {
					return reference.For(session).Admit(ctx, obj, references)
				},
				Objection: session.RefuseTags(obj.OwnTags()),
			}, nil
		}
	}
	setup := func(mgr ctrl.Manager, d deps, more ...watches) error {
		name := kindOf(mgr, T(new(P)))
		work := external.Work[T, S]{
			Kind: name, Stateful: stateful, Settling: d.scaled(settles), Longest: d.scaled(d.engine.Timeout), Now: d.now, Connect: connect(d, name),
			Publish: func(ctx context.Context, obj T, details map[string]string) (*v1alpha1.Binding, error) {
				return d.kube.Secrets.Publish(ctx, name, obj, details)
			},
		}
		return setupAWS[T](mgr, T(new(P)), work, d, more)
	}
	live := func(ctx context.Context, d deps, name string, obj external.Object) (map[string]string, error) {
		c, err := connect(d, name)(ctx, obj.(T))
		if err != nil {
			return nil, err
		}
		if moving, ok := c.Adapter.(external.Live[T]); ok {
			return moving.Live(ctx, obj.(T))
		}
		return nil, nil
	}
	return kind{object: T(new(P)), list: list, setup: setup, live: live}
}
