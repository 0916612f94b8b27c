package rest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/operator"
)

// Deleted returns what the test prepared, to callers who can list buckets.
func (f *fakeCluster) Deleted(ctx context.Context, id auth.Identity, namespace string) (operator.Deleted, error) {
	k, _ := f.Kinds.ByName("S3Bucket")
	return f.left, f.Rights.Require(ctx, id, "list", ref(k, namespace, ""))
}

func TestWhatIsLeftOfDeletedObjects(t *testing.T) {
	taken := time.Unix(0, 0).UTC()
	list := func(items ...operatorapi.Deleted) operator.Deleted {
		return operator.Deleted{Known: true, DeletedList: operatorapi.DeletedList{Items: items}}
	}
	f := newFake(t)
	f.denied = []string{"list theirs"}
	for name, c := range map[string]struct {
		left   operator.Deleted
		path   string
		status int
		body   string
	}{
		"nothing": {list(), "payments", 200, `{"items":[],"problems":[],"pending":false}`},
		"a snapshot": {
			list(operatorapi.Deleted{
				Kind: "RDSInstance", Name: "ledger", UID: "u", ID: "final", ARN: "arn", Facts: "postgres",
				Provider: "aws", Account: "1", Region: "eu-west-1", Snapshot: true, Taken: &taken,
				Choose: []string{"dbInstanceClass"}, Fields: map[string]string{"restoreFrom.snapshotIdentifier": "final"},
			}), "payments", 200,
			`{"items":[{"kind":"RDSInstance","name":"ledger","id":"final","arn":"arn","facts":"postgres","provider":"aws","account":"1","region":"eu-west-1","snapshot":true,` +
				`"taken":"1970-01-01T00:00:00Z","spec":{"restoreFrom.snapshotIdentifier":"final"},"choose":["dbInstanceClass"],"nameInUse":false}]`,
		},
		"a part":               {operator.Deleted{Known: true, DeletedList: operatorapi.DeletedList{Problems: []string{"denied"}}}, "payments", 200, `"problems":["denied"]`},
		"AWS takes its time":   {operator.Deleted{Known: true, DeletedList: operatorapi.DeletedList{Pending: true}}, "payments", 200, `"pending":true`},
		"the operator is away": {operator.Deleted{}, "payments", 503, "operator"},
		"no access":            {list(), "theirs", 403, "you are not allowed to list s3buckets in namespace theirs"},
		"no such namespace":    {list(), "A_b", 422, "there can be no such namespace"},
	} {
		f.left = c.left
		if w := f.call("GET", "/namespaces/"+c.path+"/deleted", ""); w.Code != c.status ||
			!strings.Contains(w.Body.String(), c.body) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}
