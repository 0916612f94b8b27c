//go:build integration

package integration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/controllers/cloud"
	dbserver "github.com/portico-platform/portico/controllers/databaseuser/server"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/operatorapi"
	"github.com/portico-platform/portico/test/stack"
)

// patience is how long a test waits for anything; no test asserts how long it took.
const patience = 2 * time.Minute

// scheme is shared: registering every kind takes longer than many tests.
var scheme = sync.OnceValue(controllers.Scheme)

var newAdmin = sync.OnceValues(func() (client.Client, error) {
	return client.New(world.Admin, client.Options{Scheme: scheme()})
})

// admin returns a client with all permissions.
func admin(t *testing.T) client.Client {
	t.Helper()
	c, err := newAdmin()
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the API to serve our kinds", func() (bool, string) {
		err := c.List(t.Context(), &v1alpha1.S3BucketList{}, client.InNamespace("default"))
		return err == nil, fmt.Sprint(err)
	})
	return c
}

// operatorOptions change an operator from the default.
type operatorOptions struct {
	newClient      client.NewClientFunc // to see and cut Kubernetes writes
	only           client.Object        // the one object of its kind that the operator sees; nil: all
	resync         time.Duration
	providerResync time.Duration
	sweep          time.Duration
	clusterID      string
	tokenFile      string // of the web identity
	leaderElect    bool
	gather         time.Duration // how long changes of a zone are batched; 0: hardly at all
	patience       time.Duration // how long a load balancer may lag behind its changes; 0: longer than any test
	timeScale      float64       // scale of AWS's delays; 0: quick
	inspect        string        // address that serves the inspection API
	log            logr.Logger
	paced          bool            // with the real rate of calls to Route 53
	endpoints      cloud.Endpoints // in addition to the simulator's
	databases      dbserver.Dialer
	people         identity.Settings // the identity provider whose tokens are accepted
	audience       string            // of tokens of CI jobs that are exchanged
}

// quick is the time scale of the simulator and of operators: what AWS shows after minutes, it shows after as many
// half seconds.
const quick = 1.0 / 120

// calm makes AWS show every change at once until the test ends: for tests that count calls and writes.
func calm(t *testing.T) {
	t.Helper()
	t.Cleanup(world.Proxy.Calm())
}

// withOperator returns an admin's client, with an operator that runs until the test ends.
func withOperator(t *testing.T) client.Client {
	t.Helper()
	c := admin(t)
	startOperator(t, operatorOptions{})
	return c
}

// startOperator runs the operator with its production permissions until the test ends or stop is called.
func startOperator(t *testing.T, o operatorOptions) (stop func()) {
	t.Helper()
	cfg, err := world.ServiceAccountConfig(t.Context(), stack.Namespace, "portico-operator")
	if err != nil {
		t.Fatal(err)
	}
	return startOperatorAs(t, cfg, o)
}

func startOperatorAs(t *testing.T, cfg *rest.Config, o operatorOptions) (stop func()) {
	t.Helper()
	if o.resync == 0 {
		o.resync = time.Hour
	}
	if o.log.GetSink() == nil {
		o.log = operatorLog()
	}
	seen := controllers.Cache(stack.Namespace)
	if o.only != nil {
		kind := o.only.DeepCopyObject().(client.Object)
		seen.ByObject[kind] = cache.ByObject{Namespaces: map[string]cache.Config{
			o.only.GetNamespace(): {FieldSelector: fields.OneTermEqualSelector("metadata.name", o.only.GetName())},
		}}
	}
	skipNames := true
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                        scheme(),
		Cache:                         seen,
		Client:                        controllers.Client(),
		NewClient:                     o.newClient,
		Metrics:                       server.Options{BindAddress: "0"},
		HealthProbeBindAddress:        "0",
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              "portico-operator",
		LeaderElectionNamespace:       stack.Namespace,
		LeaderElectionReleaseOnCancel: true,
		Controller: crconfig.Controller{
			SkipNameValidation: &skipNames,
			EnableWarmup:       &o.leaderElect,
		},
		Logger: o.log,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	rates := cloud.DefaultRates()
	if !o.paced {
		rates["Route 53"] = 200 // one test uses the real limit, and the others need not wait for it
	}
	err = controllers.Setup(ctx, mgr, controllers.Options{
		Rates:          rates,
		Endpoints:      append(cloud.Endpoints{world.AWSEndpoint}, o.endpoints...),
		Namespace:      stack.Namespace,
		ClusterID:      o.clusterID,
		TokenFile:      o.tokenFile,
		ProviderResync: o.providerResync,
		SweepEvery:     o.sweep,
		TimeScale:      cmp.Or(o.timeScale, quick),
		Hostnames: controllers.Hostnames{
			RetryInterval: time.Second,
			BatchWindow:   cmp.Or(o.gather, 50*time.Millisecond),
			Patience:      cmp.Or(o.patience, time.Hour),
		},
		Engine:         engine.Options{Workers: 10, Resync: o.resync, Timeout: time.Minute, Now: time.Now},
		OperatorAPI:    operatorapi.Options{Bind: o.inspect, Elected: o.leaderElect},
		Databases:      o.databases,
		People:         o.people,
		DeployAudience: o.audience,
	})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	var stopped atomic.Bool
	stop = func() {
		if stopped.Swap(true) {
			return
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("operator: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

var counter atomic.Int64

// team creates a namespace that can use the sample provider, and empties it at the end.
func team(t *testing.T, c client.Client) string {
	t.Helper()
	name := fmt.Sprintf("team-%d", counter.Add(1))
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"portico.dev/aws": "allowed"},
	}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { abandon(t, c, name) })
	return name
}

// abandon removes a test's objects, so that operators of later tests do not see them, without waiting for AWS, and
// everybody's rights in the namespace. It deletes the namespace only if Pods are left: that takes Kubernetes some 60
// requests.
func abandon(t *testing.T, c client.Client, ns string) {
	t.Helper()
	ctx := context.Background() // the test's own context is cancelled
	for kind := range scheme().KnownTypes(v1alpha1.GroupVersion) {
		notOfTests := []string{"List", "AWSProviderList", "CatalogEntryList", "TeamList"}
		if strings.HasSuffix(kind, "List") && !slices.Contains(notOfTests, kind) {
			abandonAll(ctx, t, c, ns, kind)
		}
	}
	pods := &metav1.PartialObjectMetadataList{}
	pods.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	err := errors.Join(c.DeleteAllOf(ctx, &rbacv1.RoleBinding{}, client.InNamespace(ns)),
		c.List(ctx, pods, client.InNamespace(ns), client.Limit(1)))
	if err == nil && len(pods.Items) > 0 {
		err = c.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
	}
	if client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
}

func abandonAll(ctx context.Context, t *testing.T, c client.Client, ns, kind string) {
	t.Helper()
	left := &unstructured.UnstructuredList{}
	left.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	if err := c.List(ctx, left, client.InNamespace(ns)); err != nil {
		if !meta.IsNoMatchError(err) { // options of the API machinery are known types too
			t.Error(err)
		}
		return
	}
	for i := range left.Items {
		release(ctx, t, c, &left.Items[i])
	}
}

// bucketOf returns a bucket with only its names; its S3 name is unique to the test.
func bucketOf(ns, name string) *v1alpha1.S3Bucket {
	return &v1alpha1.S3Bucket{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: v1alpha1.S3BucketSpec{
			AWSSpec:    v1alpha1.AWSSpec{ProviderRef: v1alpha1.LocalRef{Name: stack.Provider}},
			BucketName: strings.ReplaceAll(ns+"-"+name, ".", "-"),
		},
	}
}

func create(t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// createReady creates obj and waits until it is Ready.
func createReady(t *testing.T, c client.Client, obj engine.Object) {
	t.Helper()
	create(t, c, obj)
	ready(t, c, obj)
}

// await polls until ok returns true, and fails with the last state that it described.
func await(t *testing.T, what string, ok func() (bool, string)) {
	t.Helper()
	awaitFor(t, patience, what, ok)
}

// awaitFor polls for at most the given time, for much work on a busy machine. The longer it has waited, the less
// often it polls: tests that wait must not keep the API server busy that they wait for.
func awaitFor(t *testing.T, most time.Duration, what string, ok func() (bool, string)) {
	t.Helper()
	began := time.Now()
	deadline := began.Add(most)
	for {
		done, state := ok()
		if done {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: still %s", what, state)
		}
		time.Sleep(min(max(time.Since(began)/10, 20*time.Millisecond), 250*time.Millisecond))
	}
}

// ready reads obj until it is Ready at its current generation.
func ready(t *testing.T, c client.Client, obj engine.Object) {
	t.Helper()
	reason(t, c, obj, v1alpha1.ReasonInSync)
}

// reason reads obj until its Ready condition is for its current generation and has this reason.
func reason(t *testing.T, c client.Client, obj engine.Object, want string) metav1.Condition {
	t.Helper()
	return reasonWithin(t, c, obj, want, patience)
}

// reasonWithin reads obj like reason, for as long as most.
func reasonWithin(t *testing.T, c client.Client, obj engine.Object, want string, most time.Duration) metav1.Condition {
	t.Helper()
	var got metav1.Condition
	awaitFor(t, most, obj.GetName()+" to be "+want, func() (bool, string) {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			return false, err.Error()
		}
		got = metav1.Condition{} // another object with the name may have none at first
		if found := meta.FindStatusCondition(obj.Common().Conditions, v1alpha1.ConditionReady); found != nil {
			got = *found
		}
		return got.Reason == want && got.ObservedGeneration == obj.GetGeneration(), got.Reason + ": " + got.Message
	})
	return got
}

// edit changes obj under its current resourceVersion, and retries on conflicts.
func edit[T client.Object](t *testing.T, c client.Client, obj T, change func(T)) {
	t.Helper()
	for {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			t.Fatal(err)
		}
		before := obj.DeepCopyObject().(client.Object)
		change(obj)
		err := c.Patch(t.Context(), obj, client.MergeFrom(before))
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			t.Fatal(err)
		}
	}
}

// annotate sets one annotation of obj.
func annotate(t *testing.T, c client.Client, obj client.Object, key, value string) {
	t.Helper()
	edit(t, c, obj, func(o client.Object) {
		all := o.GetAnnotations()
		if all == nil {
			all = map[string]string{}
		}
		all[key] = value
		o.SetAnnotations(all)
	})
}

// atRest waits until obj is not written any more, and returns its resourceVersion.
func atRest(t *testing.T, c client.Client, obj client.Object) string {
	t.Helper()
	version, since := "", time.Now()
	await(t, "rest", func() (bool, string) {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			return false, err.Error()
		}
		if obj.GetResourceVersion() != version {
			version, since = obj.GetResourceVersion(), time.Now()
		}
		return time.Since(since) > quiet, "written"
	})
	return version
}

// eventsOf returns the events about obj, as "Reason: note".
func eventsOf(t *testing.T, c client.Client, obj client.Object) []string {
	t.Helper()
	list := &eventsv1.EventList{}
	if err := c.List(t.Context(), list, client.InNamespace(obj.GetNamespace())); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range list.Items {
		if e.Regarding.UID == obj.GetUID() {
			all = append(all, e.Reason+": "+e.Note)
		}
	}
	return all
}

func awaitEvent(t *testing.T, c client.Client, obj client.Object, parts ...string) {
	t.Helper()
	await(t, fmt.Sprintf("an event with %q", parts), func() (bool, string) {
		all := eventsOf(t, c, obj)
		for _, e := range all {
			if containsAll(e, parts) {
				return true, ""
			}
		}
		return false, strings.Join(all, "\n")
	})
}

func containsAll(text string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}

// outside returns an S3 client that bypasses the operator, with an account's own keys.
func outside(t *testing.T, accessKey string) *s3.Client {
	t.Helper()
	return s3.NewFromConfig(outsideConfig(t, accessKey), func(o *s3.Options) { o.UsePathStyle = true })
}

// outsideConfig returns the configuration of clients that bypass the operator, with an account's own keys.
func outsideConfig(t *testing.T, accessKey string) aws.Config {
	t.Helper()
	cfg := world.OutsideAWS()
	cfg.Credentials = credentials.NewStaticCredentialsProvider(accessKey, "test", "")
	return cfg
}

// tagsOf returns a bucket's tags in AWS, or nil if there is no bucket.
func tagsOf(t *testing.T, api *s3.Client, bucket string) map[string]string {
	t.Helper()
	out, err := api.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &bucket})
	if err != nil {
		if strings.Contains(err.Error(), "NoSuchTagSet") {
			return map[string]string{}
		}
		if strings.Contains(err.Error(), "NoSuchBucket") {
			return nil
		}
		t.Fatal(err)
	}
	tags := map[string]string{}
	for _, tag := range out.TagSet {
		tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return tags
}
