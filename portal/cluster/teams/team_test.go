package teams

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
)

func teamCluster(t *testing.T, err error, allow ...string) *Teams {
	t.Helper()
	j, a, _ := clustertest.NewRights()
	j.Allow = func(r authorizationv1.SubjectAccessReviewSpec) bool {
		at := r.ResourceAttributes
		return strings.Contains("|"+strings.Join(allow, "|")+"|",
			"|"+strings.TrimSpace(at.Verb+" "+at.Group+"/"+at.Resource+" "+at.Namespace)+"|")
	}
	c := &kubetest.Spaces{Failed: err}
	for text, into := range map[string]any{`
- {metadata: {name: team, namespace: payments}, spec: {hard: {count/s3buckets.portico.dev: 3, pods: "10"}}, status: {hard: {count/s3buckets.portico.dev: 2, pods: "10"}, used: {count/s3buckets.portico.dev: 3, pods: "4"}}}
- {metadata: {name: new, namespace: payments}, spec: {hard: {count/s3buckets.portico.dev: 5}}}
- {metadata: {name: team, namespace: search}, spec: {hard: {pods: "0"}}, status: {used: {pods: "0"}}}
`: &c.Quotas, `
- {metadata: {name: developers, namespace: payments}, roleRef: {kind: ClusterRole, name: portico-developer}, subjects: [{kind: Group, name: "oidc:team-payments"}, {kind: ServiceAccount, name: ci, namespace: payments}]}
- {metadata: {name: nobody, namespace: payments}, roleRef: {kind: Role, name: none}}
- {metadata: {name: lookers, namespace: search}, roleRef: {kind: ClusterRole, name: portico-viewer}, subjects: [{kind: User, name: "oidc:ann"}]}
`: &c.Bindings} {
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	return New(a, &feed.Feed{Cache: c}, nil)
}

func TestQuotasAreForThoseWhoMayListThem(t *testing.T) {
	const all = "count/s3buckets.portico.dev ? of 5, count/s3buckets.portico.dev 3 of 3 full, pods 4 of 10"
	for name, c := range map[string]struct{ allow, namespace, want string }{
		"in a namespace":            {"list /resourcequotas payments", "payments", all},
		"in every namespace":        {"list /resourcequotas", "", all + ", pods 0 of 0 full"},
		"nothing may be had":        {"list /resourcequotas search", "search", "pods 0 of 0 full"},
		"in another namespace":      {"list /resourcequotas payments", "search", "forbidden"},
		"in one, asked for all":     {"list /resourcequotas payments", "", "forbidden"},
		"there are none":            {"list /resourcequotas void", "void", ""},
		"of another group entirely": {"list x/resourcequotas payments", "payments", "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := teamCluster(t, nil, c.allow).Quotas(t.Context(), auth.Identity{Username: "ann"}, c.namespace)
			var words []string
			for _, q := range got {
				used, full := "?", ""
				if q.Known {
					used = q.Used.String()
				}
				if q.Full() {
					full = " full"
				}
				words = append(words, fmt.Sprintf("%s %s of %s%s", q.Of, used, q.Hard.String(), full))
			}
			if text := strings.Join(words, ", "); told(text, err) != c.want {
				t.Errorf("got %q (%v), want %q", text, err, c.want)
			}
		})
	}
}

func TestMembersAreForThoseWhoMayListRoleBindings(t *testing.T) {
	for name, c := range map[string]struct{ allow, namespace, want string }{
		"in a namespace":       {"list rbac.authorization.k8s.io/rolebindings payments", "payments", "Group oidc:team-payments portico-developer, ServiceAccount ci portico-developer"},
		"in another namespace": {"list rbac.authorization.k8s.io/rolebindings payments", "search", "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := teamCluster(t, nil, c.allow).Members(t.Context(), auth.Identity{Username: "ann"}, c.namespace)
			var words []string
			for _, m := range got {
				words = append(words, m.Kind+" "+m.Name+" "+m.Role)
			}
			if text := strings.Join(words, ", "); told(text, err) != c.want {
				t.Errorf("got %q (%v), want %q", text, err, c.want)
			}
		})
	}
}

func TestACacheThatFailsIsNoEmptyTeam(t *testing.T) {
	c := teamCluster(t, errors.New("not synced"), "list /resourcequotas payments",
		"list rbac.authorization.k8s.io/rolebindings payments")
	id := auth.Identity{Username: "ann"}
	if _, err := c.Quotas(t.Context(), id, "payments"); !kubetest.IsUnavailable(err) {
		t.Errorf("quotas: %v", err)
	}
	if _, err := c.Members(t.Context(), id, "payments"); !kubetest.IsUnavailable(err) {
		t.Errorf("members: %v", err)
	}
}

// told returns the text, or the error.
func told(text string, err error) string {
	if _, ok := errors.AsType[*failure.ForbiddenError](err); ok {
		return "forbidden"
	}
	if err != nil {
		return err.Error()
	}
	return text
}
