package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/objects"
	"github.com/portico-platform/portico/portal/cluster/people"
	"github.com/portico-platform/portico/portal/cluster/pods"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/cluster/sessions"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/podlogs"
)

// Rights is what a caller can do: rights.Rights.
type Rights interface {
	Can(ctx context.Context, id auth.Identity, verb string, k catalog.Kind, namespace string) (bool, error)
	CanOne(ctx context.Context, id auth.Identity, verb string, ref catalog.Ref) (bool, error)
	Require(ctx context.Context, id auth.Identity, verb string, ref catalog.Ref) error
	RequireOne(ctx context.Context, id auth.Identity, verb string, ref catalog.Ref) error
	Ahead(ctx context.Context, id auth.Identity, rights ...rights.Right)
	In(ctx context.Context, id auth.Identity, kinds catalog.Catalog, namespace string) (map[string][]string, error)
	Namespaces(ctx context.Context, id auth.Identity) ([]string, error)
	Unlisted(ctx context.Context, id auth.Identity, namespaces []string) (map[string]catalog.Catalog, error)
}

// Objects reads objects: objects.Objects.
type Objects interface {
	List(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) ([]*unstructured.Unstructured, error)
	Rows(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) ([]*overview.Row, error)
	Get(ctx context.Context, id auth.Identity, ref catalog.Ref) (*unstructured.Unstructured, error)
	Current(ctx context.Context, id auth.Identity, ref catalog.Ref) (*unstructured.Unstructured, error)
	Events(ctx context.Context, id auth.Identity, obj *unstructured.Unstructured) ([]*corev1.Event, error)
	Activity(ctx context.Context, id auth.Identity, namespace string) (objects.Activity, error)
	Overview(ctx context.Context, id auth.Identity) (overview.Overview, error)
	TimesToReady(k catalog.Kind) overview.Times
}

// Teams reads about namespaces and their Teams: teams.Teams.
type Teams interface {
	Visible(ctx context.Context, id auth.Identity) ([]*unstructured.Unstructured, error)
	Quotas(ctx context.Context, id auth.Identity, namespace string) ([]teams.Quota, error)
	Members(ctx context.Context, id auth.Identity, namespace string) ([]teams.Member, error)
	Guardrails(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) (guardrails.Limits, error)
	Defaults(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) (v1alpha1.TeamDefaults, error)
	Providers(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) ([]teams.Provider, error)
	FreeNamespace(ctx context.Context, id auth.Identity, team, namespace string) (bool, error)
	Bindings(ctx context.Context, id auth.Identity, namespace string) (map[string][]string, error)
}

// Hostnames reads which hostnames a namespace can use: hostnames.Hostnames.
type Hostnames interface {
	Check(ctx context.Context, id auth.Identity, namespace string, q availability.Query) (availability.Answer, error)
	Grant(ctx context.Context, id auth.Identity, namespace string) (*v1alpha1.HostnameGrantSpec, error)
	Zones(ctx context.Context, id auth.Identity, namespace string) (map[string]string, error)
}

// Writer changes objects as the caller: write.Writer.
type Writer interface {
	Create(ctx context.Context, id auth.Identity, k catalog.Kind, obj *unstructured.Unstructured, dryRun bool) (
		write.Result, error)
	Update(ctx context.Context, id auth.Identity, k catalog.Kind, obj *unstructured.Unstructured, etag string,
		dryRun bool) (write.Result, error)
	Patch(ctx context.Context, id auth.Identity, ref catalog.Ref, with map[string]any, etag string, dryRun bool) (
		write.Result, error)
	Edit(ctx context.Context, id auth.Identity, k catalog.Kind, began write.Began, obj *unstructured.Unstructured,
		dryRun bool) (write.Result, error)
	Annotate(ctx context.Context, id auth.Identity, ref catalog.Ref, annotations map[string]*string) (
		*unstructured.Unstructured, error)
	Scale(ctx context.Context, id auth.Identity, ref catalog.Ref, replicas int64) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, id auth.Identity, ref catalog.Ref, seen write.Seen, dryRun bool) (write.Result, error)
}

// Pods reads about the Pods of applications: pods.Pods.
type Pods interface {
	List(ctx context.Context, id auth.Identity, app *unstructured.Unstructured) ([]*corev1.Pod, error)
	Events(ctx context.Context, id auth.Identity, pod *corev1.Pod) ([]*corev1.Event, error)
	Usage(ctx context.Context, id auth.Identity, app *unstructured.Unstructured, pods []*corev1.Pod) (
		map[string]pods.Usage, error)
	Logs(ctx context.Context, id auth.Identity, q pods.LogQuery) (*podlogs.Lines, error)
	MayReadLogs(ctx context.Context, id auth.Identity, namespace string) error
}

// People sends users' requests about Secrets and passwords to the operator: people.People.
type People interface {
	ServesPeople(ctx context.Context) error
	Secrets(ctx context.Context, id auth.Identity, namespace string) (operatorapi.SecretList, error)
	SetSecret(ctx context.Context, id auth.Identity, namespace, name string, change operatorapi.SecretChange) (
		operatorapi.Secret, error)
	DeleteSecret(ctx context.Context, id auth.Identity, namespace, name, confirm string) (operatorapi.Secret, error)
	Reveal(ctx context.Context, id auth.Identity, ref catalog.Ref, master bool) (operatorapi.Password, error)
	MayValues(ctx context.Context, id auth.Identity, verb, namespace, name string) (bool, error)
	RequireValues(ctx context.Context, id auth.Identity, verb, namespace, name string) error
	Passwords(ctx context.Context, id auth.Identity, of catalog.Ref, obj *unstructured.Unstructured, secret string) (
		people.Passwords, error)
}

// Operator reads what the operator has, and the history that it recorded.
type Operator interface {
	Checks(ctx context.Context, id auth.Identity, obj *unstructured.Unstructured) (operator.Checks, error)
	Features(ctx context.Context, id auth.Identity) (operator.Features, error)
	Controllers(ctx context.Context, id auth.Identity) (operator.Work, error)
	CallHistory(ctx context.Context, id auth.Identity) ([]operator.Span, error)
	Offers(ctx context.Context, id auth.Identity, k catalog.Kind, q operatorapi.OfferQuery) (operator.Offers, error)
	OwnUsers(ctx context.Context, database *unstructured.Unstructured) (can bool, why string, err error)
	Deleted(ctx context.Context, id auth.Identity, namespace string) (operator.Deleted, error)
	History(ctx context.Context, id auth.Identity, ref catalog.Ref, obj *unstructured.Unstructured) ([]Version, error)
}

// Sessions ends the sessions of users: sessions.Sessions.
type Sessions interface {
	MayEnd(ctx context.Context, id auth.Identity) (bool, error)
	End(ctx context.Context, id auth.Identity, user string, dryRun bool) (sessions.Ended, error)
}
