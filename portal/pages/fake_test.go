package pages

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/pages/page"
)

// noon is the time of all tests.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// fakeCluster is an in-memory cluster: denied lists "verb namespace" that is refused, down makes everything fail.
type fakeCluster struct {
	mu         sync.Mutex
	kinds      catalog.Catalog
	objects    []*unstructured.Unstructured
	events     []*corev1.Event
	spaces     []string
	denied     []string
	down       bool
	broken     error // unexpected error of every call
	changes    *feed.Changes
	open       []teams.Provider
	guardrails guardrails.Limits
	dryRuns    int
	judge      func(*unstructured.Unstructured) error // validates new objects; nil accepts all
	checks     map[string]operator.Checks             // by name; others are unknown
	running
	hosting
	platform
	owning
	ender
	keeping
	remembering
	left     operator.Deleted // in AWS, of deleted objects
	ownUsers []string         // databases in which applications can have their own user
}

func newFake(tb testing.TB, objects ...string) *fakeCluster {
	tb.Helper()
	kinds := catalogtest.Kinds(tb)
	f := &fakeCluster{
		kinds: kinds, changes: feed.NewChanges(), spaces: []string{"payments", "search"},
		open: []teams.Provider{{Name: "aws-prod", AccountID: "123456789012", Region: "eu-west-1", Ready: true}},
	}
	for _, o := range objects {
		f.objects = append(f.objects, object(tb, o))
	}
	return f
}

// object parses YAML and sets what the API server would set.
func object(tb testing.TB, text string) *unstructured.Unstructured {
	tb.Helper()
	obj := &unstructured.Unstructured{}
	j, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	if err := obj.UnmarshalJSON(j); err != nil {
		tb.Fatal(err)
	}
	if obj.GetUID() == "" {
		obj.SetUID(types.UID("uid-" + obj.GetName()))
	}
	return obj
}

func (f *fakeCluster) away() error {
	if f.broken != nil {
		return f.broken
	}
	if f.down {
		return &failure.UnavailableError{Doing: "asking", Cause: errors.New("dial tcp 192.0.2.1:6443: refused")}
	}
	return nil
}

func (f *fakeCluster) Namespaces(ctx context.Context, id auth.Identity) ([]string, error) {
	var out []string
	for _, ns := range f.spaces {
		if ok, err := f.Can(ctx, id, "list", catalog.Kind{}, ns); err != nil || ok {
			out = append(out, ns)
		}
	}
	return out, f.away()
}

func (f *fakeCluster) require(ctx context.Context, id auth.Identity, verb string, k catalog.Kind, ns string) error {
	ok, err := f.Can(ctx, id, verb, k, ns)
	if err == nil && !ok {
		return &failure.ForbiddenError{Verb: verb, Resource: k.Plural, Namespace: ns}
	}
	return err
}

// Rows returns the rows of List's objects.
func (f *fakeCluster) Rows(ctx context.Context, id auth.Identity, k catalog.Kind, ns string) ([]*overview.Row, error) {
	all, err := f.List(ctx, id, k, ns)
	var out []*overview.Row
	for _, obj := range all {
		out = append(out, overview.NewRow(k, obj))
	}
	return out, err
}

func (f *fakeCluster) List(ctx context.Context, id auth.Identity, k catalog.Kind, ns string) (
	[]*unstructured.Unstructured, error,
) {
	err := f.require(ctx, id, "list", k, ns)
	narrowed := ns == "" && k.Namespaced && page.Unseen(err)
	if err != nil && !narrowed {
		return nil, err
	}
	all, _ := f.Can(ctx, id, "list", k, "")
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []*unstructured.Unstructured
	for _, o := range f.objects {
		may, _ := f.Can(ctx, id, "list", k, o.GetNamespace())
		if seen := all || may; seen && o.GetKind() == k.Name && everywhere(o, ns) {
			out = append(out, o)
		}
	}
	return out, nil
}

func (f *fakeCluster) Get(ctx context.Context, id auth.Identity, ref catalog.Ref) (*unstructured.Unstructured, error) {
	if ref.Kind.Name == page.TeamKind {
		return f.getTeam(ctx, id, ref)
	}
	if err := f.require(ctx, id, "get", ref.Kind, ref.Namespace); err != nil {
		return nil, err
	}
	all, err := f.List(ctx, id, ref.Kind, ref.Namespace)
	for _, o := range all {
		if o.GetName() == ref.Name {
			return o.DeepCopy(), err
		}
	}
	return nil, apierrors.NewNotFound(ref.Kind.Resource.GroupResource(), ref.Name)
}

func (f *fakeCluster) Events(_ context.Context, _ auth.Identity, obj *unstructured.Unstructured) (
	[]*corev1.Event, error,
) {
	var out []*corev1.Event
	for _, e := range f.events {
		if e.InvolvedObject.Name == obj.GetName() {
			out = append(out, e)
		}
	}
	return out, nil
}

func (f *fakeCluster) Checks(ctx context.Context, id auth.Identity, obj *unstructured.Unstructured) (
	operator.Checks, error,
) {
	if err := f.require(ctx, id, "get", catalog.Kind{}, obj.GetNamespace()); err != nil {
		return operator.Checks{}, err
	}
	if known, ok := f.checks[obj.GetName()]; ok {
		return known, nil
	}
	return operator.Checks{State: operator.Unknown}, nil
}

func (f *fakeCluster) Guardrails(context.Context, auth.Identity, catalog.Kind, string) (guardrails.Limits, error) {
	return f.guardrails, nil
}

func (f *fakeCluster) Providers(context.Context, auth.Identity, catalog.Kind, string) ([]teams.Provider, error) {
	return f.open, f.away()
}

// Create refuses what the API server would: an invalid bucket name, and a name that is taken.
func (f *fakeCluster) Create(ctx context.Context, id auth.Identity, k catalog.Kind, obj *unstructured.Unstructured,
	dryRun bool,
) (write.Result, error) {
	if err := f.require(ctx, id, "create", k, obj.GetNamespace()); err != nil {
		return write.Result{}, err
	}
	if err := badBucket(k, obj); err != nil {
		return write.Result{}, err
	}
	if f.judge != nil {
		if err := f.judge(obj); err != nil {
			return write.Result{}, err
		}
	}
	if _, err := f.Get(ctx, id, catalog.Ref{Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName()}); err == nil {
		return write.Result{}, apierrors.NewAlreadyExists(k.Resource.GroupResource(), obj.GetName())
	}
	out := obj.DeepCopy()
	out.SetUID(types.UID("uid-" + obj.GetName()))
	out.SetGeneration(1)
	_ = unstructured.SetNestedField(out.Object, "Delete", "spec", "deletionPolicy")
	_ = unstructured.SetNestedField(out.Object, int64(-1), "status", "observedGeneration")
	if dryRun {
		f.dryRuns++
		return write.Result{Object: out, Warnings: []string{"unencrypted uploads are refused"}}, nil
	}
	f.mu.Lock()
	f.objects = append(f.objects, out)
	f.mu.Unlock()
	f.changes.Publish(feed.Change{Kind: k.Plural, Namespace: obj.GetNamespace(), Name: obj.GetName()})
	return write.Result{Object: out}, nil
}

func (f *fakeCluster) Delete(ctx context.Context, id auth.Identity, ref catalog.Ref, seen write.Seen, _ bool) (
	write.Result, error,
) {
	if err := f.require(ctx, id, "delete", ref.Kind, ref.Namespace); err != nil {
		return write.Result{}, err
	}
	f.mu.Lock()
	f.objects = slices.DeleteFunc(f.objects, func(o *unstructured.Unstructured) bool { return o.GetUID() == seen.UID })
	f.mu.Unlock()
	f.changes.Publish(feed.Change{Kind: ref.Kind.Plural, Namespace: ref.Namespace, Name: ref.Name})
	return write.Result{}, nil
}

// parts returns the fake as the parts of a Cluster.
func (f *fakeCluster) parts() *cluster.Cluster {
	return &cluster.Cluster{
		Kinds: f.kinds, Rights: f, Objects: f, Teams: f, Hostnames: f, Write: f, Pods: fakePods{f}, People: f, Operator: f,
		Sessions: f, Changes: f.changes,
	}
}

// fakeCLI returns how tools sign in.
func fakeCLI(context.Context) auth.CLI {
	return auth.CLI{
		Issuer: "https://login.example.com", ClientID: "portico-cli", Scopes: []string{"openid", "groups"},
		Audiences: []string{"portico"},
	}
}

var developer = auth.Identity{
	Username: "oidc:payments-dev", Groups: []string{"oidc:payments"},
	Name: "Payments Developer",
}

// site returns the pages for one caller.
func site(f *fakeCluster, id auth.Identity, now time.Time) http.Handler {
	p := New(f.parts(), Reach{
		Portal: "https://portal.example.com", Kubernetes: "https://k8s.example.com:6443", Prefix: "oidc:",
		CLI: fakeCLI,
	}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	p.Now = func() time.Time { return now }
	p.Alive = func(context.Context) error { return nil }
	p.Watching(func() time.Time { return f.outage })
	r := chi.NewRouter()
	r.Use(auth.SecurityHeaders, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(auth.WithIdentity(r.Context(), id)))
		})
	})
	p.Routes(r)
	return r
}
