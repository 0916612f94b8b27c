package rights

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
)

func newJudge(t *testing.T) (*kubetest.Judge, *access, *clocktesting.FakePassiveClock) {
	t.Helper()
	j := kubetest.NewJudge()
	return j, newAccess(j.Reviews(), j.Clock), j.Clock
}

var listing = Right{Verb: "list", Group: "portico.dev", Resource: "s3buckets", Namespace: "payments"}

func ask(t *testing.T, a *access, id auth.Identity, act Right) bool {
	t.Helper()
	ok, err := a.Allowed(t.Context(), id, act)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func TestAccessIsAskedForOnceInAWhile(t *testing.T) {
	j, a, clock := newJudge(t)
	for range 3 {
		ask(t, a, kubetest.Dev, listing)
	}
	same := auth.Identity{Username: kubetest.Dev.Username, Groups: []string{"oidc:a", "oidc:b"}}
	ask(t, a, same, listing)
	if j.Count() != 1 {
		t.Errorf("asked %d times", j.Count())
	}
	got := j.Asked()[0]
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
		{auth.Identity{Username: "oidc:other", Groups: kubetest.Dev.Groups}, listing},
		{kubetest.Dev, Right{Verb: "create", Group: "portico.dev", Resource: "s3buckets", Namespace: "payments"}},
		{kubetest.Dev, Right{Verb: "list", Group: "portico.dev", Resource: "s3buckets", Namespace: "search"}},
		{kubetest.Dev, Right{Verb: "list", Group: "portico.dev", Resource: "s3buckets"}},
		{kubetest.Dev, Right{Verb: "list", Resource: "events", Namespace: "payments"}},
	} {
		ask(t, a, other.id, other.act)
		if j.Count() != i+2 {
			t.Errorf("question %d was answered from another's answer", i)
		}
	}
	n := j.Count()
	clock.SetTime(clock.Now().Add(accessTTL + time.Second))
	j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return false }
	if ask(t, a, kubetest.Dev, listing) || j.Count() != n+1 {
		t.Error("a right that was lost lasts")
	}
	a.Forget(kubetest.Dev, listing)
	ask(t, a, kubetest.Dev, listing)
	if j.Count() != n+2 {
		t.Error("an answer that was forgotten is there")
	}
}

func TestAccessOfServiceAccountsKnowsTheirGroups(t *testing.T) {
	j, a, _ := newJudge(t)
	ask(t, a, auth.Identity{Username: "system:serviceaccount:ci:bot", ServiceAccount: true}, listing)
	if want := []string{"system:serviceaccounts", "system:serviceaccounts:ci", "system:authenticated"}; !slices.Equal(
		j.Asked()[0].Groups, want) {
		t.Errorf("groups %v", j.Asked()[0].Groups)
	}
}

func TestAccessFailsClosed(t *testing.T) {
	j, a, _ := newJudge(t)
	j.Denied = true
	if ask(t, a, kubetest.Dev, listing) {
		t.Error("allowed and denied is allowed")
	}
	j.Err = errors.New("no API server")
	other := listing
	other.Namespace = "search"
	ok, err := a.Allowed(t.Context(), kubetest.Dev, other)
	var unavailable *failure.UnavailableError
	if ok || !errors.As(err, &unavailable) {
		t.Errorf("%v, %v", ok, err)
	}
	n := j.Count()
	if _, err := a.Allowed(t.Context(), kubetest.Dev, other); err == nil || j.Count() != n+1 {
		t.Error("a failure was remembered as an answer")
	}
	if _, err := a.Allowed(t.Context(), auth.Identity{}, listing); err == nil || j.Count() != n+1 {
		t.Error("nobody was asked about")
	}
	var forbidden *failure.ForbiddenError
	j.Err, j.Denied = nil, false
	j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return false }
	third := listing
	third.Namespace = "third"
	if err := a.RequireRight(t.Context(), kubetest.Dev, third); !errors.As(err, &forbidden) ||
		err.Error() != "you are not allowed to list s3buckets in namespace third" {
		t.Error(err)
	}
}

func TestAccessIsSharedByThoseWhoAskAtOnce(t *testing.T) {
	j, a, _ := newJudge(t)
	release := make(chan struct{})
	j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { <-release; return true }
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := a.Allowed(ctx, kubetest.Dev, listing); !errors.Is(err, context.Canceled) {
			t.Errorf("who went away heard %v", err)
		}
	})
	for range 9 {
		wg.Go(func() {
			if ok, err := a.Allowed(t.Context(), kubetest.Dev, listing); !ok || err != nil {
				t.Errorf("%v, %v", ok, err)
			}
		})
	}
	cancel()
	time.AfterFunc(50*time.Millisecond, func() { close(release) })
	wg.Wait()
	if n := j.Count(); n > 2 { // a late goroutine finds the stored decision and sends none
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
			j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return c.yes }
			act := Right{Verb: "list", Group: "portico.dev", Resource: "s3buckets", Namespace: c.namespace}
			ask(t, a, kubetest.Dev, act)
			clock.SetTime(clock.Now().Add(accessTTL))
			if ask(t, a, kubetest.Dev, act); j.Count() != c.asked {
				t.Errorf("asked %d times by accessTTL, want %d", j.Count(), c.asked)
			}
			before := j.Count()
			clock.SetTime(clock.Now().Add(wideTTL))
			if ask(t, a, kubetest.Dev, act); j.Count() != before+1 {
				t.Errorf("asked %d times by wideTTL, want %d", j.Count(), before+1)
			}
		})
	}
}

// TestOffersAreForgottenWhenBindingsChange, including those requested shortly after the change, when the API server may
// not know it yet.
func TestOffersAreForgottenWhenBindingsChange(t *testing.T) {
	j, a, clock := newJudge(t)
	create := Right{
		Verb: "create", Group: "portico.dev", Resource: "s3buckets", Namespace: "payments", kind: "s3buckets",
	}
	binding := func(namespace, version string) *rbacv1.RoleBinding {
		return &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, ResourceVersion: version}}
	}
	on := a.OnBindings()
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
		if err := a.RequireRight(t.Context(), kubetest.Dev, create); err != nil || j.Count() != row.asked {
			t.Errorf("%s: asked %d times, want %d; %v", row.what, j.Count(), row.asked, err)
		}
	}
}
