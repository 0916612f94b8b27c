package form

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
)

func TestAReviewSaysWhichRightsAreAddedAndTaken(t *testing.T) {
	k, ok := catalogtest.Kinds(t).ByName("WebApp")
	if !ok {
		t.Fatal("no kind WebApp")
	}
	of := func(bindings ...string) *unstructured.Unstructured {
		var all []any
		for _, b := range bindings {
			parts := strings.Split(b, " ")
			one := map[string]any{"kind": parts[0], "name": parts[1]}
			if len(parts) > 2 && parts[2] != "-" {
				one["access"] = parts[2]
			}
			if len(parts) > 3 {
				key, value, named := strings.Cut(parts[3], "=")
				if !named {
					key, value = "prefix", parts[3]
				}
				one[key] = value
			}
			all = append(all, one)
		}
		return &unstructured.Unstructured{
			Object: map[string]any{"spec": map[string]any{"image": "shop:1", "bindings": all}},
		}
	}
	const asks, noLonger = "In AWS its Pods get rights to the ", "In AWS its Pods lose rights to the "
	const again = "Pods that have their rights by EKS Pod Identity are replaced: their credentials hold the rights " +
		"of the time when they were created."
	const master, own = "The web app signs in to the database db as its master user, who can do everything in it. " +
		"With user: Own it gets a user of its own.", "The web app signs in to the database db as a user of its own, " +
		"which may "
	const dropped = "The web app's own user of the database db is dropped once no Pod uses it; tables that it has " +
		"made stay."
	for name, row := range map[string]struct {
		was, will *unstructured.Unstructured
		want      []string
		replaced  bool // the Pods are
	}{
		"a request": {
			nil, of("SQSQueue orders", "RDSInstance db"),
			[]string{
				asks + "message queue orders: receive and delete its messages.",
				asks + "message queue orders: send messages to it.", master,
			},
			false,
		},
		"more": {of("S3Bucket files Read"), of("S3Bucket files ReadWrite"), []string{asks + "bucket files: write and delete its objects.", again}, false},
		"less": {of("S3Bucket files"), of("S3Bucket files Read"), []string{noLonger + "bucket files: write and delete its objects.", again}, false},
		"the other": {
			of("SQSQueue orders Read"), of("SQSQueue orders Write"),
			[]string{asks + "message queue orders: send messages to it.", noLonger + "message queue orders: receive " +
				"and delete its messages.", again},
			false,
		},
		"the same, said":    {of("SQSQueue orders"), of("SQSQueue orders ReadWrite"), nil, false},
		"no binding":        {of("SNSTopic news"), of(), []string{noLonger + "topic news: publish to it."}, true},
		"another prefix":    {of("SQSQueue orders Read"), of("SQSQueue orders Read MAIL"), nil, true},
		"another database":  {of("RDSInstance other"), of("RDSInstance db"), []string{master}, true},
		"a user of its own": {of("RDSInstance db"), of("RDSInstance db - user=Own"), []string{own + "read and write rows, and make tables of its own."}, true},
		"fewer rights":      {of("RDSInstance db - user=Own"), of("RDSInstance db Read user=Own"), []string{own + "read."}, false},
		"the master user":   {of("RDSInstance db - user=Own"), of("RDSInstance db - user=Master"), []string{master, dropped}, true},
		"no database":       {of("RDSInstance db - user=Own"), of(), []string{dropped}, true},
	} {
		s := subject{kind: k, Facts: Facts{Kinds: catalogtest.Kinds(t)}}
		effects := s.accessEffects(nil, row.will)
		if row.was != nil {
			effects = s.effects(row.was, row.will)
		}
		var got []string
		replaced := false
		for _, e := range effects {
			if strings.Contains(e.Text, "The Pods are replaced") {
				replaced = true
				continue
			}
			got = append(got, e.Text)
		}
		if strings.Join(got, "\n") != strings.Join(row.want, "\n") || replaced != row.replaced {
			t.Errorf("%s: %q, Pods are replaced: %v", name, got, replaced)
		}
	}
}
