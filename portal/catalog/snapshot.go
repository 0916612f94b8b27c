package catalog

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/rds"
)

// EffectOn returns how a deletion protects the data of obj from loss, with the name of the final snapshot if there is
// one. Until the operator has reported the database's identifier in RDS, it describes how the name is formed.
func (k Kind) EffectOn(obj *unstructured.Unstructured) string {
	if !k.Has("finalSnapshotIdentifier") {
		return k.Deletion.Effect
	}
	chosen := TextAt(obj, "spec", "finalSnapshotIdentifier")
	identifier := cmp.Or(TextAt(obj, "status", "dbInstanceIdentifier"),
		strings.ToLower(TextAt(obj, "spec", "dbInstanceIdentifier")))
	name := rds.FinalSnapshotName(chosen, cmp.Or(identifier, "IDENTIFIER"), obj.GetUID())
	if chosen == "" && identifier == "" {
		name += ", where IDENTIFIER is the database's name in RDS"
	}
	return k.Deletion.Effect + " The snapshot's name is " + name + "."
}
