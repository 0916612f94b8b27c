package rights

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
)

func TestNamespacesAreAskedAboutWhoseBindingsNameTheCaller(t *testing.T) {
	robot := auth.Identity{Username: "system:serviceaccount:ci:robot", ServiceAccount: true}
	for name, c := range map[string]struct {
		id      auth.Identity
		subject rbacv1.Subject
		want    bool
	}{
		"the user":                             {kubetest.Dev, rbacv1.Subject{Kind: "User", Name: "oidc:dev"}, true},
		"a group of the user":                  {kubetest.Dev, rbacv1.Subject{Kind: "Group", Name: "oidc:b"}, true},
		"everybody who is signed in":           {kubetest.Dev, rbacv1.Subject{Kind: "Group", Name: "system:authenticated"}, true},
		"a group that is named as the user":    {kubetest.Dev, rbacv1.Subject{Kind: "Group", Name: "oidc:dev"}, false},
		"somebody else":                        {kubetest.Dev, rbacv1.Subject{Kind: "User", Name: "oidc:other"}, false},
		"the ServiceAccount":                   {robot, rbacv1.Subject{Kind: "ServiceAccount", Namespace: "ci", Name: "robot"}, true},
		"one that is named so elsewhere":       {robot, rbacv1.Subject{Kind: "ServiceAccount", Namespace: "payments", Name: "robot"}, false},
		"one of the namespace of the binding":  {robot, rbacv1.Subject{Kind: "ServiceAccount", Name: "robot"}, false},
		"its name as a user's":                 {robot, rbacv1.Subject{Kind: "User", Name: robot.Username}, true},
		"all ServiceAccounts of its namespace": {robot, rbacv1.Subject{Kind: "Group", Name: "system:serviceaccounts:ci"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := newRights(t, &kubetest.Spaces{Bound: map[string]rbacv1.Subject{"payments": c.subject}})
			got, err := r.Candidates(t.Context(), c.id)
			if err != nil || got.Has("payments") != c.want {
				t.Errorf("%v, %v; want %v", got, err, c.want)
			}
		})
	}
}

// newRights returns Rights over the cache, which send every review that is not cached.
func newRights(t *testing.T, s *kubetest.Spaces, allow ...string) (*Rights, *kubetest.Judge) {
	t.Helper()
	j := kubetest.NewJudge()
	j.Allow = kubetest.Only(allow...)
	return &Rights{access: newAccess(j.Reviews(), j.Clock), feed: kubetest.NewFeed(t, s)}, j
}

// overseen returns the rights of kubetest.Dev, who has bindings in three namespaces: what allow lists.
func overseen(t *testing.T, allow ...string) (*Rights, *kubetest.Judge) {
	t.Helper()
	return newRights(t, kubetest.NewSpaces(), allow...)
}

// crowd returns the rights of kubetest.Dev among many namespaces, who has bindings in one of them.
func crowd(t *testing.T, allow ...string) (*Rights, *kubetest.Judge) {
	t.Helper()
	return newRights(t, kubetest.Crowd(), allow...)
}

func TestATeamsNamespacesCostAFewReviewsAmongHundreds(t *testing.T) {
	c, j := crowd(t, "list s3buckets payments")
	names, err := c.Namespaces(t.Context(), kubetest.Dev)
	if err != nil || strings.Join(names, " ") != "payments" {
		t.Fatalf("%v, %v", names, err)
	}
	if n, most := j.Count(), 2*len(c.feed.Kinds.Now().Requestable()); n > most { // the whole cluster, and one namespace
		t.Errorf("%d reviews, want %d at most", n, most)
	}
}

func TestWhomABindingInTheWholeClusterNames(t *testing.T) {
	robot := auth.Identity{Username: "system:serviceaccount:ci:robot", ServiceAccount: true}
	for name, c := range map[string]struct {
		id      auth.Identity
		role    string
		subject rbacv1.Subject
		want    bool
	}{
		"the user":                           {kubetest.Dev, "portico-admin", rbacv1.Subject{Kind: "User", Name: "oidc:dev"}, true},
		"a group of the user":                {kubetest.Dev, "portico-admin", rbacv1.Subject{Kind: "Group", Name: "oidc:b"}, true},
		"everybody":                          {kubetest.Dev, "portico-viewer", rbacv1.Subject{Kind: "Group", Name: "system:authenticated"}, true},
		"everybody, to what all have anyway": {kubetest.Dev, "system:basic-user", rbacv1.Subject{Kind: "Group", Name: "system:authenticated"}, false},
		"somebody else":                      {kubetest.Dev, "portico-admin", rbacv1.Subject{Kind: "User", Name: "oidc:other"}, false},
		"the ServiceAccount":                 {robot, "portico-viewer", rbacv1.Subject{Kind: "ServiceAccount", Namespace: "ci", Name: "robot"}, true},
		"one that is named so elsewhere":     {robot, "portico-viewer", rbacv1.Subject{Kind: "ServiceAccount", Namespace: "payments", Name: "robot"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := newRights(t, &kubetest.Spaces{
				Wide: []rbacv1.ClusterRoleBinding{
					{RoleRef: rbacv1.RoleRef{Name: c.role}, Subjects: []rbacv1.Subject{c.subject}},
				},
			})
			if got, err := r.worthAsking(t.Context(), c.id, Right{}); err != nil || got != c.want {
				t.Errorf("%v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestRightsInTheWholeClusterAreAskedForWhereABindingNamesTheCaller(t *testing.T) {
	c, j := overseen(t, "list s3buckets", "list s3buckets payments")
	clock := clocktesting.NewFakePassiveClock(time.Now())
	c.cache.clock, c.worth = clock, c.worthAsking
	bucket, _ := c.feed.Kinds.Now().ByPlural("s3buckets")
	may := func() bool {
		ok, err := c.Can(t.Context(), kubetest.Dev, "list", bucket, "")
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if may() || j.Count() != 0 {
		t.Errorf("without a binding, after %d reviews", j.Count())
	}
	if ok, err := c.Can(t.Context(), kubetest.Dev, "list", bucket, "payments"); err != nil || !ok {
		t.Errorf("a right in a namespace needs none: %v, %v", ok, err)
	}
	here := c.feed.Cache.(*kubetest.Spaces)
	here.Wide = []rbacv1.ClusterRoleBinding{
		{RoleRef: rbacv1.RoleRef{Name: "any"}, Subjects: []rbacv1.Subject{{Kind: "Group", Name: "oidc:a"}}},
	}
	clock.SetTime(clock.Now().Add(wideTTL))
	if !may() || j.Count() != 2 {
		t.Errorf("with a binding, after %d reviews", j.Count())
	}
	here.Failed = errors.New("no cache")
	queue, _ := c.feed.Kinds.Now().ByPlural("sqsqueues")
	var unavailable *failure.UnavailableError
	if ok, err := c.Can(t.Context(), kubetest.Dev, "list", queue, ""); ok || !errors.As(err, &unavailable) {
		t.Errorf("a cache that cannot be read is no no: %v, %v", ok, err)
	}
	c.askEverywhere = true
	if _, err := c.Can(t.Context(), kubetest.Dev, "list", queue, ""); err != nil || j.Count() != 3 {
		t.Errorf("other ways to rights are not asked about: %d reviews, %v", j.Count(), err)
	}
}

func TestABindingAloneShowsNothing(t *testing.T) {
	c, _ := crowd(t)
	if names, err := c.Namespaces(t.Context(), kubetest.Dev); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
}

func TestRightsByOtherMeansAreFoundByAskingEverywhere(t *testing.T) {
	c, j := crowd(t, "list s3buckets other-007")
	if names, err := c.Namespaces(t.Context(), kubetest.Dev); err != nil || len(names) > 0 {
		t.Fatalf("by bindings alone: %v, %v", names, err)
	}
	few := j.Count()
	c.askEverywhere = true
	names, err := c.Namespaces(t.Context(), kubetest.Dev)
	if err != nil || !slices.Equal(names, []string{"other-007"}) || j.Count() < few+200 {
		t.Errorf("%v, %v after %d reviews", names, err, j.Count())
	}
}

func TestBindingsThatCannotBeReadAreNoLackOfNamespaces(t *testing.T) {
	c, _ := crowd(t, "list s3buckets payments")
	s := c.feed.Cache.(*kubetest.Spaces)
	s.Failed = errors.New("not synced")
	if names, err := c.Namespaces(t.Context(), kubetest.Dev); !kubetest.IsUnavailable(err) {
		t.Errorf("namespaces: %v, %v", names, err)
	}
}
