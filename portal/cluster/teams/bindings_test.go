package teams

import (
	"errors"
	"fmt"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/objects"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/overview"
)

// TestBindingsAreThoseOfKindsThatTheCallerMayList: and only those that the status publishes.
func TestBindingsAreThoseOfKindsThatTheCallerMayList(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	j, a, _ := clustertest.NewRights()
	may := map[string]bool{"s3buckets": true, "sqsqueues": true, "webapps": true}
	j.Allow = func(r authorizationv1.SubjectAccessReviewSpec) bool {
		return r.ResourceAttributes.Namespace == "payments" && r.ResourceAttributes.Verb == "list" &&
			may[r.ResourceAttributes.Resource]
	}
	from := &feed.Feed{Kinds: catalog.NewLive(kinds), Overview: overview.NewStore()}
	c := New(a, from, objects.New(a, from, nil))
	add := func(kind, namespace, name string, binding map[string]any) {
		k, _ := kinds.ByName(kind)
		obj := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"binding": binding}}}
		obj.SetNamespace(namespace)
		obj.SetName(name)
		c.feed.Overview.Put(k, obj)
	}
	add("S3Bucket", "payments", "logs", map[string]any{"name": "logs-s3", "keys": []any{"bucket", "region"}})
	add("S3Bucket", "search", "theirs", map[string]any{"name": "theirs-s3", "keys": []any{"bucket"}})
	add("SQSQueue", "payments", "jobs", nil)
	add("RDSInstance", "payments", "db", map[string]any{"name": "db-rds", "keys": []any{"password"}})
	for namespace, want := range map[string]string{"payments": "map[logs-s3:[bucket region]]", "search": "map[]"} {
		got, err := c.Bindings(t.Context(), kubetest.Dev, namespace)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v; want %s", namespace, got, err, want)
		}
	}
	j.Err = errors.New("down")
	for _, k := range kinds {
		a.Forget(kubetest.Dev, rights.To("list", k, "payments"))
	}
	if _, err := c.Bindings(t.Context(), kubetest.Dev, "payments"); err == nil {
		t.Error("an API server that does not answer is taken for none to choose from")
	}
}
