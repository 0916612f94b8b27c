//go:build integration

package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
)

var errCut = errors.New("the operator was cut off here")

// cut stops the operator around one of its writes, to AWS or to Kubernetes, counted together.
type cut struct {
	at    int64 // the number of the write, from 1; 0 never cuts and only counts
	phase awsproxy.Phase
	seen  atomic.Int64
	dead  chan struct{} // closed at the cut: nothing more gets through
	once  sync.Once
}

func newCut(at int64, phase awsproxy.Phase) *cut {
	return &cut{at: at, phase: phase, dead: make(chan struct{})}
}

// around runs do, and cuts before or after it if it is the one.
func (c *cut) around(do func() error) error {
	select {
	case <-c.dead:
		return errCut
	default:
	}
	mine := c.seen.Add(1) == c.at
	if mine && c.phase == awsproxy.Before {
		c.once.Do(func() { close(c.dead) })
		return errCut
	}
	err := do()
	if mine {
		c.once.Do(func() { close(c.dead) })
		return errCut
	}
	return err
}

// aws is the proxy's hook. Writes pass around; every other call is refused once the operator is dead.
func (c *cut) aws(_ context.Context, call awsproxy.Call, phase awsproxy.Phase) error {
	select {
	case <-c.dead:
		return errCut
	default:
	}
	if !call.Write {
		return nil
	}
	if phase == awsproxy.Before {
		c.seen.Add(1)
	}
	if c.seen.Load() == c.at && phase == c.phase {
		c.once.Do(func() { close(c.dead) })
		return errCut
	}
	return nil
}

// kube wraps the operator's client: its writes pass around.
func (c *cut) kube(cfg *rest.Config, o client.Options) (client.Client, error) {
	inner, err := client.NewWithWatch(cfg, o)
	if err != nil {
		return nil, err
	}
	return interceptor.NewClient(inner, interceptor.Funcs{
		Create: func(ctx context.Context, w client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			return c.around(func() error { return w.Create(ctx, obj, opts...) })
		},
		Patch: func(ctx context.Context, w client.WithWatch, obj client.Object, p client.Patch, opts ...client.PatchOption) error {
			return c.around(func() error { return w.Patch(ctx, obj, p, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, cl client.Client, sub string, obj client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return c.around(func() error { return cl.SubResource(sub).Patch(ctx, obj, p, opts...) })
		},
	}), nil
}

// live runs an operator under the cut until it dies, or until done says that the work is complete.
func (c *cut) live(t *testing.T, done func() bool) {
	t.Helper()
	world.Proxy.OnCall(c.aws)
	defer world.Proxy.OnCall(nil)
	stop := startOperator(t, operatorOptions{newClient: c.kube})
	defer stop()
	await(t, "the cut or the end", func() (bool, string) {
		select {
		case <-c.dead:
			return true, ""
		default:
			return done(), "at work"
		}
	})
}

// dies is live for a cut that must come. Only the last write may be followed by the end before the cut is seen.
func (c *cut) dies(t *testing.T, done func() bool) {
	t.Helper()
	c.live(t, done)
	select {
	case <-c.dead:
	default:
		t.Errorf("write %d was never made: nothing was cut", c.at)
	}
}

// F1: the operator dies before and after every write of a bucket's whole life, and a new one takes over.
func TestDeathAtEveryWriteEndsInTheSameState(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	api := outside(t, "test")
	made := func(name string) *v1alpha1.S3Bucket {
		b := bucketOf(ns, name)
		b.Spec.Versioning, b.Spec.Tags = "Enabled", v1alpha1.Tags{"team": "payments"}
		create(t, c, b)
		return b
	}
	isReady := func(b *v1alpha1.S3Bucket) func() bool {
		return func() bool {
			return c.Get(t.Context(), client.ObjectKeyFromObject(b), b) == nil && b.Status.Ready
		}
	}
	isGone := func(b *v1alpha1.S3Bucket) func() bool {
		return func() bool {
			return apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(b), &v1alpha1.S3Bucket{}))
		}
	}
	count := newCut(0, awsproxy.Before)
	b := made("count")
	count.live(t, isReady(b))
	births := count.seen.Load()
	if births < 5 {
		t.Fatalf("only %d writes were counted in a bucket's creation", births)
	}
	count = newCut(0, awsproxy.Before)
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	count.live(t, isGone(b))
	deaths := count.seen.Load()
	t.Logf("%d writes in creation, %d in deletion", births, deaths)

	phases := []awsproxy.Phase{awsproxy.Before, awsproxy.After}
	for at := int64(1); at <= births; at++ {
		for _, phase := range phases {
			b := made(fmt.Sprintf("born-%d-%d", at, phase))
			newCut(at, phase).dies(t, isReady(b))
			stop := startOperator(t, operatorOptions{})
			ready(t, c, b)
			assertOwned(t, api, b)
			stop()
		}
	}
	for at := int64(1); at <= deaths; at++ {
		for _, phase := range phases {
			b := made(fmt.Sprintf("died-%d-%d", at, phase))
			stop := startOperator(t, operatorOptions{})
			ready(t, c, b)
			stop()
			if err := c.Delete(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			newCut(at, phase).dies(t, isGone(b))
			stop = startOperator(t, operatorOptions{})
			awaitGone(t, c, b)
			stop()
			if tagsOf(t, api, b.Spec.BucketName) != nil {
				t.Errorf("cut %d/%d of the deletion left the bucket", at, phase)
			}
		}
	}
}

// assertOwned checks the state that a life without faults ends in.
func assertOwned(t *testing.T, api *s3.Client, b *v1alpha1.S3Bucket) {
	t.Helper()
	tags := tagsOf(t, api, b.Spec.BucketName)
	if tags["portico.dev/uid"] != string(b.UID) || tags["team"] != "payments" {
		t.Errorf("%s: tags %v", b.Name, tags)
	}
	v, err := api.GetBucketVersioning(t.Context(), &s3.GetBucketVersioningInput{Bucket: &b.Spec.BucketName})
	if err != nil || v.Status != "Enabled" {
		t.Errorf("%s: versioning %q, %v", b.Name, v.Status, err)
	}
	if b.Status.Binding == nil || b.Status.ARN == "" {
		t.Errorf("%s: status %+v", b.Name, b.Status)
	}
}

// F2: AWS commits and the reply is lost, for every write.
func TestLostRepliesMakeNoDuplicates(t *testing.T) {
	c := admin(t)
	startOperator(t, operatorOptions{})
	api := outside(t, "test")
	for _, operation := range []string{"CreateBucket", "PutBucketVersioning", "DeleteBucket"} {
		b := bucketOf(team(t, c), "lossy")
		b.Spec.BucketName = "" // a generated name could be generated twice
		b.Spec.Versioning = "Enabled"
		prefix := b.Namespace + "-"
		remove := world.Proxy.Inject(awsproxy.Rule{
			Service: "s3", Operation: operation, Kind: awsproxy.LostReply, Times: 4,
			Match: func(call awsproxy.Call) bool { return strings.HasPrefix(call.Resource, prefix) },
		})
		create(t, c, b)
		ready(t, c, b)
		if n := bucketsWithUID(t, api, b); n != 1 {
			t.Errorf("%s: %d buckets carry the object's UID, want 1", operation, n)
		}
		gone(t, c, b)
		if n := bucketsWithUID(t, api, b); n != 0 {
			t.Errorf("%s: %d buckets are left", operation, n)
		}
		if len(world.Proxy.Calls(awsproxy.To("s3", operation), func(call awsproxy.Call) bool {
			return strings.HasPrefix(call.Resource, prefix) && call.Fault == string(awsproxy.LostReply)
		})) == 0 {
			t.Errorf("%s: no reply was lost", operation)
		}
		remove()
	}
}

func bucketsWithUID(t *testing.T, api *s3.Client, b *v1alpha1.S3Bucket) int {
	t.Helper()
	list, err := api.ListBuckets(t.Context(), &s3.ListBucketsInput{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, found := range list.Buckets {
		if tagsOf(t, api, *found.Name)["portico.dev/uid"] == string(b.UID) {
			n++
		}
	}
	return n
}

// An error is never absence: a denied, failing or throttled read leads to no write.
func TestAFailedReadIsNotAbsence(t *testing.T) {
	c := admin(t)
	startOperator(t, operatorOptions{})
	for kind, want := range map[awsproxy.Kind]string{awsproxy.Denied: "NameTakenOrDenied", awsproxy.Throttle: "Throttled", awsproxy.ServerError: "Failed"} {
		b := bucketOf(team(t, c), "unread")
		remove := world.Proxy.Inject(awsproxy.Rule{Service: "s3", Resource: b.Spec.BucketName, Kind: kind})
		m := world.Proxy.Mark()
		create(t, c, b)
		got := reason(t, c, b, want)
		if n := writes(b.Spec.BucketName, m); n != 0 {
			t.Errorf("%s: %d writes", kind, n)
		}
		if strings.Contains(strings.ToLower(got.Message), "requestid") {
			t.Errorf("%s: the message %q changes with every try", kind, got.Message)
		}
		remove()
		edit(t, c, b, func(b *v1alpha1.S3Bucket) {
			b.Annotations = map[string]string{v1alpha1.AnnotationReconcileRequestedAt: "1"}
		})
		ready(t, c, b)
	}
}

// stale answers Gets of one object with an old copy of it.
type stale struct {
	mu  sync.Mutex
	old *v1alpha1.S3Bucket
	got atomic.Int64
}

func (s *stale) kube(cfg *rest.Config, o client.Options) (client.Client, error) {
	inner, err := client.NewWithWatch(cfg, o)
	if err != nil {
		return nil, err
	}
	return interceptor.NewClient(inner, interceptor.Funcs{
		Get: func(ctx context.Context, w client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if b, ok := obj.(*v1alpha1.S3Bucket); ok && s.old != nil && client.ObjectKeyFromObject(s.old) == key {
				s.old.DeepCopyInto(b)
				s.got.Add(1)
				return nil
			}
			return w.Get(ctx, key, obj, opts...)
		},
	}), nil
}

func (s *stale) serve(old *v1alpha1.S3Bucket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.old = old
}

// F3: the cache shows an object that is gone, or the one before it of the same name.
func TestAStaleCacheActsForNobodyElse(t *testing.T) {
	c := admin(t)
	s := &stale{}
	startOperator(t, operatorOptions{newClient: s.kube})
	api := outside(t, "test")
	first := bucketOf(team(t, c), "twice")
	create(t, c, first)
	ready(t, c, first)
	old := first.DeepCopy()
	gone(t, c, first)
	second := bucketOf(first.Namespace, first.Name)
	create(t, c, second)
	ready(t, c, second)

	dying := old.DeepCopy()
	now := second.CreationTimestamp
	dying.DeletionTimestamp = &now
	m := world.Proxy.Mark()
	wake := func(value string, b *v1alpha1.S3Bucket) {
		before := s.got.Load()
		edit(t, c, second, func(b *v1alpha1.S3Bucket) {
			b.Annotations = map[string]string{v1alpha1.AnnotationReconcileRequestedAt: value}
		})
		await(t, "stale passes", func() (bool, string) { return s.got.Load() > before+2, "waiting" })
	}
	s.serve(dying) // the first one, as if its deletion had just begun
	wake("1", second)
	if n := writes(second.Spec.BucketName, m); n != 0 {
		t.Fatalf("%d writes on the second object's bucket for the first one's deletion", n)
	}
	s.serve(nil)
	wakeNow(t, c, second)
	ready(t, c, second)
	if uid := tagsOf(t, api, second.Spec.BucketName)["portico.dev/uid"]; uid != string(second.UID) {
		t.Errorf("the bucket carries UID %q", uid)
	}

	gone(t, c, second)
	ghost := old.DeepCopy()
	ghost.Status.ARN = "" // as it was before its bucket was made
	m = world.Proxy.Mark()
	third := bucketOf(first.Namespace, first.Name)
	third.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	s.serve(ghost)
	before := s.got.Load()
	create(t, c, third)
	await(t, "stale passes", func() (bool, string) { return s.got.Load() > before+2, "waiting" })
	if n := writes(third.Spec.BucketName, m); n != 0 {
		t.Errorf("%d writes for an object that is gone", n)
	}
	s.serve(nil)
}

func wakeNow(t *testing.T, c client.Client, b *v1alpha1.S3Bucket) {
	t.Helper()
	edit(t, c, b, func(b *v1alpha1.S3Bucket) {
		b.Annotations = map[string]string{v1alpha1.AnnotationReconcileRequestedAt: fmt.Sprint(counter.Add(1))}
	})
}

// F5: a second operator whose cache still shows an earlier object of this name must not take the bucket from the living one.
func TestAnOldPictureDoesNotTakeTheBucketBack(t *testing.T) {
	c := admin(t)
	stop := startOperator(t, operatorOptions{})
	first := bucketOf(team(t, c), "heirloom")
	first.Spec.DeletionPolicy = v1alpha1.DeletionRetain
	create(t, c, first)
	ready(t, c, first)
	old := first.DeepCopy()
	gone(t, c, first)
	second := bucketOf(first.Namespace, first.Name)
	create(t, c, second)
	ready(t, c, second)
	stop()
	s := &stale{}
	s.serve(old)
	m := world.Proxy.Mark()
	startOperator(t, operatorOptions{newClient: s.kube})
	await(t, "stale passes", func() (bool, string) { return s.got.Load() > 3, "waiting" })
	if n := writes(second.Spec.BucketName, m); n != 0 {
		t.Errorf("%d writes for an object that is gone", n)
	}
	if uid := tagsOf(t, outside(t, "test"), second.Spec.BucketName)["portico.dev/uid"]; uid != string(second.UID) {
		t.Errorf("the bucket carries UID %q, want the living object's", uid)
	}
}

// F5: two operators at the same time.
func TestTwoLeadersMakeOneBucketAndDoNotFlap(t *testing.T) {
	c := admin(t)
	startOperator(t, operatorOptions{resync: 200 * time.Millisecond})
	startOperator(t, operatorOptions{resync: 200 * time.Millisecond})
	b := bucketOf(team(t, c), "two")
	configure(&b.Spec)
	create(t, c, b)
	ready(t, c, b)
	m, version := settled(t, c, b)
	passes(t, b, m, 10)
	if n := writes(b.Spec.BucketName, m); n != 0 {
		t.Errorf("%d AWS writes at rest", n)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil || b.ResourceVersion != version {
		t.Errorf("the object was written at rest: %v", err)
	}
	gone(t, c, b)
}

// One of two replicas works; the other takes over when it ends. Both have the rights of config/rbac only.
func TestAnotherReplicaTakesOver(t *testing.T) {
	c := admin(t)
	stop := startOperator(t, operatorOptions{leaderElect: true})
	ns := team(t, c)
	first := bucketOf(ns, "first")
	create(t, c, first)
	ready(t, c, first)
	startOperator(t, operatorOptions{leaderElect: true})
	stop()
	second := bucketOf(ns, "second")
	create(t, c, second)
	ready(t, c, second)
}

// F10: quiet for a long time, on an accelerated clock.
func TestQuietAtRest(t *testing.T) {
	c := admin(t)
	kube := newCut(0, awsproxy.Before)
	startOperator(t, operatorOptions{resync: 100 * time.Millisecond, providerResync: 100 * time.Millisecond, newClient: kube.kube})
	ns := team(t, c)
	plain, full := bucketOf(ns, "plain"), bucketOf(ns, "full")
	configure(&full.Spec)
	create(t, c, plain)
	create(t, c, full)
	ready(t, c, plain)
	ready(t, c, full)
	m, _ := settled(t, c, full)
	wrote := kube.seen.Load()
	passes(t, plain, m, 20)
	if n := len(world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), awsproxy.Writes)); n != 0 {
		t.Errorf("%d AWS writes at rest", n)
	}
	if n := kube.seen.Load() - wrote; n != 0 {
		t.Errorf("%d Kubernetes writes at rest", n)
	}
	for _, op := range operations(plain.Spec.BucketName, m) {
		if op != "GetBucketTagging" {
			t.Errorf("a name-only bucket at rest called %s", op)
		}
	}
}

// settled waits until b is not written any more, and returns the moment and the version.
func settled(t *testing.T, c client.Client, b *v1alpha1.S3Bucket) (awsproxy.Mark, string) {
	t.Helper()
	version, since := "", time.Now()
	await(t, "rest", func() (bool, string) {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil {
			return false, err.Error()
		}
		if b.ResourceVersion != version {
			version, since = b.ResourceVersion, time.Now()
		}
		return time.Since(since) > quiet, "written"
	})
	return world.Proxy.Mark(), version
}

// passes waits for n passes over b since m.
func passes(t *testing.T, b *v1alpha1.S3Bucket, m awsproxy.Mark, n int) {
	t.Helper()
	await(t, fmt.Sprintf("%d passes", n), func() (bool, string) {
		got := len(world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), awsproxy.About(b.Spec.BucketName), awsproxy.To("s3", "GetBucketTagging")))
		return got >= n, fmt.Sprint(got)
	})
}
