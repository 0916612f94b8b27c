// Package resource serves the pages of one object: its state, the actions on it, and the Pods and logs of an
// application.
package resource

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/listing"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/podlogs"
)

// Cluster is the part of cluster.Cluster that these pages need; see there for the contracts.
type Cluster interface {
	Reader
	Historian
	SecretRights
	PodReader
	Writer
}

// Reader reads objects for a caller, after checking access.
type Reader interface {
	listing.Cluster
	Kinds() catalog.Catalog
	Can(ctx context.Context, id auth.Identity, verb string, k catalog.Kind, namespace string) (bool, error)
	Get(ctx context.Context, id auth.Identity, ref cluster.Ref) (*unstructured.Unstructured, error)
	List(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) ([]*unstructured.Unstructured, error)
	Checks(ctx context.Context, id auth.Identity, obj *unstructured.Unstructured) (operator.Checks, error)
	CheckHostname(ctx context.Context, id auth.Identity, namespace string, q availability.Query) (
		availability.Answer, error)
}

// Historian returns what happened to an object, after checking access.
type Historian interface {
	Events(ctx context.Context, id auth.Identity, obj *unstructured.Unstructured) ([]*corev1.Event, error)
	History(ctx context.Context, id auth.Identity, ref cluster.Ref, obj *unstructured.Unstructured) (
		[]cluster.Version, error)
}

// SecretRights returns what a caller can do with Secrets.
type SecretRights interface {
	Passwords(ctx context.Context, id auth.Identity, of cluster.Ref, obj *unstructured.Unstructured, secret string) (
		cluster.Passwords, error)
}

// PodReader reads an application's Pods and logs for a caller, after checking access.
type PodReader interface {
	Pods(ctx context.Context, id auth.Identity, app *unstructured.Unstructured) ([]*corev1.Pod, error)
	Usage(ctx context.Context, id auth.Identity, app *unstructured.Unstructured, pods []*corev1.Pod) (
		map[string]cluster.Usage, error)
	PodEvents(ctx context.Context, id auth.Identity, pod *corev1.Pod) ([]*corev1.Event, error)
	Logs(ctx context.Context, id auth.Identity, q cluster.LogQuery) (*podlogs.Lines, error)
	MayReadLogs(ctx context.Context, id auth.Identity, namespace string) error
}

// Writer writes as a caller.
type Writer interface {
	Annotate(ctx context.Context, id auth.Identity, ref cluster.Ref, annotations map[string]*string) (
		*unstructured.Unstructured, error)
	Scale(ctx context.Context, id auth.Identity, ref cluster.Ref, replicas int64) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, id auth.Identity, ref cluster.Ref, seen cluster.Seen, dryRun bool) (
		cluster.Result, error)
}

// Pages serves the pages of one object.
type Pages struct {
	*page.Base
	cluster Cluster
	portal  string // scheme and host, for the commands that users copy
}

// New returns the pages, which read from c.
func New(base *page.Base, c Cluster, portal string) *Pages {
	return &Pages{Base: base, cluster: c, portal: portal}
}
