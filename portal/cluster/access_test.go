package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
)

// judge answers access reviews and records them.
type judge struct {
	mu     sync.Mutex
	asked  []authorizationv1.SubjectAccessReviewSpec
	allow  func(authorizationv1.SubjectAccessReviewSpec) bool
	denied bool
	err    error
}

func (j *judge) review(a clienttesting.Action) (bool, runtime.Object, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
	j.asked = append(j.asked, r.Spec)
	r.Status.Allowed, r.Status.Denied = j.allow(r.Spec), j.denied
	return true, r, j.err
}

func (j *judge) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.asked)
}

func newJudge(t *testing.T) (*judge, *access, *clocktesting.FakePassiveClock) {
	t.Helper()
	j := &judge{allow: func(authorizationv1.SubjectAccessReviewSpec) bool { return true }}
	client := fake.NewClientset()
	client.PrependReactor("create", "subjectaccessreviews", j.review)
	clock := clocktesting.NewFakePassiveClock(time.Now())
	return j, newAccess(client.AuthorizationV1().SubjectAccessReviews(), clock), clock
}

var (
	dev     = auth.Identity{Username: "oidc:dev", Groups: []string{"oidc:b", "oidc:a"}}
	listing = Right{verb: "list", group: "portico.dev", resource: "s3buckets", namespace: "payments"}
)

func ask(t *testing.T, a *access, id auth.Identity, act Right) bool {
	t.Helper()
	ok, err := a.allowed(t.Context(), id, act)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func TestAccessIsAskedForOnceInAWhile(t *testing.T) {
	j, a, clock := newJudge(t)
	for range 3 {
		ask(t, a, dev, listing)
	}
	same := auth.Identity{Username: dev.Username, Groups: []string{"oidc:a", "oidc:b"}}
	ask(t, a, same, listing)
	if j.count() != 1 {
		t.Errorf("asked %d times", j.count())
	}
	got := j.asked[0]
	want := authorizationv1.ResourceAttributes{
		Verb: "list", Group: "portico.dev", Version: "*", Resource: "s3buckets",
		Namespace: "payments",
	}
	if got.User != "oidc:dev" || *got.ResourceAttributes != want ||
		!slices.Equal(got.Groups, []string{"oidc:b", "oidc:a", "system:authenticated"}) {
		t.Errorf("asked %+v %+v", got, got.ResourceAttributes)
	}
	for i, other := range []struct {
		id  auth.Identity
		act Right
	}{
		{auth.Identity{Username: "oidc:dev"}, listing},
		{auth.Identity{Username: "oidc:other", Groups: dev.Groups}, listing},
		{dev, Right{verb: "create", group: "portico.dev", resource: "s3buckets", namespace: "payments"}},
		{dev, Right{verb: "list", group: "portico.dev", resource: "s3buckets", namespace: "search"}},
		{dev, Right{verb: "list", group: "portico.dev", resource: "s3buckets"}},
		{dev, Right{verb: "list", resource: "events", namespace: "payments"}},
	} {
		ask(t, a, other.id, other.act)
		if j.count() != i+2 {
			t.Errorf("question %d was answered from another's answer", i)
		}
	}
	n := j.count()
	clock.SetTime(clock.Now().Add(accessTTL + time.Second))
	j.allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return false }
	if ask(t, a, dev, listing) || j.count() != n+1 {
		t.Error("a right that was lost lasts")
	}
	a.forget(dev, listing)
	ask(t, a, dev, listing)
	if j.count() != n+2 {
		t.Error("an answer that was forgotten is there")
	}
}

func TestAccessOfServiceAccountsKnowsTheirGroups(t *testing.T) {
	j, a, _ := newJudge(t)
	ask(t, a, auth.Identity{Username: "system:serviceaccount:ci:bot", ServiceAccount: true}, listing)
	if want := []string{"system:serviceaccounts", "system:serviceaccounts:ci", "system:authenticated"}; !slices.Equal(
		j.asked[0].Groups, want) {
		t.Errorf("groups %v", j.asked[0].Groups)
	}
}

func TestAccessFailsClosed(t *testing.T) {
	j, a, _ := newJudge(t)
	j.denied = true
	if ask(t, a, dev, listing) {
		t.Error("allowed and denied is allowed")
	}
	j.err = errors.New("no API server")
	other := listing
	other.namespace = "search"
	ok, err := a.allowed(t.Context(), dev, other)
	var unavailable *UnavailableError
	if ok || !errors.As(err, &unavailable) {
		t.Errorf("%v, %v", ok, err)
	}
	n := j.count()
	if _, err := a.allowed(t.Context(), dev, other); err == nil || j.count() != n+1 {
		t.Error("a failure was remembered as an answer")
	}
	if _, err := a.allowed(t.Context(), auth.Identity{}, listing); err == nil || j.count() != n+1 {
		t.Error("nobody was asked about")
	}
	var forbidden *ForbiddenError
	j.err, j.denied = nil, false
	j.allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return false }
	third := listing
	third.namespace = "third"
	if err := a.require(t.Context(), dev, third); !errors.As(err, &forbidden) ||
		err.Error() != "you are not allowed to list s3buckets in namespace third" {
		t.Error(err)
	}
}

func TestAccessIsSharedByThoseWhoAskAtOnce(t *testing.T) {
	j, a, _ := newJudge(t)
	release := make(chan struct{})
	j.allow = func(authorizationv1.SubjectAccessReviewSpec) bool { <-release; return true }
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := a.allowed(ctx, dev, listing); !errors.Is(err, context.Canceled) {
			t.Errorf("who went away heard %v", err)
		}
	})
	for range 9 {
		wg.Go(func() {
			if ok, err := a.allowed(t.Context(), dev, listing); !ok || err != nil {
				t.Errorf("%v, %v", ok, err)
			}
		})
	}
	cancel()
	time.AfterFunc(50*time.Millisecond, func() { close(release) })
	wg.Wait()
	if n := j.count(); n > 2 { // a late goroutine finds the stored decision and sends none
		t.Errorf("asked %d times", n)
	}
}

func TestANoAboutTheWholeClusterIsKeptLongerThanAYes(t *testing.T) {
	for name, c := range map[string]struct {
		namespace string
		yes       bool
		asked     int // after accessTTL
	}{
		"a yes about the whole cluster": {"", true, 2},
		"a no about the whole cluster":  {"", false, 1},
		"a no about a namespace":        {"payments", false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			j, a, clock := newJudge(t)
			j.allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return c.yes }
			act := Right{verb: "list", group: "portico.dev", resource: "s3buckets", namespace: c.namespace}
			ask(t, a, dev, act)
			clock.SetTime(clock.Now().Add(accessTTL))
			if ask(t, a, dev, act); j.count() != c.asked {
				t.Errorf("asked %d times by accessTTL, want %d", j.count(), c.asked)
			}
			before := j.count()
			clock.SetTime(clock.Now().Add(wideTTL))
			if ask(t, a, dev, act); j.count() != before+1 {
				t.Errorf("asked %d times by wideTTL, want %d", j.count(), before+1)
			}
		})
	}
}

// TestRightsThatTellNothingAreAskedForSeldom: the rights to change an object, which the API server checks itself, and
// to list a kind without objects are cached longer. Denials and all other rights are not.
func TestRightsThatTellNothingAreAskedForSeldom(t *testing.T) {
	c, j := overseen(t)
	clock := clocktesting.NewFakePassiveClock(time.Now())
	c.access.cache.clock = clock
	kind := func(plural string) catalog.Kind { k, _ := c.kinds.ByPlural(plural); return k }
	create, revoke := RightTo("create", kind("s3buckets"), "payments"), toEndSessions
	rows := func(plural string) error { _, err := c.Rows(t.Context(), dev, kind(plural), "payments"); return err }
	for name, row := range map[string]struct {
		ask func() error
		yes bool
		// short and long are the numbers of further reviews after accessTTL and after emptyTTL.
		short, long int
	}{
		"a button":                  {func() error { return c.access.require(t.Context(), dev, create) }, true, 0, 0},
		"no button":                 {func() error { return c.access.require(t.Context(), dev, create) }, false, 1, 1},
		"a list of something":       {func() error { return rows("s3buckets") }, true, 1, 1},
		"a list of nothing":         {func() error { return rows("sqsqueues") }, true, 0, 1},
		"a list that may not be":    {func() error { return rows("sqsqueues") }, false, 1, 1},
		"what only the portal asks": {func() error { return c.access.require(t.Context(), dev, revoke) }, true, 1, 1},
	} {
		clear(c.access.cache.young)
		clear(c.access.cache.old)
		j.allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return row.yes }
		if err := row.ask(); (err == nil) != row.yes {
			t.Errorf("%s: %v", name, err)
		}
		for _, then := range []struct {
			after time.Duration
			times int
		}{{accessTTL, row.short}, {emptyTTL, row.long}} {
			before := j.count()
			clock.SetTime(clock.Now().Add(then.after))
			if err := row.ask(); (err == nil) != row.yes || j.count()-before != then.times {
				t.Errorf("%s, after %s: asked %d times, want %d; %v", name, then.after, j.count()-before, then.times,
					err)
			}
		}
	}
	clear(c.access.cache.young) // of the previous row
	clear(c.access.cache.old)
	j.allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return true }
	if err := rows("sqsqueues"); err != nil {
		t.Fatal(err)
	}
	clock.SetTime(clock.Now().Add(accessTTL))
	j.allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return false }
	c.counting(kind("sqsqueues"), c.feed.objects(kind("sqsqueues"))).OnAdd(named("payments", "1"), false)
	if err := rows("sqsqueues"); err == nil {
		t.Error("who lost the right sees the first object that comes")
	}
}

// TestOffersAreForgottenWhenBindingsChange, including those requested shortly after the change, when the API server may
// not know it yet.
func TestOffersAreForgottenWhenBindingsChange(t *testing.T) {
	j, a, clock := newJudge(t)
	create := Right{verb: "create", group: "portico.dev", resource: "s3buckets", namespace: "payments", ofKind: true}
	binding := func(namespace, version string) *rbacv1.RoleBinding {
		return &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, ResourceVersion: version}}
	}
	on := a.onBindings()
	for _, row := range []struct {
		what  string
		then  func()
		after time.Duration
		asked int
	}{
		{"at first", func() {}, 0, 1},
		{"a minute later", func() {}, time.Minute, 1},
		{"after the cache was filled", func() { on.OnAdd(binding("payments", "1"), true) }, time.Second, 1},
		{"after a resync", func() { on.OnUpdate(binding("payments", "1"), binding("payments", "1")) }, time.Second, 1},
		{"after a change elsewhere", func() { on.OnUpdate(binding("search", "1"), binding("search", "2")) }, time.Second, 1},
		{"after a change", func() { on.OnUpdate(binding("payments", "1"), binding("payments", "2")) }, time.Second, 2},
		{"as long as any answer", func() {}, time.Second, 2},
		{"which the API server may not have known", func() {}, accessTTL, 3},
		{"from then on", func() {}, time.Minute, 3},
		{"after a binding went", func() { on.OnDelete(binding("payments", "2")) }, time.Second, 4},
		{"after one came", func() { on.OnAdd(binding("payments", "3"), false) }, accessTTL, 5},
		{"after one for the whole cluster came", func() { on.OnAdd(&rbacv1.ClusterRoleBinding{}, false) }, accessTTL, 6},
	} {
		row.then()
		clock.SetTime(clock.Now().Add(row.after))
		if err := a.require(t.Context(), dev, create); err != nil || j.count() != row.asked {
			t.Errorf("%s: asked %d times, want %d; %v", row.what, j.count(), row.asked, err)
		}
	}
}

// TestMadeUpNamespacesCostNoReviews, and have the same result as namespaces without rights.
func TestMadeUpNamespacesCostNoReviews(t *testing.T) {
	c, j := crowd(t, "list s3buckets payments")
	k := bucketRef(t).Kind
	c.access.exists, c.access.worth = c.namespaceExists, c.worthAsking
	refusal := func(namespace string) string {
		_, err := c.Rows(t.Context(), dev, k, namespace)
		if _, forbidden := errors.AsType[*ForbiddenError](err); !forbidden {
			t.Fatalf("%s: %v", namespace, err)
		}
		return strings.ReplaceAll(err.Error(), namespace, "it")
	}
	want := refusal("other-001")
	before := j.count()
	for i := range 100 {
		if got := refusal(fmt.Sprintf("made-up-%d", i)); got != want {
			t.Errorf("%q, and of one that exists %q", got, want)
		}
	}
	if n := j.count() - before; n > 0 {
		t.Errorf("%d reviews", n)
	}
	wide, j := crowd(t, "list s3buckets")
	wide.access.exists = wide.namespaceExists
	for i := range 100 { // a caller with the right in the whole cluster gets the same decision
		if ok, err := wide.Can(t.Context(), dev, "list", k, fmt.Sprintf("made-up-%d", i)); !ok || err != nil {
			t.Fatalf("%v, %v", ok, err)
		}
	}
	if j.count() != 1 {
		t.Errorf("%d reviews of a right in the whole cluster", j.count())
	}
}
