package teams

import (
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/objects"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

func teamNamed(name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"status": map[string]any{
			"namespaces": []any{map[string]any{"name": name + "-dev"}, map[string]any{"name": name + "-prod"}},
		},
	}}
	obj.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindTeam))
	obj.SetName(name)
	return obj
}

// teamBinding returns the binding that Portico creates for the members of a Team.
func teamBinding(team, suffix string) rbacv1.ClusterRoleBinding {
	return rbacv1.ClusterRoleBinding{
		RoleRef: rbacv1.RoleRef{Name: v1alpha1.TeamRolePrefix + team + suffix}, Subjects: []rbacv1.Subject{{Kind: "Group", Name: "oidc:a"}},
	}
}

// teamed returns a Cluster with three Teams that allows callers what allow lists, as "verb team", or "verb" for all.
func teamed(t *testing.T, allow []string, bindings ...rbacv1.ClusterRoleBinding) (*Teams, *kubetest.Judge) {
	t.Helper()
	from := kubetest.NewFeed(t, &kubetest.Spaces{
		Objects: []*unstructured.Unstructured{teamNamed("search"), teamNamed("growth"), teamNamed("payments")},
		Wide:    bindings,
	})
	for _, name := range []string{"growth", "payments", "search"} {
		k, _ := from.Kinds.Now().ByName(v1alpha1.KindTeam)
		from.Handler(k.Plural).OnAdd(teamNamed(name), true)
	}
	j := kubetest.NewJudge()
	may := rights.New(rights.Options{Reviews: j.Reviews(), Feed: from, Clock: j.Clock})
	c := New(may, from, objects.New(may, from, nil))
	j.Allow = func(r authorizationv1.SubjectAccessReviewSpec) bool {
		at := r.ResourceAttributes
		return slices.Contains(allow, strings.TrimSpace(at.Verb+" "+at.Name))
	}
	return c, j
}

func TestMembersSeeTheirTeamAlone(t *testing.T) {
	admin := rbacv1.ClusterRoleBinding{RoleRef: rbacv1.RoleRef{Name: "portico-admin"}, Subjects: []rbacv1.Subject{
		{Kind: "Group", Name: "oidc:a"},
	}}
	for name, c := range map[string]struct {
		allow    []string
		bindings []rbacv1.ClusterRoleBinding
		want     string
		asked    int
	}{
		"an admin": {[]string{"list"}, []rbacv1.ClusterRoleBinding{admin}, "growth payments search", 1},
		"a member": {[]string{"get growth"}, []rbacv1.ClusterRoleBinding{teamBinding("growth", "")}, "growth", 1},
		"an owner of two": {
			[]string{"get growth", "get search"},
			[]rbacv1.ClusterRoleBinding{
				teamBinding("growth", ""), teamBinding("growth", ":owner"), teamBinding("search", ":owner"),
			},
			"growth search", 2,
		},
		"whom RBAC refuses":     {nil, []rbacv1.ClusterRoleBinding{teamBinding("growth", "")}, "", 1},
		"who is in no team":     {[]string{"get growth", "list"}, nil, "", 0},
		"a right to every team": {[]string{"get"}, []rbacv1.ClusterRoleBinding{teamBinding("growth", "")}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, j := teamed(t, c.allow, c.bindings...)
			all, err := cluster.Visible(t.Context(), kubetest.Dev)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, one := range all {
				names = append(names, one.GetName())
			}
			if got := strings.Join(names, " "); got != c.want || j.Count() != c.asked {
				t.Errorf("sees %q after %d reviews, want %q after %d", got, j.Count(), c.want, c.asked)
			}
		})
	}
}

func TestARightToOneTeamIsNoneToOthers(t *testing.T) {
	c, _ := teamed(t, []string{"patch growth"}, teamBinding("growth", ":owner"))
	k, _ := c.feed.Kinds.Now().ByName(v1alpha1.KindTeam)
	for name, want := range map[string]bool{"growth": true, "payments": false, "": false} {
		if got, err := c.rights.CanOne(t.Context(), kubetest.Dev, "patch", catalog.Ref{
			Kind: k,
			Name: name,
		}); err != nil || got != want {
			t.Errorf("may patch %q: %v, %v", name, got, err)
		}
	}
	if err := c.rights.RequireOne(t.Context(), kubetest.Dev, "delete", catalog.Ref{
		Kind: k,
		Name: "growth",
	}); err == nil {
		t.Error("the right to patch is taken for one to delete")
	}
	bucket, _ := c.feed.Kinds.Now().ByPlural("s3buckets")
	if got, err := c.rights.CanOne(t.Context(), kubetest.Dev, "patch",
		catalog.Ref{Kind: bucket, Namespace: "payments", Name: "growth"}); err != nil || got {
		t.Errorf("a bucket of that name: %v, %v", got, err)
	}
}

func TestNamespacesOfATeam(t *testing.T) {
	if got := strings.Join(NamespacesOf(teamNamed("growth")), " "); got != "growth-dev growth-prod" {
		t.Errorf("%q", got)
	}
	if got := NamespacesOf(&unstructured.Unstructured{Object: map[string]any{}}); got != nil {
		t.Errorf("of a new one: %q", got)
	}
}
