package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	api "github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/ec2"
	"github.com/portico-platform/portico/controllers/aws/rds"
	"github.com/portico-platform/portico/controllers/aws/s3"
	"github.com/portico-platform/portico/controllers/aws/sns"
	"github.com/portico-platform/portico/controllers/aws/sqs"
	"github.com/portico-platform/portico/controllers/deleted"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/hostname"
	"github.com/portico-platform/portico/controllers/offers"
	"github.com/portico-platform/portico/controllers/operatorapi"
	"github.com/portico-platform/portico/controllers/watch"
)

// offered are the fields, by kind, for which an AWS account offers values.
var offered = map[string]offers.Fields{
	v1alpha1.KindEC2Instance:            ec2.Offers,
	v1alpha1.KindRDSInstance:            rds.Offers,
	v1alpha1.KindGatewayHostnameRequest: hostname.Offers,
}

// leftBehind describes, by kind, how to find what AWS still has of deleted objects.
var leftBehind = map[string]deleted.Kind{
	v1alpha1.KindEC2Instance: ec2.Deleted,
	v1alpha1.KindRDSInstance: rds.Deleted,
	v1alpha1.KindS3Bucket:    s3.Deleted,
	v1alpha1.KindSNSTopic:    sns.Deleted,
	v1alpha1.KindSQSQueue:    sqs.Deleted,
}

// deletedLists returns deleted.Lists for leftBehind.
func deletedLists(mgr ctrl.Manager, d deps) *deleted.Lists {
	return &deleted.Lists{
		Kinds: leftBehind, Reader: mgr.GetCache(), Connector: d.connector,
		Objects: func(ctx context.Context, kind, namespace string, each func(external.Object)) error {
			return watch.Each(ctx, mgr, kinds[kind].object, func(o client.Object) { each(o.(external.Object)) },
				client.InNamespace(namespace))
		},
	}
}

// setupOperatorAPI adds the server for the engine's records, unless it is disabled.
func setupOperatorAPI(mgr ctrl.Manager, d deps, o Options) error {
	issuers, err := setupDeployers(mgr, o)
	if err != nil || o.OperatorAPI.Disabled() {
		return err
	}
	o.OperatorAPI.Namespace = o.Namespace
	door, err := forPeople(mgr, o)
	if err != nil {
		return err
	}
	off := ""
	if door == nil {
		off = operatorapi.PeopleOff
	}
	d.features.Set(api.FeaturePeople, off)
	off = ""
	if o.Databases.CAFile == "" {
		off = operatorapi.DatabasesOff
	}
	d.features.Set(api.FeatureDatabases, off)
	deployers, err := exchanges(mgr, issuers, d, o)
	if err != nil {
		return err
	}
	server, err := operatorapi.New(mgr.GetConfig(), o.OperatorAPI, operatorapi.Source{
		Records: o.Engine.Records, ReadLive: liveReader(mgr.GetClient(), d),
		Offers:  (&offers.Lists{Kinds: offered, Connector: d.connector}).Open,
		Deleted: deletedLists(mgr, d).List, Features: d.features,
		Metrics: metrics.Registry, People: door, Deployers: deployers, Now: o.Engine.Now, TeamOf: o.Engine.Teams.Of,
		NamespaceUID: namespaceUID(mgr.GetClient()),
	})
	if err != nil {
		return err
	}
	return mgr.Add(server)
}

// namespaceUID returns a function that looks up the UID of a namespace in the cache, "" if there is none.
func namespaceUID(cached client.Reader) func(context.Context, string) (types.UID, error) {
	return func(ctx context.Context, name string) (types.UID, error) {
		ns := &metav1.PartialObjectMetadata{}
		ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		_, err := engine.Find(ctx, cached, types.NamespacedName{Name: name}, ns)
		return ns.UID, err
	}
}

// liveReader returns a function that reads live values according to kinds.
func liveReader(cached client.Reader, d deps) operatorapi.ReadLive {
	return func(ctx context.Context, name string, of types.NamespacedName) (map[string]string, error) {
		k, ok := kinds[name]
		if !ok || !k.hasLive {
			return nil, nil
		}
		obj := k.object.DeepCopyObject().(external.Object)
		if err := cached.Get(ctx, of, obj); err != nil {
			if client.IgnoreNotFound(err) == nil {
				return nil, nil // it was just deleted
			}
			return nil, fmt.Errorf("read %s %s: %w", name, of, err)
		}
		return k.readLive(ctx, d, name, obj)
	}
}
