//go:build integration

package integration

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/test/stack"
)

// teams creates the Team of the namespace, and one without resources, which can be suspended and deleted. The members
// of both are the groups of the roles: the operator gives them their permissions.
func (m *matrix) teams() {
	m.t.Helper()
	name := m.ns + "-matrix" // the name that its Team will have
	edit(m.t, m.c, namespaceNamed(m.t, m.c, m.ns), func(ns *corev1.Namespace) { ns.Labels[v1alpha1.LabelTeam] = name })
	m.things[v1alpha1.KindTeam] = m.teamWith("matrix", m.ns)
	m.spare = m.teamWith("spare", m.ns+"-spare")
}

func (m *matrix) teamWith(name, namespace string) *v1alpha1.Team {
	m.t.Helper()
	made := m.object(v1alpha1.KindTeam, name, "{}").(*v1alpha1.Team)
	for _, role := range v1alpha1.TeamRoles {
		made.Spec.Members = append(made.Spec.Members, v1alpha1.TeamMember{
			Group: stack.Prefix + m.group(role), Role: role,
		})
	}
	made.Spec.Namespaces = []v1alpha1.TeamNamespace{{Name: namespace}}
	made.Spec.Providers = []v1alpha1.TeamProvider{{Name: stack.Provider}}
	made.Spec.Isolation = v1alpha1.TeamIsolation{Network: v1alpha1.NetworkOpen, PodSecurity: "Privileged"}
	m.t.Cleanup(func() { abandon(m.t, m.c, namespace) })
	createReady(m.t, m.c, made)
	return made
}

// group returns the group whose members have the role, as the identity provider names it.
func (m *matrix) group(role v1alpha1.TeamRole) string { return role.ClusterRole() + "-" + m.ns }

// withAnother returns the Team with one more member, and a patch with its members only.
func (m *matrix) withAnother() (whole, members map[string]any) {
	m.t.Helper()
	t := m.things[v1alpha1.KindTeam].DeepCopyObject().(*v1alpha1.Team)
	t.Spec.Members = append(slices.Clone(t.Spec.Members), v1alpha1.TeamMember{
		User: stack.Prefix + unique("matrix"), Role: v1alpha1.TeamViewer,
	})
	whole = m.plain(t)
	return whole, map[string]any{"spec": map[string]any{"members": nested(whole, "spec", "members")}}
}

// formOfTeam returns the form that a browser posts to a page about Teams.
func (m *matrix) formOfTeam(r row, obj client.Object) url.Values {
	m.t.Helper()
	switch r.route {
	case "/admin/teams/new":
		made := m.object(v1alpha1.KindTeam, unique("matrix"), "{}")
		m.t.Cleanup(func() { abandon(m.t, m.c, made.GetName()) })
		return url.Values{"yaml": {m.yaml(made)}, "do": {"create"}}
	case "/team/{name}/members":
		return url.Values{
			"etag": {m.etag(obj)}, "do": {"add"}, "kind": {"user"}, "name": {unique("matrix")},
			"role": {"Viewer"},
		}
	case "/team/{name}/deployers":
		return url.Values{
			"etag": {m.etag(obj)}, "do": {"add"}, "name": {fmt.Sprintf("d-%d", counter.Add(1))}, "issuer": {"github"},
			"repository": {"acme/shop"}, "repositoryID": {"74"}, "ownerID": {"65"}, "runs": {"branch"}, "ref": {"main"},
			"role": {"Developer"}, "namespaces": {m.ns},
		}
	case "/team/{name}/suspend":
		return url.Values{"etag": {m.etag(obj)}, "do": {"suspend"}}
	}
	return nil
}

// etag reads the object again and returns its etag.
func (m *matrix) etag(obj client.Object) string {
	m.t.Helper()
	if err := m.c.Get(m.t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		m.t.Fatal(err)
	}
	all, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		m.t.Fatal(err)
	}
	return write.ETag(&unstructured.Unstructured{Object: all})
}

// entitledTo waits until the members have their permissions on the Team.
func (m *matrix) entitledTo(team client.Object, all []actor) {
	m.t.Helper()
	_, members := m.withAnother()
	for _, a := range all {
		if !a.member {
			continue
		}
		await(m.t, "the rights of "+a.name+" on the Team", func() (bool, string) {
			got := m.portal.call(m.t, a.token, "GET", "/teams/"+team.GetName(), nil)
			if a.name == "owner" && got.status == http.StatusOK {
				got = m.portal.call(m.t, a.token, "PATCH", "/teams/"+team.GetName()+"?dryRun=All", members, "If-Match",
					"*", "Content-Type", "application/merge-patch+json")
			}
			return got.status == http.StatusOK, got.raw
		})
	}
}
