package pages

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/write"
)

// owning is the fake's state of Teams.
type owning struct {
	verbs map[string][]string // rights of non-admins, by the name of the Team
	taken []string            // existing namespaces of no team
	// defaults are those of every team.
	defaults v1alpha1.TeamDefaults
}

func (f *fakeCluster) Defaults(context.Context, auth.Identity, catalog.Kind, string) (v1alpha1.TeamDefaults, error) {
	return f.defaults, f.away()
}

func (f *fakeCluster) OwnUsers(_ context.Context, database *unstructured.Unstructured) (
	can bool, why string, err error,
) {
	if slices.Contains(f.ownUsers, database.GetName()) {
		return true, "", nil
	}
	return false, "Portico makes no users in it", nil
}

func (f *fakeCluster) FreeNamespace(_ context.Context, _ auth.Identity, _, namespace string) (bool, error) {
	return !slices.Contains(f.taken, namespace), f.away()
}

// Patch merges the patch into the spec of a Team.
func (f *fakeCluster) Patch(ctx context.Context, id auth.Identity, ref catalog.Ref, with map[string]any, etag string,
	_ bool,
) (write.Result, error) {
	if err := f.Rights.RequireOne(ctx, id, "patch", ref); err != nil {
		return write.Result{}, err
	}
	was, err := f.Objects.Get(ctx, id, ref)
	if err != nil {
		return write.Result{}, err
	}
	if etag != write.ETag(was) {
		return write.Result{}, &failure.ChangedError{Resource: ref.Kind.Plural, Name: ref.Name, Now: was}
	}
	out := was.DeepCopy()
	for key, value := range with["spec"].(map[string]any) {
		if err := unstructured.SetNestedField(out.Object, value, "spec", key); err != nil {
			return write.Result{}, err
		}
	}
	out.SetGeneration(was.GetGeneration() + 1)
	if f.judge != nil {
		if err := f.judge(out); err != nil {
			return write.Result{}, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[slices.IndexFunc(f.objects, func(o *unstructured.Unstructured) bool {
		return o.GetUID() == was.GetUID()
	})] = out
	return write.Result{Object: out}, nil
}

// growth is a Team with a namespace.
const growth = `
apiVersion: portico.dev/v1alpha1
kind: Team
metadata: {name: growth, generation: 2, creationTimestamp: "2026-11-20T09:00:00Z"}
spec:
  title: Growth and Marketing
  contact: growth@example.com
  namespaces: [{name: payments, environment: prod}]
  members:
  - {group: "oidc:team-growth", role: Developer}
  - {group: "oidc:leads", role: Owner}
  - {user: "oidc:payments-dev", role: Owner}
  providers: [{name: aws-prod, regions: [eu-west-1]}]
status:
  observedGeneration: 2
  members: 3
  resources: 2
  namespaces: [{name: payments, resources: 2}]
  conditions:
  - {type: Ready, status: "True", reason: Ready, message: the team has what it asks for, lastTransitionTime: "2026-11-20T09:00:09Z"}
  - {type: Namespaces, status: "True", reason: Done, message: payments, lastTransitionTime: "2026-11-20T09:00:05Z"}
  - {type: Access, status: "True", reason: Done, message: roles of 3 members given in payments, lastTransitionTime: "2026-11-20T09:00:06Z"}
`

// ownedSite returns a site whose namespace payments belongs to the Team growth, owned by the developer.
func ownedSite(tb testing.TB) *fakeCluster {
	tb.Helper()
	f := hostnameSite(tb)
	f.objects = append(f.objects, busySite(tb).objects...)
	f.objects = append(f.objects, object(tb, growth))
	f.Spaces.Quotas = platformSite(tb).Spaces.Quotas
	f.verbs = map[string][]string{"growth": {"get", "update", "patch"}}
	return f
}

// ownedWith returns a constructor of that site with a change.
func ownedWith(change func(*fakeCluster)) func(testing.TB) *fakeCluster {
	return func(tb testing.TB) *fakeCluster {
		tb.Helper()
		f := ownedSite(tb)
		change(f)
		return f
	}
}
