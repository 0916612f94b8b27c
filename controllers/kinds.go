// Package controllers registers the controllers of all kinds with the manager.
package controllers

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/ec2"
	"github.com/portico-platform/portico/controllers/aws/rds"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/aws/s3"
	"github.com/portico-platform/portico/controllers/aws/sns"
	"github.com/portico-platform/portico/controllers/aws/sqs"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/databaseuser"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/guardrail"
	"github.com/portico-platform/portico/controllers/watch"
)

// kinds are the AWS kinds of this operator. Adding a kind adds one entry.
var kinds = map[string]kind{
	v1alpha1.KindEC2Instance: bind(ec2.Instance, ec2.Instances,
		traits{stateful: true, foundByTags: true, settles: ec2.Settling}),
	v1alpha1.KindRDSInstance: bind(rds.Instance, rds.Instances,
		traits{stateful: true, settles: settling, vacate: databaseuser.Vacate}),
	v1alpha1.KindS3Bucket: bind(s3.Bucket, s3.Buckets,
		traits{stateful: true, settles: s3.Settling}).withRefs(s3.Refs...),
	v1alpha1.KindSNSTopic: bind(sns.Topic, sns.Topics, traits{settles: settling}).withRefs(sns.Refs...),
	v1alpha1.KindSQSQueue: bind(sqs.Queue, sqs.Queues, traits{settles: settling}).withRefs(sqs.Refs...).withLive(),
}

// Kinds returns the names of all kinds that the operator reconciles, sorted.
func Kinds() []string {
	all := append(slices.Collect(maps.Keys(providerUsers())),
		v1alpha1.KindAWSProvider, v1alpha1.KindDatabaseUser, v1alpha1.KindWebApp, v1alpha1.KindDomainClaim,
		v1alpha1.KindHostnameGrant, v1alpha1.KindTeam, v1alpha1.KindDeployPolicy, v1alpha1.KindCatalogEntry)
	slices.Sort(all)
	return all
}

// objects returns a zero object of each AWS kind, by the kind's name.
func objects() map[string]client.Object {
	all := map[string]client.Object{}
	for name, k := range kinds {
		all[name] = k.object
	}
	return all
}

// providerUsers returns a zero object of each kind that refers to a provider.
func providerUsers() map[string]watch.ProviderUser {
	all := map[string]watch.ProviderUser{
		v1alpha1.KindGatewayHostnameRequest: &v1alpha1.GatewayHostnameRequest{},
		v1alpha1.KindPoolGateway:            &v1alpha1.PoolGateway{},
		v1alpha1.KindAccessBinding:          &v1alpha1.AccessBinding{},
	}
	for name, k := range kinds {
		all[name] = k.object
	}
	return all
}

// referrers returns a zero object of each kind that refers to others.
func referrers() []watch.Referrer {
	return []watch.Referrer{
		&v1alpha1.AccessBinding{}, &v1alpha1.DatabaseUser{}, &v1alpha1.S3Bucket{}, &v1alpha1.SNSTopic{},
		&v1alpha1.SQSQueue{}, &v1alpha1.WebApp{},
	}
}

// referred returns a zero object of each kind that others refer to.
func referred() []client.Object {
	return append(slices.Collect(maps.Values(objects())), &v1alpha1.GatewayHostnameRequest{})
}

// requested returns a zero object of each kind that teams request.
func requested() map[string]client.Object {
	all := objects()
	all[v1alpha1.KindGatewayHostnameRequest], all[v1alpha1.KindWebApp] = &v1alpha1.GatewayHostnameRequest{},
		&v1alpha1.WebApp{}
	all[v1alpha1.KindAccessBinding], all[v1alpha1.KindDatabaseUser] = &v1alpha1.AccessBinding{},
		&v1alpha1.DatabaseUser{}
	return all
}

// kind is one entry of kinds.
type kind struct {
	object watch.ProviderUser // the zero object, for watches and lists
	list   lister
	setup  func(ctrl.Manager, deps, []watch.Ref) error
	refs   []watch.Ref
	// readLive reads values that change without Portico; see external.LiveReader. hasLive is true if the kind has such
	// values.
	readLive func(context.Context, deps, string, external.Object) (map[string]string, error)
	hasLive  bool
}

// withRefs adds the kind's references to other objects.
func (k kind) withRefs(refs ...watch.Ref) kind {
	k.refs = append(k.refs, refs...)
	return k
}

// withLive marks a kind whose adapter is an external.LiveReader.
func (k kind) withLive() kind {
	k.hasLive = true
	return k
}

// lister returns the ARNs of all resources of a kind that a session sees. It never returns a partial list without an
// error.
type lister func(context.Context, *cloud.Session) ([]string, error)

// traits are properties of a kind; see external.Reconciler.
type traits struct {
	stateful, foundByTags bool
	settles               time.Duration
	vacate                func(client.Client, func() time.Time) func(context.Context, client.Object, *engine.Pass) error
}

// bind returns the entry of a kind. *P is the custom resource, S the observed state in AWS.
func bind[T interface {
	*P
	external.Object
	watch.ProviderUser
}, S, P any](adapter func(*cloud.Session, external.Kube) external.Adapter[T, S], list lister, is traits) kind {
	connect := connecting[T](adapter)
	setup := func(mgr ctrl.Manager, d deps, refs []watch.Ref) error {
		name := watch.KindOf(mgr, T(new(P)))
		reconciler := external.Reconciler[T, S]{
			Kind: name, Stateful: is.stateful, FoundByTags: is.foundByTags, Settling: d.scaled(is.settles),
			MaxDuration: d.scaled(d.engine.Timeout),
			Scaled:      d.scaled, Now: d.engine.Now, Connect: connect(d, name),
			Publish: func(ctx context.Context, obj T, details map[string]string) (*v1alpha1.Binding, error) {
				return d.kube.Secrets.Publish(ctx, name, obj, details)
			},
			Keep: func(ctx context.Context, obj T) error {
				if err := d.keeper.Record(ctx, name, obj); err != nil {
					return err
				}
				return d.kube.Secrets.LetGo(ctx, name, obj)
			},
		}
		if is.vacate != nil {
			vacate := is.vacate(mgr.GetClient(), d.engine.Now)
			reconciler.Vacate = func(ctx context.Context, obj T, pass *engine.Pass) error {
				return vacate(ctx, obj, pass)
			}
		}
		return setupAWS[T](mgr, T(new(P)), reconciler, d, refs)
	}
	return kind{object: T(new(P)), list: list, setup: setup, readLive: readLive(connect)}
}

// connecting returns a function that returns how to connect to the account of an object, with its guardrails.
func connecting[T external.Object, S any](adapter func(*cloud.Session, external.Kube) external.Adapter[T, S]) func(
	deps, string) external.Connect[T, S] {
	return func(d deps, name string) external.Connect[T, S] {
		return func(ctx context.Context, obj T) (external.Connection[T, S], error) {
			session, err := d.connector.Open(ctx, name, obj)
			if err != nil {
				return external.Connection[T, S]{}, err
			}
			broken := session.CheckGuardrails(name, obj)
			return external.Connection[T, S]{
				Adapter: adapter(session, d.kube), Version: session.ProviderGeneration,
				Recheck: func(ctx context.Context) error {
					return d.connector.Recheck(ctx, session, obj.GetNamespace())
				},
				Admit: func(ctx context.Context, obj T, references []external.Reference) error {
					return reference.For(session).Admit(ctx, obj, references)
				},
				Objection: cmp.Or(guardrail.Refuse(broken), session.CheckTags(obj.OwnTags())),
				Withheld:  guardrail.Fields(broken),
			}, nil
		}
	}
}

// readLive returns a function that reads live values with the object's adapter; it returns nil values if the adapter
// has none.
func readLive[T external.Object, S any](connect func(deps, string) external.Connect[T, S]) func(
	context.Context, deps, string, external.Object) (map[string]string, error) {
	return func(ctx context.Context, d deps, name string, obj external.Object) (map[string]string, error) {
		c, err := connect(d, name)(ctx, obj.(T))
		if err != nil {
			return nil, err
		}
		if reader, ok := c.Adapter.(external.LiveReader[T]); ok {
			return reader.ReadLive(ctx, obj.(T))
		}
		return nil, nil
	}
}
