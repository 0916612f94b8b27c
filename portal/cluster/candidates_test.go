package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal/auth"
)

func TestNamespacesAreAskedAboutWhoseBindingsNameTheCaller(t *testing.T) {
	robot := auth.Identity{Username: "system:serviceaccount:ci:robot", ServiceAccount: true}
	for name, c := range map[string]struct {
		id      auth.Identity
		subject rbacv1.Subject
		want    bool
	}{
		"the user":                             {dev, rbacv1.Subject{Kind: "User", Name: "oidc:dev"}, true},
		"a group of the user":                  {dev, rbacv1.Subject{Kind: "Group", Name: "oidc:b"}, true},
		"everybody who is signed in":           {dev, rbacv1.Subject{Kind: "Group", Name: "system:authenticated"}, true},
		"a group that is named as the user":    {dev, rbacv1.Subject{Kind: "Group", Name: "oidc:dev"}, false},
		"somebody else":                        {dev, rbacv1.Subject{Kind: "User", Name: "oidc:other"}, false},
		"the ServiceAccount":                   {robot, rbacv1.Subject{Kind: "ServiceAccount", Namespace: "ci", Name: "robot"}, true},
		"one that is named so elsewhere":       {robot, rbacv1.Subject{Kind: "ServiceAccount", Namespace: "payments", Name: "robot"}, false},
		"one of the namespace of the binding":  {robot, rbacv1.Subject{Kind: "ServiceAccount", Name: "robot"}, false},
		"its name as a user's":                 {robot, rbacv1.Subject{Kind: "User", Name: robot.Username}, true},
		"all ServiceAccounts of its namespace": {robot, rbacv1.Subject{Kind: "Group", Name: "system:serviceaccounts:ci"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &Cluster{cache: spaces{bound: map[string]rbacv1.Subject{"payments": c.subject}}}
			got, err := cluster.candidates(t.Context(), c.id)
			if err != nil || got.Has("payments") != c.want {
				t.Errorf("%v, %v; want %v", got, err, c.want)
			}
		})
	}
}

// crowd returns a Cluster with many namespaces; the caller has bindings in one of them.
func crowd(t *testing.T, allow ...string) (*Cluster, *judge) {
	t.Helper()
	c, j := overseen(t, allow...)
	s := spaces{names: []string{"payments"}, bound: map[string]rbacv1.Subject{
		"payments": {Kind: "Group", Name: "oidc:a"},
	}}
	for i := range 200 {
		name := fmt.Sprintf("other-%03d", i)
		s.names, s.bound[name] = append(s.names, name), rbacv1.Subject{Kind: "Group", Name: "oidc:" + name}
	}
	c.cache = s
	return c, j
}

func TestATeamsNamespacesCostAFewReviewsAmongHundreds(t *testing.T) {
	c, j := crowd(t, "list s3buckets payments")
	names, err := c.Namespaces(t.Context(), dev)
	if err != nil || strings.Join(names, " ") != "payments" {
		t.Fatalf("%v, %v", names, err)
	}
	if n, most := j.count(), 2*len(c.kinds.Requestable()); n > most { // the whole cluster, and one namespace
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
		"the user":                           {dev, "portico-admin", rbacv1.Subject{Kind: "User", Name: "oidc:dev"}, true},
		"a group of the user":                {dev, "portico-admin", rbacv1.Subject{Kind: "Group", Name: "oidc:b"}, true},
		"everybody":                          {dev, "portico-viewer", rbacv1.Subject{Kind: "Group", Name: "system:authenticated"}, true},
		"everybody, to what all have anyway": {dev, "system:basic-user", rbacv1.Subject{Kind: "Group", Name: "system:authenticated"}, false},
		"somebody else":                      {dev, "portico-admin", rbacv1.Subject{Kind: "User", Name: "oidc:other"}, false},
		"the ServiceAccount":                 {robot, "portico-viewer", rbacv1.Subject{Kind: "ServiceAccount", Namespace: "ci", Name: "robot"}, true},
		"one that is named so elsewhere":     {robot, "portico-viewer", rbacv1.Subject{Kind: "ServiceAccount", Namespace: "payments", Name: "robot"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &Cluster{cache: spaces{
				wide: []rbacv1.ClusterRoleBinding{
					{RoleRef: rbacv1.RoleRef{Name: c.role}, Subjects: []rbacv1.Subject{c.subject}},
				},
			}}
			if got, err := cluster.worthAsking(t.Context(), c.id, Right{}); err != nil || got != c.want {
				t.Errorf("%v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestRightsInTheWholeClusterAreAskedForWhereABindingNamesTheCaller(t *testing.T) {
	c, j := overseen(t, "list s3buckets", "list s3buckets payments")
	clock := clocktesting.NewFakePassiveClock(time.Now())
	c.access.cache.clock, c.access.worth = clock, c.worthAsking
	bucket, _ := c.kinds.ByPlural("s3buckets")
	may := func() bool {
		ok, err := c.Can(t.Context(), dev, "list", bucket, "")
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if may() || j.count() != 0 {
		t.Errorf("without a binding, after %d reviews", j.count())
	}
	if ok, err := c.Can(t.Context(), dev, "list", bucket, "payments"); err != nil || !ok {
		t.Errorf("a right in a namespace needs none: %v, %v", ok, err)
	}
	here := c.cache.(spaces)
	here.wide = []rbacv1.ClusterRoleBinding{
		{RoleRef: rbacv1.RoleRef{Name: "any"}, Subjects: []rbacv1.Subject{{Kind: "Group", Name: "oidc:a"}}},
	}
	c.cache = here
	clock.SetTime(clock.Now().Add(wideTTL))
	if !may() || j.count() != 2 {
		t.Errorf("with a binding, after %d reviews", j.count())
	}
	here.failed = errors.New("no cache")
	c.cache = here
	queue, _ := c.kinds.ByPlural("sqsqueues")
	var unavailable *UnavailableError
	if ok, err := c.Can(t.Context(), dev, "list", queue, ""); ok || !errors.As(err, &unavailable) {
		t.Errorf("a cache that cannot be read is no no: %v, %v", ok, err)
	}
	c.askEverywhere = true
	if _, err := c.Can(t.Context(), dev, "list", queue, ""); err != nil || j.count() != 3 {
		t.Errorf("other ways to rights are not asked about: %d reviews, %v", j.count(), err)
	}
}

func TestABindingAloneShowsNothing(t *testing.T) {
	c, _ := crowd(t)
	if names, err := c.Namespaces(t.Context(), dev); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
}

func TestRightsByOtherMeansAreFoundByAskingEverywhere(t *testing.T) {
	c, j := crowd(t, "list s3buckets other-007")
	if names, err := c.Namespaces(t.Context(), dev); err != nil || len(names) > 0 {
		t.Fatalf("by bindings alone: %v, %v", names, err)
	}
	few := j.count()
	c.askEverywhere = true
	names, err := c.Namespaces(t.Context(), dev)
	if err != nil || !slices.Equal(names, []string{"other-007"}) || j.count() < few+200 {
		t.Errorf("%v, %v after %d reviews", names, err, j.count())
	}
}

func TestBindingsThatCannotBeReadAreNoLackOfNamespaces(t *testing.T) {
	c, _ := crowd(t, "list s3buckets payments")
	s := c.cache.(spaces)
	s.failed = errors.New("not synced")
	c.cache = s
	if names, err := c.Namespaces(t.Context(), dev); !isUnavailable(err) {
		t.Errorf("namespaces: %v, %v", names, err)
	}
	if o, err := c.Overview(t.Context(), dev); !isUnavailable(err) {
		t.Errorf("overview: %+v, %v", o, err)
	}
}
