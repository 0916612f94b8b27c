package pages

import (
	"context"
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
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/people"
	"github.com/portico-platform/portico/portal/cluster/pods"
	"github.com/portico-platform/portico/portal/cluster/readingtest"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/operator"
)

// noon is the time of all tests.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// fakeCluster is an in-memory cluster, which decides and reads as a real one: denied lists "verb namespace" that is
// refused, and while it is down every question about a right fails.
type fakeCluster struct {
	*readingtest.Reading
	*teams.Teams
	*people.People
	mu         sync.Mutex
	objects    []*unstructured.Unstructured
	events     []*corev1.Event
	denied     []string
	down       bool
	broken     error // unexpected error of reading objects, accounts and defaults
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
	r := readingtest.New(tb, &kubetest.Spaces{Names: []string{"default", "payments", "search"}})
	f := &fakeCluster{
		Reading: r, Teams: teams.New(r.Rights, r.Feed, r.Objects),
		People: people.New(r.Rights, nil, nil),
		open:   []teams.Provider{{Name: "aws-prod", AccountID: "123456789012", Region: "eu-west-1", Ready: true}},
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
		return &failure.UnavailableError{Doing: "asking", Cause: errAway}
	}
	return nil
}

func (f *fakeCluster) Checks(ctx context.Context, id auth.Identity, obj *unstructured.Unstructured) (
	operator.Checks, error,
) {
	if err := f.Rights.Require(ctx, id, "get", refOf(f.Kinds, obj)); err != nil {
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
	if err := f.Rights.Require(ctx, id, "create", refOf(f.Kinds, obj)); err != nil {
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
	if _, err := f.Objects.Get(ctx, id, refOf(f.Kinds, obj)); err == nil {
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
	f.publish(feed.Change{Kind: k.Plural, Namespace: obj.GetNamespace(), Name: obj.GetName()})
	return write.Result{Object: out}, nil
}

func (f *fakeCluster) Delete(ctx context.Context, id auth.Identity, ref catalog.Ref, seen write.Seen, _ bool) (
	write.Result, error,
) {
	if err := f.Rights.Require(ctx, id, "delete", ref); err != nil {
		return write.Result{}, err
	}
	f.mu.Lock()
	f.objects = slices.DeleteFunc(f.objects, func(o *unstructured.Unstructured) bool { return o.GetUID() == seen.UID })
	f.mu.Unlock()
	f.publish(feed.Change{Kind: ref.Kind.Plural, Namespace: ref.Namespace, Name: ref.Name})
	return write.Result{}, nil
}

// parts returns the fake as the parts of a Cluster.
func (f *fakeCluster) parts() *cluster.Cluster {
	return &cluster.Cluster{
		Kinds: catalog.NewLive(f.Kinds), Rights: f.Rights, Objects: f.Objects, Teams: f, Hostnames: f, Write: f,
		People:   f,
		Pods:     fakePods{f, pods.New(f.Rights, f.Feed, nil, nil, nil, f.Judge.Clock)},
		Operator: f, Sessions: f, Changes: f.Feed.Changes,
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

// site returns the pages for one caller, who sees what the fake has at the time of a request.
func site(f *fakeCluster, id auth.Identity, now time.Time) http.Handler {
	pages := routes(f, id, now)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.show()
		pages.ServeHTTP(w, r)
	})
}

func routes(f *fakeCluster, id auth.Identity, now time.Time) http.Handler {
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
