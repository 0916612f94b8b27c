package catalog_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
)

// The name of the final snapshot is shown before the database is deleted.
func TestTheFinalSnapshotIsNamedBefore(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	for name, row := range map[string]struct {
		kind         string
		spec, status map[string]any
		want         string
	}{
		"as RDS calls it":    {"RDSInstance", nil, map[string]any{"dbInstanceIdentifier": "payments-ledger-1a2b"}, "The snapshot's name is payments-ledger-1a2b-final-0f1e2d3c."},
		"before it is in it": {"RDSInstance", map[string]any{"dbInstanceIdentifier": "Ledger"}, nil, "The snapshot's name is ledger-final-0f1e2d3c."},
		"a chosen name": {
			"RDSInstance",
			map[string]any{"finalSnapshotIdentifier": "Farewell"},
			map[string]any{"dbInstanceIdentifier": "ledger"},
			"The snapshot's name is Farewell.",
		},
		"not known yet": {"RDSInstance", nil, nil, "The snapshot's name is IDENTIFIER-final-0f1e2d3c, where IDENTIFIER is the database's name in RDS."},
		"a bucket":      {"S3Bucket", nil, nil, "it is not deleted"},
	} {
		k, _ := kinds.ByName(row.kind)
		obj := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"uid": "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"}, "spec": row.spec,
			"status": row.status,
		}}
		got := k.EffectOn(obj)
		if !strings.Contains(got, row.want) || strings.Contains(got, "snapshot's name") != (row.kind == "RDSInstance") {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
